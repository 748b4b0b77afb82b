/**
 * Questions: what people and programs ask of a collection, by name. A collection has one partition or many, and in a cluster
 * they lie on several machines; so a question has two halves. `ask` looks at one partition, where it lies, and tells a
 * part: a plain record that JSON can carry. `merge` makes the answer of the parts, where the question was asked. Nothing
 * else crosses: no page id means anything outside its partition (numbers.ts), and pages are named by their URLs.
 *
 * A listing is a question whose answer may be longer than memory: rows in an order that all partitions share, read from
 * each as far as they are wanted (listing.ts).
 *
 * It reads only. collection.ts opens a collection and puts questions to it; catalogue.ts has all questions by name with
 * the schemas that records from other machines must pass.
 */
import type { PartitionReader } from './partition-reader.ts';

export interface Question<Args, Part, Answer> {
  /** Unique; names it between machines. */
  readonly name: string;
  /** URLs that it is about, where only the partitions that have them can tell; absent = all partitions are asked. */
  readonly about?: (args: Args) => readonly string[];
  /** `onProgress`: called now and then with how much was done, where somebody watches here. */
  ask(reader: PartitionReader, args: Args, onProgress?: (done: number, ended?: boolean) => void): Part | Promise<Part>;
  /** `parts` in the order of their partitions; there may be none where a peer does not answer. */
  merge(args: Args, parts: readonly Part[]): Answer;
}

export interface Listing<Args, Row> {
  readonly name: string;
  readonly about?: (args: Args) => readonly string[];
  /** From the beginning, or behind the row that `after` stands for. */
  rows(reader: PartitionReader, args: Args, after?: Row): Iterable<Row>;
  /** Below 0: `one` comes first. Absent, or undefined for these arguments = partition after partition. */
  readonly order?: (args: Args) => ((one: Row, two: Row) => number) | undefined;
}

/** What merging a sum of counts comes to. */
export function sumOf(figures: readonly number[]): number {
  return figures.reduce((total, each) => total + each, 0);
}

/** Lines with equal keys become one, by `add`, in the order in which keys first appear. */
export function mergedBy<T>(lines: readonly T[], keyOf: (line: T) => string, add: (one: T, two: T) => T): T[] {
  const merged = new Map<string, T>();
  for (const line of lines) {
    const before = merged.get(keyOf(line));
    merged.set(keyOf(line), before === undefined ? line : add(before, line));
  }
  return [...merged.values()];
}
