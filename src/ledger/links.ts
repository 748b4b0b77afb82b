/**
 * The link index: who links to whom, with anchor text. One packed row per page, because a page has a hundred links and
 * a row a link would cost more than the rest of the ledger together. Backward counts are kept beside it.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { ByteReader, ByteWriter } from '../errand/bytes.ts';
import type { Backward } from './backward.ts';

export interface OutLink {
  readonly target: number;
  readonly anchor: string;
  readonly nofollow: boolean;
}

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

export interface PackedLinks {
  readonly count: number;
  /** Page ids. */
  readonly targets: ArrayLike<number>;
  readonly flags: Uint8Array;
  /** Joined by newlines, UTF-8. */
  readonly anchors: Uint8Array;
}

function packLinks(links: PackedLinks): Uint8Array {
  const out = new ByteWriter(links.count * 4 + links.anchors.length + 16);
  out.varint(links.count);
  for (let i = 0; i < links.count; i++) out.varint(links.targets[i]!);
  out.bytes(links.flags);
  out.bytes(links.anchors);
  return out.finish();
}

function unpackLinks(bytes: Uint8Array): OutLink[] {
  const from = new ByteReader(bytes);
  const targets = Array.from({ length: from.count(1) }, () => from.varint());
  const flags = from.bytes();
  const anchors = Buffer.from(from.bytes()).toString().split('\n');
  return targets.map((target, i) => ({ target, anchor: anchors[i] ?? '', nofollow: (flags[i]! & 1) === 1 }));
}

export function eachTarget(bytes: Uint8Array, visit: (target: number) => void): void {
  const from = new ByteReader(bytes);
  for (let left = from.count(1); left > 0; left--) visit(from.varint());
}

function hasTarget(bytes: Uint8Array, wanted: number): boolean {
  const from = new ByteReader(bytes);
  for (let left = from.count(1); left > 0; left--) if (from.varint() === wanted) return true;
  return false;
}
