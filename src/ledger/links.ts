/**
 * The link index: who links to whom, with anchor text. One packed row per page, because a page has a hundred links and
 * a row a link would cost more than the rest of the ledger together. Backward counts are kept beside it.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Backward } from './backward.ts';
import {
  eachTarget,
  hasTarget,
  type OutLink,
  type PackedLinks,
  packLinks,
  unpackLinks,
  withImages,
} from './packed-links.ts';

export class LinkIndex {
  readonly #database: DatabaseSync;
  readonly #backward: Backward;
  readonly #put: StatementSync;
  readonly #get: StatementSync;

  constructor(database: DatabaseSync, backward: Backward) {
    this.#database = database;
    this.#backward = backward;
    this.#put = database.prepare('INSERT OR REPLACE INTO links VALUES (?, ?)');
    this.#get = database.prepare('SELECT targets FROM links WHERE page = ?');
  }

  /** Records the links of a page. `revisited`: it may have had others before, which no longer count. */
  put(page: number, links: PackedLinks, revisited: boolean): void {
    if (revisited) {
      const before = this.#get.get(page);
      if (before) eachTarget(before['targets'] as Uint8Array, target => this.#backward.add(target, -1));
    }
    for (let i = 0; i < links.count; i++) this.#backward.add(links.targets[i]!);
    this.#put.run(page, packLinks(links));
  }

  /** Adds images to the links of a page, as far as they are not among them. */
  addImages(page: number, images: ArrayLike<number>): void {
    const before = this.#get.get(page);
    if (!before) return;
    const { bytes, added } = withImages(before['targets'] as Uint8Array, images);
    for (const target of added) this.#backward.add(target);
    if (added.length > 0) this.#put.run(page, bytes);
  }

  out(page: number): OutLink[] {
    const row = this.#get.get(page);
    return row ? unpackLinks(row['targets'] as Uint8Array) : [];
  }

  /** Pages that link to `page`, found by reading every page's links: two seconds for a million pages. */
  in(page: number, most = Number.POSITIVE_INFINITY): { source: number; anchor: string; nofollow: boolean }[] {
    const found = [];
    for (const row of this.#database.prepare('SELECT page, targets FROM links').iterate()) {
      const targets = row['targets'] as Uint8Array;
      if (!hasTarget(targets, page)) continue;
      const link = unpackLinks(targets).find(each => each.target === page)!;
      found.push({ source: row['page'] as number, anchor: link.anchor, nofollow: link.nofollow });
      if (found.length >= most) break;
    }
    return found;
  }
}
