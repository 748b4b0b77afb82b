/**
 * Lists over several partitions, a part at a time: each partition is asked from where it was left, and the rows are taken
 * in the order that all of them share. Where each was left is what `next` says: a number with one partition, as it is
 * then; otherwise `p` and for each partition its number, nothing (not begun) or `x` (at its end).
 */
import { SkeinError } from '../base/errors.ts';
import type { ListingPart } from '../ledger/queries/listings.ts';
import type { ReadPartition } from './reader.ts';

export type ListCursor = number | string;

/** A row with the key that its list goes on behind. */
export interface Keyed<Row> {
  readonly key: number;
  readonly row: Row;
}

interface PagedPart<Row> {
  readonly rows: readonly Row[];
  readonly next: ListCursor | null;
}

interface Merging<Row> {
  readonly limit: number;
  /** Below 0: `one` comes first. */
  readonly compare: (one: Row, two: Row) => number;
}

interface Paging<Row> extends Merging<Row> {
  readonly parts: readonly ReadPartition[];
  /** `next` of the answer before; absent = from the beginning. */
  readonly after?: ListCursor | undefined;
  /** Rows of one partition behind `after`, `limit` at most; where there are fewer, `next` says whether more may follow. */
  readonly ask: (part: ReadPartition, after: number | undefined) => ListingPart<Keyed<Row>>;
}

export type ListPlace = number | 'end' | undefined;

/** What a partition that is at its end has. */
export const AT_ITS_END: ListingPart<never> = { rows: [], next: null };

interface PagedSource<Row> {
  place: ListPlace;
  readonly part: ListingPart<Keyed<Row>>;
  taken: number;
}

export function paged<Row>({ parts, after, ask, ...merging }: Paging<Row>): PagedPart<Row> {
  const places = placesOf(after, parts.length);
  const told = parts.map((part, i) => {
    const place = places[i];
    return place === 'end' ? AT_ITS_END : ask(part, place);
  });
  return mergedFrom(places, told, merging);
}

/** The next rows of a list, from what each partition has behind its place. */
export function mergedFrom<Row>(
  places: readonly ListPlace[],
  parts: readonly ListingPart<Keyed<Row>>[],
  { limit, compare }: Merging<Row>,
): PagedPart<Row> {
  const sources = parts.map((part, i): PagedSource<Row> => ({ place: places[i], part, taken: 0 }));
  const rows: Row[] = [];
  while (rows.length < limit) {
    const first = firstOf(sources, compare);
    if (!first) break;
    rows.push(first.part.rows[first.taken++]!.row);
  }
  return { rows, next: nextOf(sources.map(placeNow)) };
}

/** The source whose row comes next; undefined = none has any, or one that ran out may have an earlier one behind. */
function firstOf<Row>(
  sources: readonly PagedSource<Row>[],
  compare: Merging<Row>['compare'],
): PagedSource<Row> | undefined {
  let best: PagedSource<Row> | undefined;
  for (const source of sources) {
    const { part, taken } = source;
    if (taken === part.rows.length) {
      if (part.next !== null) return undefined;
    } else if (!best || compare(part.rows[taken]!.row, best.part.rows[best.taken]!.row) < 0) best = source;
  }
  return best;
}

function placeNow<Row>({ place, part: { rows, next }, taken }: PagedSource<Row>): ListPlace {
  if (taken === rows.length) return next ?? 'end';
  return taken === 0 ? place : rows[taken - 1]!.key;
}

function nextOf(places: readonly ListPlace[]): ListCursor | null {
  if (places.every(place => place === 'end')) return null;
  if (places.length === 1) return places[0] as number;
  return `p${places.map(place => (place === 'end' ? 'x' : (place ?? ''))).join(',')}`;
}

export function placesOf(after: ListCursor | undefined, count: number): ListPlace[] {
  if (after === undefined) return Array.from({ length: count });
  const texts = String(after).replace(/^p/, '').split(',');
  if (texts.length !== count)
    throw new SkeinError(
      'bad-option',
      'This place in the list belongs to another collection.',
      'Start from the beginning.',
    );
  return texts.map(text => (text === 'x' ? 'end' : text === '' ? undefined : Number(text)));
}
