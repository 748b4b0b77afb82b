/**
 * The collection as the workbench reads it: the ledgers of its partitions opened for reading beside the home that may be
 * writing them, stored copies, and the search index. Everything here is bounded: no question may cost more the larger the
 * collection is.
 *
 * Pages, visits and servers are told by numbers that have their partition in them (src/questions/numbers.ts).
 */
import { existsSync } from 'node:fs';
import { SkeinError } from '../base/errors.ts';
import { type LookedUpPage, lookUp, neverHeard, urlsMeant } from '../home/answers/lookup.ts';
import { type NotDue, notDue } from '../home/answers/savings.ts';
import { type Copies, openCopies } from '../home/copies/copies.ts';
import { searchFile } from '../home/indexing/indexing.ts';
import { isBegun, readCollection } from '../ledger/collection/collection.ts';
import { Ledger } from '../ledger/ledger.ts';
import { ELSEWHERE } from '../ledger/outbox/border.ts';
import type { VisitRow } from '../ledger/visits.ts';
import { type OpenCollection, openCollection } from '../questions/collection.ts';
import { localNumber, toldNumber } from '../questions/numbers.ts';
import type { PartitionReader } from '../questions/partition-reader.ts';
import { DayCounts } from './day-counts.ts';
import { WholeCollection } from './whole/whole.ts';

/** Pages that stand for all others in what was avoided by not asking, which is kept for fifty times as long as it took. */
const SAMPLED = 2000;
const LEAST_SAMPLED = 200;
const KEPT = 50;
/** Milliseconds for which what is being asked may go on over partitions that have left this disk. */
const FAREWELL = 10_000;

/** One partition with what the workbench keeps of it. */
export class ReadPartition {
  readonly reader: PartitionReader;
  readonly ledger: Ledger;
  readonly copies: Copies;
  readonly dayCounts: DayCounts;

  constructor(reader: PartitionReader) {
    this.reader = reader;
    this.ledger = reader.ledger;
    this.copies = reader.keep(copiesOf);
    this.dayCounts = new DayCounts(this.ledger);
  }

  get id(): number {
    return this.reader.id;
  }

  /** The number here of one that is told; 0 stands for none everywhere. */
  local(told: number): number {
    return told === 0 ? 0 : localNumber(told, this.reader.partitions).local;
  }

  /** The number of a page, visit or server for those who ask; 0 stands for none everywhere. */
  told(local: number): number {
    return local === 0 ? 0 : toldNumber(local, this.reader);
  }
}

const openReading = (directory: string): Ledger => new Ledger(directory, 'read');

const copiesOf = ({ ledger }: PartitionReader): Copies => openCopies(ledger);

/** A page, and the partition that it is in. */
export interface FoundHere extends LookedUpPage {
  readonly part: ReadPartition;
}

export class Reader {
  readonly directory: string;
  /** Of a `skein site` on this machine; there may be none. */
  readonly site: string;
  /** What other machines of a cluster have of the collection. */
  readonly whole: WholeCollection;
  #collection: OpenCollection;
  #parts: readonly ReadPartition[];
  #asked: { readonly ids: string; readonly collection: OpenCollection } | undefined;
  #notDue:
    | { readonly first: number; readonly until: number; readonly rows: readonly (NotDue & { partition: number })[] }
    | undefined;

  constructor(directory: string, site: string) {
    this.directory = directory;
    this.site = site;
    this.whole = new WholeCollection(directory);
    this.#collection = this.#open();
    this.#parts = this.#collection.here.map(reader => new ReadPartition(reader));
  }

  #open(): OpenCollection {
    return openCollection(this.directory, { openLedger: openReading, indexFed: true });
  }

  /** The collection to be asked: with what other machines have, where there are any. */
  async asked(): Promise<OpenCollection> {
    const others = await this.whole.others();
    if (!others) return this.#collection;
    const found = readCollection(this.directory);
    const here = found.here.filter(place => isBegun(place) && others.isHere(place.id));
    const ids = here.map(({ id }) => id).join();
    const before = this.#asked;
    if (before?.ids === ids) return before.collection;
    if (before) setTimeout(() => before.collection.close(), FAREWELL).unref();
    // Its line to the others stays open for the next question.
    const elsewhere = { ask: others.elsewhere.ask.bind(others.elsewhere) };
    const parts = { openLedger: openReading, indexFed: true, elsewhere };
    const collection = openCollection(this.directory, parts, { ...found, partitions: others.partitions, here });
    this.#asked = { ids, collection };
    return collection;
  }

  /** Those on this disk, in order. */
  get parts(): readonly ReadPartition[] {
    return this.#parts;
  }

  /** Partitions begin while a crawl runs, and in a cluster they come and go. */
  follow(): void {
    if (this.#collection.partitions === 1) return;
    const here = readCollection(this.directory).here.filter(isBegun);
    if (here.map(({ id }) => id).join() === this.#parts.map(({ id }) => id).join()) return;
    const before = this.#collection;
    this.#collection = this.#open();
    this.#parts = this.#collection.here.map(reader => new ReadPartition(reader));
    this.#notDue = undefined;
    setTimeout(() => before.close(), FAREWELL).unref();
  }

  /** Whether anything was indexed yet. */
  get indexed(): boolean {
    return this.#parts.some(({ reader }) => existsSync(searchFile(reader.directory)));
  }

  /** What was avoided by not asking, from the day `first` on, in all partitions on this disk or these. */
  notDue(first: number, parts: readonly ReadPartition[] = this.#parts): readonly NotDue[] {
    const now = performance.now();
    let kept = this.#notDue;
    if (!kept || kept.first > first || now >= kept.until) {
      const most = Math.max(LEAST_SAMPLED, Math.ceil(SAMPLED / this.#parts.length));
      const rows = this.#parts.flatMap(part =>
        notDue(part.ledger, first, most).map(row => ({
          ...{ ...row, server: part.told(row.server), partition: part.id },
        })),
      );
      this.#notDue = kept = { first, until: now + KEPT * (performance.now() - now), rows };
    }
    const asked = new Set(parts.map(({ id }) => id));
    return kept.rows.filter(({ day, partition }) => day >= first && asked.has(partition));
  }

  /** The partition of a told number, and the number there; undefined = there is none. */
  placeOf(told: number): { readonly part: ReadPartition; readonly local: number } | undefined {
    const place = this.#collection.placeOf(told);
    const part = place && this.#parts.find(({ id }) => id === place.reader.id);
    return part && { part, local: place.local };
  }

  page(told: number): FoundHere {
    const place = this.placeOf(told);
    const page = place?.part.ledger.pages.get(place.local);
    if (!place || !page || page.refused === ELSEWHERE) throw new SkeinError('not-found', 'There is no such page.');
    return { part: place.part, page, known: place.part.ledger.pages.known(place.local) };
  }

  /** The page that a person names. */
  find(text: string): FoundHere {
    const urls = urlsMeant(text);
    const found = this.lookUp(urls);
    if (found) return found;
    throw neverHeard(urls[0]!);
  }

  /** The first of these pages that there is; undefined = none, or not on this disk. */
  lookUp(urls: readonly string[]): FoundHere | undefined {
    for (const url of urls) {
      const owner = this.#collection.ownerOf(url);
      const part = owner && this.#parts.find(({ id }) => id === owner.id);
      const found = part && lookUp(part.ledger, [url]);
      if (found && found.page.refused !== ELSEWHERE) return { part, ...found };
    }
    return undefined;
  }

  /**
   * A page that another one of `part` speaks of, where it really is: of pages of other partitions `part` has only a stub.
   * `id` is 0 where that partition is not on this disk; undefined = there is no such page, or it was forgotten.
   */
  linked(part: ReadPartition, local: number): { readonly id: number; readonly url: string } | undefined {
    const row = local === 0 ? undefined : part.ledger.pages.get(local);
    if (!row || row.refused === 'forgotten') return undefined;
    if (row.refused !== ELSEWHERE) return { id: part.told(row.id), url: row.url };
    const there = this.lookUp([row.url]);
    return { id: there ? there.part.told(there.page.id) : 0, url: row.url };
  }

  visit(told: number): { readonly part: ReadPartition; readonly visit: VisitRow } {
    const place = this.placeOf(told);
    const visit = place?.part.ledger.visits.get(place.local);
    if (!place || !visit) throw new SkeinError('not-found', 'There is no such visit.');
    return { part: place.part, visit };
  }

  close(): void {
    void this.whole.close();
    this.#asked?.collection.close();
    this.#collection.close();
  }
}
