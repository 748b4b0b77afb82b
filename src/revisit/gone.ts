/**
 * Pages that are not there any more. A 404 may be a slip: the copy stays and the page is asked for again after 1, 3 and
 * 9 days before it becomes a tombstone; a 410 is the server's word that it is gone. A tombstone is asked for once per
 * longest interval, and revived by any answer with a page or by a notice. None of this touches the change rate: that a
 * page is missing says nothing of how often it changes.
 */
export type Missing = 'http-404' | 'soft-404' | 'http-410';

interface GoneVerdict {
  readonly tombstone: boolean;
  /** Days until it is asked for again. */
  readonly after: number;
}

/** Days before each further look at a page that answered 404. */
export const RECHECKS: readonly number[] = [1, 3, 9];

/** `misses`: how often in a row it was missing before this time. */
export function whenMissing(reason: Missing, misses: number, maxInterval: number): GoneVerdict {
  const recheck = reason === 'http-410' ? undefined : RECHECKS[misses];
  return recheck === undefined ? { tombstone: true, after: maxInterval } : { tombstone: false, after: recheck };
}
