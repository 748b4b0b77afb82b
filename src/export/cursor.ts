/** Where a reader of what changed stands: everything up to a visit is told, and every page that was forgotten up to a number. */

import { DAY } from '../base/clock.ts';
import { SkeinError } from '../base/errors.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** How far one partition is read. */
export interface ReadUpTo {
  readonly visit: number;
  /** Of that visit; by it another collection is told from this one. */
  readonly time: number;
  /** Number of the last page that was forgotten. */
  readonly forgotten: number;
}

const NOTHING: ReadUpTo = { visit: 0, time: 0, forgotten: 0 };
const HINT = 'Start again with --after 0, and discard earlier output.';
/** One partition's cursor: visit, time, and the forgotten where there are any. */
const CURSOR = /^(\d{1,15})-(\d{1,16})(?:-(\d{1,15}))?$/;
/** Visits arrive nearly in the order of their times; those of other machines may come this much later. */
const OUT_OF_ORDER = DAY;

export function newestIn({ visits, storage }: Ledger): ReadUpTo {
  const last = visits.newest();
  return last === 0 ? NOTHING : { visit: last, time: visits.get(last)!.time, forgotten: storage.forgetting.newest() };
}

export function cursorAt({ visit, time, forgotten }: ReadUpTo): string {
  return visit + forgotten === 0 ? '0' : `${visit}-${time}${forgotten === 0 ? '' : `-${forgotten}`}`;
}

export function readUpTo(cursor: string, ledger: Ledger): ReadUpTo {
  if (cursor === '0') return NOTHING;
  const [visit, time, forgotten = 0] = (CURSOR.exec(cursor) ?? [])
    .slice(1)
    .filter(part => part !== undefined)
    .map(Number);
  if (visit === undefined || time === undefined)
    throw new SkeinError('bad-option', `"${cursor}" is not a cursor.`, HINT);
  if ((visit > 0 && !isOf(ledger, visit, time)) || forgotten > ledger.storage.forgetting.newest())
    throw new SkeinError('bad-option', `The cursor ${cursor} belongs to another collection.`, HINT);
  return { visit, time, forgotten };
}

/** Looks that left nothing are deleted after some time: then the visits around it say whether it was one of them. */
function isOf({ visits, storage }: Ledger, visit: number, time: number): boolean {
  const exact = visits.get(visit);
  if (exact) return exact.time === time;
  const { before = 0, after } = storage.versions.timesAround(visit);
  return after !== undefined && time <= after + OUT_OF_ORDER && time >= before - OUT_OF_ORDER;
}

/**
 * For a reader that has some of what came between two cursors and begins again at the first: where it had nothing, it is told
 * of pages that were forgotten since.
 */
export function againAfter(after: string, upTo: string, partitions: number): string {
  const [starts, ends] = [cursorsIn(after, partitions), cursorsIn(upTo, partitions)];
  const again = [...ends].map(([partition, end]): [number, string] => {
    const start = starts.get(partition) ?? '0';
    const forgotten = Number(CURSOR.exec(end)?.[3] ?? 0);
    return [partition, start === '0' ? `0-0-${forgotten}` : start];
  });
  return cursorOf(new Map(again), partitions);
}

/** Where a reader stands in each partition, by number; those that are not named are at their beginning. */
type Cursors = ReadonlyMap<number, string>;

/**
 * Of a collection with one partition a cursor is that partition's; of one with several it has all of them:
 * `0@812-1773500000000,3@17-1773500000512`.
 */
export function cursorsIn(text: string, partitions: number): Cursors {
  if (partitions === 1) return new Map([[0, text]]);
  if (text === '0') return new Map();
  return new Map(
    text.split(',').map((part): [number, string] => {
      const [, partition, cursor = ''] = /^(\d{1,4})@(.*)$/.exec(part) ?? [];
      if (CURSOR.test(cursor) && Number(partition) < partitions) return [Number(partition), cursor];
      throw new SkeinError('bad-option', `"${part}" is not a cursor of this collection.`, HINT);
    }),
  );
}

export function cursorOf(cursors: Cursors, partitions: number): string {
  if (partitions === 1) return cursors.get(0) ?? '0';
  const begun = [...cursors].filter(([, cursor]) => cursor !== '0').sort(([a], [b]) => a - b);
  return begun.map(([partition, cursor]) => `${partition}@${cursor}`).join(',') || '0';
}
