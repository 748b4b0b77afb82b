/** Time that a test moves, for a collection, its threads and a test web alike. */
import { shiftedClock } from '../base/clock.ts';
import { SkeinError } from '../base/errors.ts';

export interface TestClock {
  /** Milliseconds since 1970. It goes on by itself as the system's clock does. */
  now(): number;
  /** Lets so many milliseconds pass at once, for everybody who has this clock. Nobody who sleeps wakes earlier by it. */
  advance(ms: number): void;
  /** What the threads of a collection read: milliseconds that were added, one Float64. */
  readonly shift: SharedArrayBuffer;
}

export function testClock(): TestClock {
  const shift = new SharedArrayBuffer(8);
  const added = new Float64Array(shift);
  const { now } = shiftedClock(shift);
  return {
    now,
    shift,
    advance(ms) {
      if (!(ms >= 0 && ms < Number.POSITIVE_INFINITY))
        throw new SkeinError('bad-option', 'A test clock goes forward alone.', 'Give milliseconds, such as 2 * DAY.');
      added[0]! += ms;
    },
  };
}
