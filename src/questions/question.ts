/**
 * Questions: what people and programs ask of a collection, by name. A collection has one partition or many, and in a cluster
 * they lie on several machines; so a question has two halves. `ask` reads one partition, on the machine that has it, and
 * returns a part: a plain record that JSON can carry. `merge` makes the answer from the parts, where the question was asked.
 * Nothing else crosses: no page id means anything outside its partition (numbers.ts), and pages are named by their URLs.
 *
 * A listing is a question whose answer may be longer than memory: rows in an order that all partitions share, read from each as
 * far as they are wanted (listing.ts).
 *
 * It reads only. collection.ts opens a collection and puts questions to it; catalogue.ts has all questions by name with the
 * schemas that records from other machines must pass.
 */
import type { PartitionReader } from './partition-reader.ts';

export interface Question<Args, Part, Answer> {
  /** Unique; names it between machines. */
  readonly name: string;
  /** URLs that it is about: only the partitions that have them are asked; absent = all partitions are. */
  readonly about?: (args: Args) => readonly string[];
  /** `onProgress` is called now and then with how much is done, on this machine only. */
  ask(reader: PartitionReader, args: Args, onProgress?: (done: number, ended?: boolean) => void): Part | Promise<Part>;
  /** `parts` in the order of their partitions; there may be none where a peer does not answer. */
  merge(args: Args, parts: readonly Part[]): Answer;
}

export interface Listing<Args, Row> {
  readonly name: string;
  readonly about?: (args: Args) => readonly string[];
  /** Rows from the beginning, or after the row `after`. */
  rows(reader: PartitionReader, args: Args, after?: Row): Iterable<Row>;
  /** Below 0: `one` comes first. Absent, or undefined for these arguments = partition after partition. */
  readonly order?: (args: Args) => ((one: Row, two: Row) => number) | undefined;
}

/** Adds up counts. */
export function sumOf(figures: readonly number[]): number {
  return figures.reduce((total, each) => total + each, 0);
}

/** Joins lines with equal keys by `add`, in the order in which the keys first appear. */
export function mergedBy<T>(lines: readonly T[], keyOf: (line: T) => string, add: (one: T, two: T) => T): T[] {
  const merged = new Map<string, T>();
  for (const line of lines) {
    const before = merged.get(keyOf(line));
    merged.set(keyOf(line), before === undefined ? line : add(before, line));
  }
  return [...merged.values()];
}
