/**
 * An open collection, to which questions are put. Partitions on this disk answer here. `PartElsewhere` asks for the others:
 * those of the other peers of a cluster. A peer that does not answer is named in the result, never silently left out.
 */
import { SkeinError } from '../base/errors.ts';
import { MOST_PARTITIONS, partitionOfUrl } from '../base/partition.ts';
import { type Collection, isBegun, readCollection } from '../ledger/collection/collection.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { inSlices, merged, type Rows, type Slice, type SliceArgs } from './listing.ts';
import { localNumber } from './numbers.ts';
import { PartitionReader } from './partition-reader.ts';
import type { Listing, Question } from './question.ts';

/** What other machines told of their partitions. */
export interface ToldElsewhere {
  /** One for each partition, in any order, checked against the schema of the question. */
  readonly parts: readonly { readonly partition: number; readonly part: unknown }[];
  /** Peers that did not answer. */
  readonly silent: readonly string[];
  /** Partitions that are between two peers, and did not arrive in time. */
  readonly unheld?: readonly number[];
}

/** The way to partitions that are not on this disk. */
export interface PartElsewhere {
  ask(name: string, args: unknown, partitions: readonly number[]): Promise<ToldElsewhere>;
  /** Bytes of partitions in a format of `skein export`, as a peer writes them; returns how many pages or copies. */
  export?(asked: ExportAsked): AsyncGenerator<Uint8Array, number>;
  close?(): Promise<void>;
}

/** What other machines are asked to write out. */
export interface ExportAsked {
  readonly format: string;
  /** Which pages or copies: plain values, as `skein export` takes them. */
  readonly choice: object;
  readonly partitions: readonly number[];
}

interface CollectionOptions {
  readonly openLedger: (directory: string) => Ledger;
  readonly elsewhere?: PartElsewhere | undefined;
  /** A sentence for people: why the other machines cannot be asked. */
  readonly alone?: string | undefined;
  /** Another process feeds the indexes, so a search does not wait for them. */
  readonly indexFed?: boolean;
}

export class OpenCollection implements AsyncDisposable {
  readonly directory: string;
  /** Fixed when it was made. */
  readonly partitions: number;
  readonly #readers: ReadonlyMap<number, PartitionReader>;
  readonly #elsewhere: PartElsewhere | undefined;
  readonly #silent = new Set<string>();
  readonly #unheld = new Set<number>();
  readonly #alone: string;
  #ended: Promise<void> | undefined;

  constructor({ directory, partitions, here }: Collection, options: CollectionOptions) {
    const { openLedger, elsewhere, alone, indexFed = false } = options;
    this.directory = directory;
    this.partitions = partitions;
    this.#elsewhere = elsewhere;
    this.#alone = alone ?? '';
    const begun = here.filter(place => partitions === 1 || isBegun(place));
    const reader = (id: number, at: string) =>
      new PartitionReader({ id, partitions, directory: at, collection: directory, openLedger, indexFed });
    this.#readers = new Map(begun.map(place => [place.id, reader(place.id, place.directory)]));
  }

  /** Partitions on this disk, in order. */
  get here(): readonly PartitionReader[] {
    return [...this.#readers.values()];
  }

  /** The partition that has a URL; undefined = it is not on this disk. */
  ownerOf(url: string): PartitionReader | undefined {
    return this.#readers.get(partitionOfUrl(url, this.partitions));
  }

  /** Finds a page, visit or server by its public number; undefined = not on this disk. */
  placeOf(told: number): { readonly reader: PartitionReader; readonly local: number } | undefined {
    const { local, partition } = localNumber(told, this.partitions);
    const reader = this.#readers.get(partition);
    return reader && { reader, local };
  }

  /** Peers that did not answer a question so far. */
  get silent(): readonly string[] {
    return [...this.#silent].sort();
  }

  /** A sentence for people: what the answer lacks; empty = it is complete. */
  get incomplete(): string {
    return [this.#alone, whatIsMissing(this.silent, this.#unheld)].filter(sentence => sentence !== '').join(' ');
  }

  async ask<Args, Part, Answer>(
    question: Question<Args, Part, Answer>,
    args: Args,
    onProgress?: (done: number, ended?: boolean) => void,
  ): Promise<Answer> {
    const asked = this.#concerned(question.about?.(args));
    const parts = new Map<number, Part>();
    const away: number[] = [];
    for (const id of asked) {
      const reader = this.#readers.get(id);
      if (reader) parts.set(id, await question.ask(reader, args, onProgress));
      else if (this.#elsewhere) away.push(id);
    }
    if (away.length > 0) {
      const told = await this.#askAway(question.name, args, away);
      for (const { partition, part } of told.parts) parts.set(partition, part as Part);
    }
    const order = [...parts.keys()].sort((a, b) => a - b);
    const inOrder = order.map(id => parts.get(id)!);
    try {
      return question.merge(args, inOrder);
    } catch (error) {
      // A page is not unknown while a peer that may know it is silent.
      if (parts.size === asked.length || this.incomplete === '') throw error;
      throw new SkeinError('incomplete', this.incomplete, 'See: skein peers.');
    }
  }

  async #askAway(name: string, args: unknown, partitions: readonly number[]): Promise<ToldElsewhere> {
    const told = await this.#elsewhere!.ask(name, args, partitions);
    for (const peer of told.silent) this.#silent.add(peer);
    for (const partition of told.unheld ?? []) this.#unheld.add(partition);
    return told;
  }

  /** Exports what is not on this disk from those who have it; undefined = all of it is here. */
  get exportAway(): ((format: string, choice: object) => AsyncGenerator<Uint8Array, number>) | undefined {
    const elsewhere = this.#elsewhere;
    if (!elsewhere?.export) return undefined;
    const partitions = this.#concerned(undefined).filter(id => !this.#readers.has(id));
    return (format, choice) => elsewhere.export!({ format, choice, partitions });
  }

  /** Rows of all partitions, some at a time, read only as they are taken. */
  list<Args, Row>(listing: Listing<Args, Row>, args: Args): AsyncGenerator<readonly Row[]> {
    const sources = this.#concerned(listing.about?.(args)).flatMap((id): Rows<Row>[] => {
      const reader = this.#readers.get(id);
      if (reader) return [inSlices(listing.rows(reader, args))];
      return this.#elsewhere ? [this.#away(listing, args, id)] : [];
    });
    return merged(sources, listing.order?.(args));
  }

  /** The first `most` rows of a listing. */
  async some<Args, Row>(listing: Listing<Args, Row>, args: Args, most: number): Promise<Row[]> {
    const found: Row[] = [];
    for await (const rows of this.list(listing, args)) {
      for (const row of rows) if (found.length < most) found.push(row);
      if (found.length >= most) break;
    }
    return found;
  }

  async *#away<Args, Row>({ name }: Listing<Args, Row>, args: Args, partition: number): AsyncGenerator<readonly Row[]> {
    for (let after: Row | undefined; ; ) {
      const told = await this.#askAway(name, { args, after } satisfies SliceArgs<Args, Row>, [partition]);
      const slice = told.parts[0]?.part as Slice<Row> | undefined;
      if (!slice || slice.rows.length === 0) return;
      yield slice.rows;
      const last = slice.rows.at(-1);
      // A peer that repeats its last row would never end.
      if (!slice.more || JSON.stringify(last) === JSON.stringify(after)) return;
      after = last;
    }
  }

  /** Partitions that can know these URLs; all of them where no URL is named. */
  #concerned(urls: readonly string[] | undefined): readonly number[] {
    if (urls) return [...new Set(urls.map(url => partitionOfUrl(url, this.partitions)))];
    if (!this.#elsewhere) return [...this.#readers.keys()];
    return Array.from({ length: Math.min(this.partitions, MOST_PARTITIONS) }, (_, id) => id);
  }

  /** May be called again; the line to other machines ends by itself a moment later. */
  close(): void {
    for (const reader of this.#readers.values()) reader.close();
    this.#ended ??= this.#elsewhere?.close?.().catch(() => {}); // saying goodbye is all that it still does
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
    await this.#ended;
  }
}

/** Opens the collection in a directory; throws where none was begun. `found`: how the cluster describes it. */
export function openCollection(
  directory: string,
  options: CollectionOptions,
  found: Collection = readCollection(directory),
): OpenCollection {
  const collection = new OpenCollection(found, options);
  if (collection.here.length === 0 && !options.elsewhere) {
    throw new SkeinError(
      'not-found',
      `There is no collection in ${directory}.`,
      'Collect one with "skein crawl URL", or name another directory with --data.',
    );
  }
  try {
    collection.here[0]?.ledger; // a missing ledger is an error at once, whatever is asked
    return collection;
  } catch (error) {
    collection.close();
    throw error;
  }
}

/** For people: who did not answer, and which partitions nobody has at the moment; empty = nothing is missing. */
export function whatIsMissing(silent: readonly string[], unheld: Iterable<number>): string {
  const sentences: string[] = [];
  if (silent.length > 0) {
    const [who, verb] = silent.length === 1 ? ['peer', 'does'] : ['peers', 'do'];
    const what = silent.length === 1 ? 'it has' : 'they have';
    sentences.push(`The ${who} ${silent.join(', ')} ${verb} not answer: what ${what} is missing here.`);
  }
  const ids = [...unheld].sort((a, b) => a - b);
  if (ids.length > 0) {
    const [what, verb] = ids.length === 1 ? ['Partition', 'is'] : ['Partitions', 'are'];
    sentences.push(`${what} ${ids.join(', ')} ${verb} on the way from one peer to another, and missing here.`);
  }
  return sentences.join(' ');
}
