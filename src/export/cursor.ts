/** Where a reader of what changed stands: everything up to a visit is told. */
import { SkeinError } from '../base/errors.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** A visit, and its time, by which another collection is told from this one. */
export function cursorAt(visit: number, ledger: Ledger): string {
  return visit === 0 ? '0' : `${visit}-${ledger.visits.get(visit)!.time}`;
}

export function visitOf(cursor: string, ledger: Ledger): number {
  if (cursor === '0') return 0;
  const [visit, time] = /^(\d{1,15})-(\d{1,16})$/.exec(cursor)?.slice(1).map(Number) ?? [];
  const hint = 'Begin with --after 0, and put what you have away.';
  if (visit === undefined) throw new SkeinError('bad-option', `"${cursor}" is not a cursor.`, hint);
  if (ledger.visits.get(visit)?.time !== time)
    throw new SkeinError('bad-option', `The cursor ${cursor} is of another collection.`, hint);
  return visit;
}
