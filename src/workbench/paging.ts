/**
 * Lists over several partitions, a part at a time: each partition is asked from where it was left, and the rows are taken
 * in the order that all of them share. Where each was left is what `next` says: a number with one partition, as it is
 * then; otherwise `p` and for each partition its number, nothing (not begun) or `x` (at its end).
 */
import { SkeinError } from '../base/errors.ts';
import type { ListingPart } from '../ledger/listings.ts';
import type { ReadPartition } from './reader.ts';

export type ListCursor = number | string;

/** A row with the key that its list goes on behind. */
export interface Keyed<Row> {
  readonly key: number;
  readonly row: Row;
}

export interface PagedPart<Row> {
  readonly rows: readonly Row[];
  readonly next: ListCursor | null;
}

interface Paging<Row> {
  readonly parts: readonly ReadPartition[];
  /** `next` of the answer before; absent = from the beginning. */
  readonly after?: ListCursor | undefined;
  readonly limit: number;
  /** Rows of one partition behind `after`, `limit` at most; where there are fewer, `next` says whether more may follow. */
  readonly ask: (part: ReadPartition, after: number | undefined) => ListingPart<Keyed<Row>>;
  /** Below 0: `one` comes first. */
  readonly compare: (one: Row, two: Row) => number;
}

type PagePlace = number | 'end' | undefined;

interface PartSource<Row> {
  place: PagePlace;
  readonly part: ListingPart<Keyed<Row>>;
  taken: number;
}

export function paged<Row>({ parts, after, limit, ask, compare }: Paging<Row>): PagedPart<Row> {
  const places = placesOf(after, parts.length);
  const sources = parts.map((part, i): PartSource<Row> => {
    const place = places[i];
    return { place, part: place === 'end' ? { rows: [], next: null } : ask(part, place), taken: 0 };
  });
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
  sources: readonly PartSource<Row>[],
  compare: Paging<Row>['compare'],
): PartSource<Row> | undefined {
  let best: PartSource<Row> | undefined;
  for (const source of sources) {
    const { part, taken } = source;
    if (taken === part.rows.length) {
      if (part.next !== null) return undefined;
    } else if (!best || compare(part.rows[taken]!.row, best.part.rows[best.taken]!.row) < 0) best = source;
  }
  return best;
}

function placeNow<Row>({ place, part: { rows, next }, taken }: PartSource<Row>): PagePlace {
  if (taken === rows.length) return next ?? 'end';
  return taken === 0 ? place : rows[taken - 1]!.key;
}

function nextOf(places: readonly PagePlace[]): ListCursor | null {
  if (places.every(place => place === 'end')) return null;
  if (places.length === 1) return places[0] as number;
  return `p${places.map(place => (place === 'end' ? 'x' : (place ?? ''))).join(',')}`;
}

function placesOf(after: ListCursor | undefined, count: number): PagePlace[] {
  if (after === undefined) return Array.from({ length: count });
  const texts = String(after).replace(/^p/, '').split(',');
  if (texts.length !== count)
    throw new SkeinError('bad-option', 'That place in the list is of another collection.', 'Ask from the beginning.');
  return texts.map(text => (text === 'x' ? 'end' : text === '' ? undefined : Number(text)));
}
