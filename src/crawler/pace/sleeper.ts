/** Something that wakes up once, at the earliest time asked for. */
import { type Clock, DAY } from '../../base/clock.ts';

export interface Sleeper {
  timer: AbortController | undefined;
  /** Ticks. */
  wakeAt: number;
}

/** Whoever wakes too early looks at the time and sleeps again. */
export function sleepUntil(clock: Clock, sleeper: Sleeper, at: number, wake: () => void): void {
  if (sleeper.timer !== undefined && sleeper.wakeAt <= at) return;
  stopSleep(sleeper);
  const timer = new AbortController();
  sleeper.timer = timer;
  sleeper.wakeAt = at;
  void clock.sleep(Math.min(at - clock.ticks(), DAY), timer.signal).then(() => {
    if (sleeper.timer !== timer) return;
    sleeper.timer = undefined;
    wake();
  });
}

export function stopSleep(sleeper: Sleeper): void {
  sleeper.timer?.abort();
  sleeper.timer = undefined;
}
