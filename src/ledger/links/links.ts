/**
 * The link index: who links to whom, with anchor text. One packed row per page, because a page has a hundred links and
 * a row a link would cost more than the rest of the ledger together. Backward counts are kept beside it, and so are the
 * pages to which no link led: seeds, and those that a site named itself.
 */

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { lent } from '../../base/borrowed.ts';
import { FLAG_SHOWN } from '../pages/known-row.ts';
import { Backward } from './backward.ts';
import { HiddenPages } from './hidden.ts';
import {
  eachTarget,
  type OutLink,
  type PackedLinks,
  packedWithImages,
  packLinks,
  traceOf,
  unpackLinks,
} from './packed-links.ts';
import { Seeds } from './seeds.ts';

interface InLink {
  readonly source: number;
  readonly anchor: string;
  readonly nofollow: boolean;
}

export class LinkIndex {
  readonly #database: DatabaseSync;
  /** How many known pages link to each page. */
  readonly backward: Backward;
  readonly hidden: HiddenPages;
  readonly seeds: Seeds;
  readonly #put: StatementSync;
  readonly #get: StatementSync;
  readonly #in: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.backward = new Backward(database);
    this.hidden = new HiddenPages(database);
    this.seeds = new Seeds(database);
    this.#put = database.prepare('INSERT OR REPLACE INTO links VALUES (?, ?)');
    this.#get = database.prepare('SELECT targets FROM links WHERE page = ?');
    this.#in = database.prepare(
      'SELECT page, targets FROM links WHERE page > ? AND page <= ? AND instr(targets, ?) > 0 ORDER BY page',
    );
  }

  /** Records the links of a page. `revisited`: it may have had others before, which no longer count. */
  put(page: number, links: PackedLinks, revisited: boolean): void {
    if (revisited) {
      const before = this.#get.get(page);
      if (before) eachTarget(before['targets'] as Uint8Array, target => this.backward.add(target, -1));
    }
    this.backward.addAll(links.targets, links.count);
    this.#put.run(page, lent(packLinks(links)));
  }

  /** The images of a page are known: they are added to its links, as far as they are not among them. */
  addImages(page: number, images: ArrayLike<number>): void {
    this.#database.prepare(`UPDATE known SET flags = flags | ${FLAG_SHOWN} WHERE page = ?`).run(page);
    const before = this.#get.get(page);
    if (!before) return;
    const { bytes, added } = packedWithImages(before['targets'] as Uint8Array, images);
    for (const target of added) this.backward.add(target);
    if (added.length > 0) this.#put.run(page, bytes);
  }

  /** Pages that a sitemap names, and named before: these are no links, and make no page more important. */
  list(sitemap: number, targets: Uint32Array): readonly number[] {
    const before = this.#database.prepare('SELECT targets FROM listed WHERE page = ?').get(sitemap)?.['targets'];
    const bytes = new Uint8Array(targets.length * 4);
    const view = new DataView(bytes.buffer);
    targets.forEach((target, i) => {
      view.setUint32(i * 4, target, true);
    });
    this.#database.prepare('INSERT OR REPLACE INTO listed VALUES (?, ?)').run(sitemap, bytes);
    const old = (before as Uint8Array | undefined) ?? new Uint8Array(0);
    const read = new DataView(old.buffer, old.byteOffset, old.byteLength);
    return Array.from({ length: Math.floor(old.byteLength / 4) }, (_, i) => read.getUint32(i * 4, true));
  }

  out(page: number): OutLink[] {
    const row = this.#get.get(page);
    return row ? unpackLinks(row['targets'] as Uint8Array) : [];
  }

  /**
   * Pages that link to `page`, found by reading the links of all pages, or of those after `after` up to `upTo`: half a
   * second of processor for a million. SQLite looks for the bytes of the id; only what has them is unpacked.
   */
  in(page: number, { after = 0, upTo = Number.MAX_SAFE_INTEGER, most = Number.MAX_SAFE_INTEGER } = {}): InLink[] {
    const found: InLink[] = [];
    const rows = this.#in.iterate(after, upTo, traceOf(page));
    for (const row of rows) {
      const link = unpackLinks(row['targets'] as Uint8Array).find(each => each.target === page);
      if (link === undefined) continue; // the bytes are part of something else
      found.push({ source: row['page'] as number, anchor: link.anchor, nofollow: link.nofollow });
      if (found.length >= most) break;
    }
    return found;
  }

  /** The last page whose links are known; 0 = there is none. */
  last(): number {
    return (this.#database.prepare('SELECT max(page) AS last FROM links').get()!['last'] as number | null) ?? 0;
  }
}
