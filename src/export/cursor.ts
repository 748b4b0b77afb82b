/** Where a reader of what changed stands: everything up to a visit is told. */
import { SkeinError } from '../base/errors.ts';
import type { Ledger } from '../ledger/ledger.ts';

const HINT = 'Begin with --after 0, and put what you have away.';

/** A visit, and its time, by which another collection is told from this one. */
export function cursorAt(visit: number, ledger: Ledger): string {
  return visit === 0 ? '0' : `${visit}-${ledger.visits.get(visit)!.time}`;
}

export function visitOf(cursor: string, ledger: Ledger): number {
  if (cursor === '0') return 0;
  const [visit, time] = /^(\d{1,15})-(\d{1,16})$/.exec(cursor)?.slice(1).map(Number) ?? [];
  if (visit === undefined) throw new SkeinError('bad-option', `"${cursor}" is not a cursor.`, HINT);
  if (ledger.visits.get(visit)?.time !== time)
    throw new SkeinError('bad-option', `The cursor ${cursor} is of another collection.`, HINT);
  return visit;
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
      const [, partition, cursor] = /^(\d{1,4})@(\d{1,15}-\d{1,16})$/.exec(part) ?? [];
      if (partition !== undefined && Number(partition) < partitions) return [Number(partition), cursor!];
      throw new SkeinError('bad-option', `"${part}" is not a cursor of this collection.`, HINT);
    }),
  );
}

export function cursorOf(cursors: Cursors, partitions: number): string {
  if (partitions === 1) return cursors.get(0) ?? '0';
  const begun = [...cursors].filter(([, cursor]) => cursor !== '0').sort(([a], [b]) => a - b);
  return begun.map(([partition, cursor]) => `${partition}@${cursor}`).join(',') || '0';
}
