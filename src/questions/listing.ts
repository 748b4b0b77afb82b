/** Merges the rows of several partitions into one list, in their common order; each is read only as far as rows are taken. */
import type { PartitionReader } from './partition-reader.ts';
import type { Listing } from './question.ts';

/** Rows that are passed on together, also to another machine in one answer. */
export const AT_ONCE = 500;

/** Rows of one partition that go to another machine in one answer. */
export interface Slice<Row> {
  readonly rows: readonly Row[];
  readonly more: boolean;
}

/** Asks another machine for the rows after the last one that it gave. */
export interface SliceArgs<Args, Row> {
  readonly args: Args;
  readonly after?: Row | undefined;
}

export function sliceOf<Args, Row>(
  listing: Listing<Args, Row>,
  reader: PartitionReader,
  { args, after }: SliceArgs<Args, Row>,
): Slice<Row> {
  const rows: Row[] = [];
  for (const row of listing.rows(reader, args, after)) {
    if (rows.length === AT_ONCE) return { rows, more: true };
    rows.push(row);
  }
  return { rows, more: false };
}

/** Some rows at a time, because waiting for each costs more than reading it. */
export type Rows<Row> = Iterator<readonly Row[]> | AsyncIterator<readonly Row[]>;

export function* inSlices<Row>(rows: Iterable<Row>): Generator<readonly Row[]> {
  let slice: Row[] = [];
  for (const row of rows) {
    slice.push(row);
    if (slice.length < AT_ONCE) continue;
    yield slice;
    slice = [];
  }
  if (slice.length > 0) yield slice;
}

interface ListHead<Row> {
  readonly source: Rows<Row>;
  rows: readonly Row[];
  at: number;
}

/** All rows, in the order of `compare`; without it, list after list. */
export async function* merged<Row>(
  sources: readonly Rows<Row>[],
  compare?: (one: Row, two: Row) => number,
): AsyncGenerator<readonly Row[]> {
  if (!compare || sources.length === 1) {
    for (const source of sources)
      for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
    return;
  }
  // All at once: each one on another machine takes a while.
  const firsts = await Promise.all(sources.map(source => source.next()));
  const heads: ListHead<Row>[] = firsts.flatMap((first, i) =>
    first.done ? [] : [{ source: sources[i]!, rows: first.value, at: 0 }],
  );
  let taken: Row[] = [];
  while (heads.length > 0) {
    const head = heads.reduce((best, each) => (compare(each.rows[each.at]!, best.rows[best.at]!) < 0 ? each : best));
    if (taken.push(head.rows[head.at++]!) === AT_ONCE) {
      yield taken;
      taken = [];
    }
    if (head.at < head.rows.length) continue;
    const next = await head.source.next();
    if (next.done) heads.splice(heads.indexOf(head), 1);
    else [head.rows, head.at] = [next.value, 0];
  }
  if (taken.length > 0) yield taken;
}
