/**
 * What both ends of a line remember of a server's pages, so that an errand need not say it again. After an errand each
 * end works out by itself what home now knows of the pages it named or brought; the next errand names them by their
 * places and sends only what turned out otherwise. A root hash of the whole table goes along: ends that disagree (a disk
 * was lost, a process killed) notice before anything is visited, and start with an empty table.
 *
 * Invariant: the table changes only when an errand ends, and in the same way whichever of two errands ends first.
 */
import { hash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { SkeinError } from '../../base/errors.ts';
import { PRIVATE, replaceFile } from '../../base/file.ts';
import { ByteReader, ByteWriter } from '../../errand/codec/bytes.ts';
import { encodeErrand, readKnown, writeKnown } from '../../errand/codec/errand-codec.ts';
import type { Errand } from '../../errand/errand.ts';
import type { Known } from '../../errand/known.ts';
import type { Visit } from '../../errand/visit.ts';

/** Pages of one server that are remembered; more travel in full. */
const MOST_PAGES = 200_000;
const VERSION = 1;
/** Entity tags of one content that home keeps. */
const MOST_TAGS = 3;
const MOST_TAG_LENGTH = 200;

/** What home knows of a page after a visit. Where it decides otherwise the next errand says so, at the price of a line. */
export function nextKnown(known: Known, visit: PageLesson): Known {
  const { url, role, depth, hops } = known;
  const facts = visit.facts ?? known.facts;
  const etag = tagsAfter(known, visit);
  const lastModified = visit.lastModified ?? (visit.status === 304 ? known.lastModified : undefined);
  return {
    ...{ url, role, depth, hops },
    tries: visit.outcome === 'failed' || visit.outcome === 'gone' ? known.tries + 1 : 0,
    ...(etag && { etag }),
    ...(lastModified && { lastModified }),
    ...(facts && { facts }),
  };
}

function tagsAfter(known: Known, visit: PageLesson): string | undefined {
  if (visit.etag === undefined) return visit.status === 304 ? known.etag : undefined;
  if (visit.outcome !== 'same' || !known.etag) return visit.etag;
  const older = known.etag.split(', ').filter(tag => tag !== visit.etag);
  const all = [visit.etag, ...older].slice(0, MOST_TAGS).join(', ');
  return all.length > MOST_TAG_LENGTH ? visit.etag : all;
}

/** The pages of one server. A page's place is that of its URL among all, so that the order of errands does not matter. */
export class PageTable {
  readonly #entries = new Map<string, Buffer>();
  /** URLs in order, and their places; made when they are needed. */
  #order: string[] | undefined;
  #places = new Map<string, number>();
  #root = 0n;
  #terms: Uint8Array = new Uint8Array(0);

  /** All zeros = nothing is remembered. */
  get root(): Buffer {
    const bytes = Buffer.alloc(8);
    const terms = this.#terms.length === 0 ? 0n : hash('sha256', this.#terms, 'buffer').readBigUInt64LE();
    bytes.writeBigUInt64LE(BigInt.asUintN(64, this.#root + terms));
    return bytes;
  }

  /** What the last errand said besides its pages: the next one says nearly the same. */
  get terms(): Uint8Array {
    return this.#terms;
  }

  /** Of two errands both ends keep the same, whichever ended first. */
  offerTerms(bytes: Uint8Array): void {
    if (Buffer.compare(bytes, this.#terms) > 0) this.#terms = bytes;
  }

  get(url: string): Known | undefined {
    const bytes = this.#entries.get(url);
    return bytes && readKnown(new ByteReader(bytes));
  }

  put(known: Known): void {
    const before = this.#entries.get(known.url);
    if (!before && this.#entries.size >= MOST_PAGES) return;
    const bytes = encoded(known);
    this.#entries.set(known.url, bytes);
    if (!before) this.#order = undefined;
    this.#root = BigInt.asUintN(64, this.#root - (before ? printOf(before) : 0n) + printOf(bytes));
  }

  /** Those that the other end knows, by their places; then the others. */
  sort(pages: readonly Known[]): Known[] {
    this.#arrange();
    const place = ({ url }: Known) => this.#places.get(url) ?? Number.MAX_SAFE_INTEGER;
    return pages.toSorted((a, b) => place(a) - place(b));
  }

  #arrange(): string[] {
    if (!this.#order) {
      this.#order = [...this.#entries.keys()].sort();
      this.#places = new Map(this.#order.map((url, place) => [url, place]));
    }
    return this.#order;
  }

  write(out: ByteWriter, pages: readonly Known[]): void {
    this.#arrange();
    out.varint(pages.length);
    for (let i = 0; i < pages.length; ) {
      const start = this.#placeOf(pages[i]!);
      if (start < 0) {
        out.varint(0);
        writeKnown(out, pages[i++]!);
        continue;
      }
      let length = 1;
      while (i + length < pages.length && this.#placeOf(pages[i + length]!) === start + length) length++;
      out.varint(length);
      out.varint(start);
      i += length;
    }
  }

  read(from: ByteReader): Known[] {
    const wanted = from.varint();
    if (wanted > MOST_PAGES) throw new SkeinError('bad-frame', 'An errand has too many pages.');
    const order = this.#arrange();
    const pages: Known[] = [];
    while (pages.length < wanted) {
      const length = from.varint();
      if (length === 0) {
        pages.push(readKnown(from));
        continue;
      }
      const start = from.varint();
      if (length > wanted - pages.length || start + length > order.length) throw unknownPages();
      for (let i = start; i < start + length; i++) pages.push(this.get(order[i]!)!);
    }
    return pages;
  }

  /** Where the page stands, as it is; -1 = nowhere. */
  #placeOf(known: Known): number {
    return this.#entries.get(known.url)?.equals(encoded(known)) ? this.#places.get(known.url)! : -1;
  }

  save(): Uint8Array {
    const out = new ByteWriter(1 << 16);
    out.byte(VERSION);
    out.bytes(this.#terms);
    out.varint(this.#entries.size);
    for (const bytes of this.#entries.values()) out.bytes(bytes);
    return out.finish();
  }

  static load(bytes: Uint8Array): PageTable {
    const table = new PageTable();
    const from = new ByteReader(bytes);
    if (from.byte() !== VERSION) return table;
    table.offerTerms(from.bytes());
    for (let left = from.count(1); left > 0; left--) table.put(readKnown(new ByteReader(from.bytes())));
    return table;
  }
}

/** Everything that an errand says besides its pages. */
export function withoutPages(errand: Errand): Errand {
  const { seen, ...rest } = errand;
  return { ...rest, pages: [] };
}

function encoded(known: Known): Buffer {
  const out = new ByteWriter(512);
  writeKnown(out, known);
  return Buffer.from(out.finish());
}

function printOf(bytes: Buffer): bigint {
  return hash('sha256', bytes, 'buffer').readBigUInt64LE();
}

/** What an outpost answers when its table is another than home's; home then starts anew. */
export const UNKNOWN_PAGES = 'It remembers other pages of this server than home thinks.';

export function unknownPages(): SkeinError {
  return new SkeinError('not-found', UNKNOWN_PAGES);
}

interface PendingServer {
  readonly origin: string;
  readonly terms: Uint8Array;
  readonly pages: Map<string, Known>;
}

/** What of a visit bears on what is known of its page. */
export type PageLesson = Pick<
  Visit,
  'url' | 'depth' | 'outcome' | 'status' | 'etag' | 'lastModified' | 'facts' | 'cost'
>;

/** The tables of all servers, at one end of one line, and the errands that will change them. */
export class PageTables {
  readonly #directory: string;
  readonly #tables = new Map<string, PageTable>();
  readonly #dirty = new Set<string>();
  readonly #pending = new Map<string, PendingServer>();
  #saving: NodeJS.Timeout | undefined;

  constructor(directory: string) {
    this.#directory = directory;
    fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
  }

  of(origin: string): PageTable {
    let table = this.#tables.get(origin);
    if (!table) {
      table = this.#load(origin);
      this.#tables.set(origin, table);
    }
    return table;
  }

  begin(errand: Errand): void {
    const { id, server, pages } = errand;
    const terms = encodeErrand(withoutPages(errand));
    this.#pending.set(id, { origin: server.origin, terms, pages: new Map(pages.map(known => [known.url, known])) });
  }

  /** Visits of the errand, in order. Those that never come here make the tables differ, which the next errand mends. */
  learn(errand: string, visits: Iterable<PageLesson>): void {
    const pending = this.#pending.get(errand);
    if (!pending) return;
    for (const visit of visits) {
      const { url, depth } = visit;
      const before = pending.pages.get(url) ?? { url, role: 'page' as const, depth, hops: 0, tries: 0 };
      if (visit.cost.cause !== 'sitemap') pending.pages.set(url, nextKnown(before, visit));
    }
  }

  end(errand: string): void {
    const pending = this.#pending.get(errand);
    if (!pending) return;
    this.#pending.delete(errand);
    const table = this.of(pending.origin);
    for (const known of pending.pages.values()) table.put(known);
    table.offerTerms(pending.terms);
    this.#touch(pending.origin);
  }

  reset(origin: string): void {
    this.#tables.set(origin, new PageTable());
    this.#touch(origin);
  }

  save(): void {
    clearTimeout(this.#saving);
    this.#saving = undefined;
    for (const origin of this.#dirty) {
      const file = this.#file(origin);
      try {
        replaceFile(file, this.of(origin).save(), PRIVATE);
      } catch {
        // A full disk: the other end will notice the difference, and everything is said once more.
      }
    }
    this.#dirty.clear();
  }

  /** Not at once: many errands end together, and what a crash loses is only said again. */
  #touch(origin: string): void {
    this.#dirty.add(origin);
    this.#saving ??= setTimeout(() => this.save(), 1000).unref();
  }

  #load(origin: string): PageTable {
    try {
      return PageTable.load(fs.readFileSync(this.#file(origin)));
    } catch {
      return new PageTable(); // none yet, or torn: the root hash tells the other end
    }
  }

  #file(origin: string): string {
    return join(this.#directory, hash('sha256', origin).slice(0, 32));
  }
}
