/** A clock that stands still until a test moves it. Sleepers wake in the order of their times, never early. */
import type { Clock } from '../../src/base/clock.ts';

export interface MovableClock extends Clock {
  /** Moves time forward, waking each sleeper at its own moment. */
  advance(ms: number): Promise<void>;
  /** Sleepers that wait, so that a test can tell when the code under test has gone to sleep. */
  readonly sleeping: number;
}

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** Monday 2 March 2026, noon UTC: far from any change of day, month or daylight saving. */
export const START = Date.UTC(2026, 2, 2, 12);

export function movableClock(start: number = START): MovableClock {
  let now = start;
  let sleepers: Sleeper[] = [];
  return {
    now: () => now,
    ticks: () => now,
    get sleeping() {
      return sleepers.length;
    },
    sleep: (ms, signal) =>
      new Promise(resolve => {
        if (signal?.aborted || ms <= 0) return resolve();
        const wake = () => {
          sleepers = sleepers.filter(other => other !== sleeper);
          signal?.removeEventListener('abort', wake);
          resolve();
        };
        const sleeper: Sleeper = { at: now + ms, wake };
        sleepers.push(sleeper);
        signal?.addEventListener('abort', wake, { once: true });
      }),
    async advance(ms) {
      const end = now + ms;
      for (;;) {
        const next = sleepers.filter(sleeper => sleeper.at <= end).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        now = Math.max(now, next.at);
        next.wake();
        // The woken code may go to sleep again before `end`: let it run first.
        await new Promise(resolve => setImmediate(resolve));
      }
      now = end;
    },
  };
}
