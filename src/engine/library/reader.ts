/** Pages of a collection as a program reads them: what a visit found at once, what is larger when it is asked for. */
import type { Stored } from '../../archive/read.ts';
import type { Outcome } from '../../errand/visit.ts';
import type { Chunk } from '../../extract/chunks.ts';
import type { Content } from '../../extract/extract.ts';
import type { FieldsFile, RowOf } from '../../extract/fields.ts';
import type { ChangesWanted, FoundChange } from '../../home/answers/changes.ts';
import { type Copies, openCopies } from '../../home/copies/copies.ts';
import { textOf } from '../../home/copies/copy-text.ts';
import { differenceOf, type PageDifference, pageOf } from '../../home/copies/difference.ts';
import type { NamedVisit } from '../../ledger/visits.ts';
import type { OpenCollection } from '../../questions/collection.ts';
import { toldNumber } from '../../questions/numbers.ts';
import { ownPage } from '../../questions/page/page.ts';
import type { PartitionReader } from '../../questions/partition-reader.ts';
import { changesListing } from '../../questions/whole/changes.ts';
import { askCollection } from '../open-collection.ts';
import { ownError } from './own-words.ts';

/** Visits that are read at once. */
const SLICE = 64;

export interface PageLink {
  readonly url: string;
  /** What the link says. */
  readonly text: string;
  readonly nofollow: boolean;
}

/** One look at one page. Good until the collection is closed. */
export interface CrawledPage {
  /** Number of the visit: later ones of the same server are larger. */
  readonly visit: number;
  readonly url: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly outcome: Outcome;
  /** Why it ended so: a word of the table of reasons. */
  readonly reason: string;
  /** Of the answer; 0 = there was none. */
  readonly status: number;
  readonly title: string | undefined;
  /** Media type. */
  readonly type: string | undefined;
  /** Links between it and its seed. */
  readonly depth: number;
  /** Bytes on the wire, both ways. */
  readonly bytes: number;
  /** What a hook took from it at this look (`data`); undefined = nothing. */
  data<T = unknown>(): T | undefined;
  /** Body as it was stored, decoded; undefined = no copy is stored. */
  body(): Promise<Uint8Array | undefined>;
  /** The same as text in Unicode. */
  html(): Promise<string | undefined>;
  /** Its main content, without what a template adds. */
  text(): Promise<string | undefined>;
  markdown(): Promise<string | undefined>;
  /** The same in pieces by heading, each with an id that stays and a hash of what it says. */
  chunks(): Promise<Chunk[]>;
  /** What this look found different from the version before, in words, links and images; undefined = nothing, or no version before. */
  diff(): Promise<PageDifference | undefined>;
  /** The fields that a schema names: one row for the page, or one for each of its parts. */
  extract<const File extends FieldsFile>(schema: File): Promise<RowOf<File>[]>;
  /** Where it leads, as the last look at it found. */
  links(): PageLink[];
}

/** Stored copies of a partition, opened once and closed with it. */
const copiesOf = ({ ledger }: PartitionReader): Copies => openCopies(ledger);

/** Hands out visits as they are committed, each once. */
interface VisitFollower {
  /** Everything up to now was there before. */
  begin(): void;
  /** The next visits, as far as they are committed; `last`: number of the last one that was handed out or was there before. */
  next(last: number): CrawledPage[];
}

export class CollectionReader {
  readonly #directory: string;
  #open: OpenCollection | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Throws where there is no collection yet. */
  get collection(): OpenCollection {
    try {
      this.#open ??= askCollection(this.#directory);
      return this.#open;
    } catch (error) {
      throw ownError(error);
    }
  }

  /** Of several partitions each has its own place: their visits have no common order. */
  follow(): VisitFollower {
    const places = new Map<number, number>();
    return {
      begin: () => {
        for (const { id, partitions, ledger } of this.collection.here)
          if (partitions > 1) places.set(id, ledger.visits.newest());
      },
      next: last =>
        this.collection.here.flatMap(reader => {
          const after = reader.partitions === 1 ? last : (places.get(reader.id) ?? 0);
          const rows = reader.ledger.visits.after(after, SLICE);
          places.set(reader.id, rows.at(-1)?.id ?? after);
          return rows.map(row => this.#pageOf(row, reader));
        }),
    };
  }

  /** As the last look at it was. */
  page(url: string): CrawledPage | undefined {
    const reader = this.collection.ownerOf(url);
    if (!reader) return undefined;
    const { ledger } = reader;
    const page = ownPage(ledger, [url])?.page;
    const last = page && ledger.visits.of(page.id).at(-1);
    const row = last && ledger.visits.after(last.id - 1, 1)[0];
    return row?.page === page?.id && row ? this.#pageOf(row, reader) : undefined;
  }

  /** Newest first. */
  changes(wanted: ChangesWanted): FoundChange[] {
    const all = this.collection.here.map(reader => [...changesListing.rows(reader, wanted)]);
    if (all.length === 1) return all[0]!;
    return all
      .flat()
      .sort((one, two) => two.time - one.time)
      .slice(0, wanted.limit);
  }

  #pageOf(row: NamedVisit, reader: PartitionReader): CrawledPage {
    const { id, page, url, time, outcome, reason, status, depth } = row;
    const html = async () => {
      const stored = await copyOf(row, reader);
      return stored && textOf(stored);
    };
    // Loaded by the first who asks: what reads a page's content is a quarter of the library, and takes as long to load.
    const content = async <T>(read: (found: Content) => T) => {
      const text = await html();
      if (text === undefined) return undefined;
      const { contentOf } = await import('../../extract/extract.ts');
      return read(contentOf(text, url));
    };
    return {
      ...{ visit: toldNumber(id, reader), url, time, outcome, reason, status, depth },
      title: row.title ?? undefined,
      type: row.type ?? undefined,
      bytes: row.up + row.down,
      data: <T>() => {
        const json = reader.ledger.visits.found.of(id);
        return json === undefined ? undefined : (JSON.parse(json) as T);
      },
      body: async () => (await copyOf(row, reader))?.decoded().bytes,
      html,
      text: () => content(found => found.text()),
      markdown: () => content(found => found.markdown()),
      chunks: async () => (await content(found => found.chunks())) ?? [],
      diff: () => diffOf(row, reader),
      async extract<File extends FieldsFile>(schema: File) {
        const { extract, fieldsIn } = await import('../../extract/extract.ts');
        fieldsIn(schema); // what is wrong with it is told whatever the page is
        const text = await html();
        return text === undefined ? [] : (extract(text, url, schema) as RowOf<File>[]);
      },
      links: () => linksOf(page, reader),
    };
  }

  close(): void {
    this.#open?.close();
    this.#open = undefined;
  }
}

/** What the visit stored; where it found nothing new, the newest copy that there is. */
async function copyOf(row: NamedVisit, reader: PartitionReader): Promise<Stored | undefined> {
  const copies = reader.keep(copiesOf);
  if (row.segment !== null) return await copies.of(row);
  const known = row.outcome === 'same' ? reader.ledger.pages.known(row.page) : undefined;
  return known && (await copies.newest(known));
}

/** Of the version that the visit stored and the one before. */
async function diffOf(row: NamedVisit, reader: PartitionReader): Promise<PageDifference | undefined> {
  if (row.segment === null) return undefined;
  const copies = reader.keep(copiesOf);
  const versions = reader.ledger.visits.of(row.page).filter(({ id, segment }) => segment !== null && id <= row.id);
  const [before, after] = await Promise.all(versions.slice(-2).map(version => copies.of(version)));
  return before && after && differenceOf(pageOf(before), pageOf(after));
}

function linksOf(page: number, { ledger: { pages, links } }: PartitionReader): PageLink[] {
  const found = links.out(page).filter(({ target }) => target !== 0);
  return found.map(({ target, anchor, nofollow }) => ({ url: pages.get(target)?.url ?? '', text: anchor, nofollow }));
}
