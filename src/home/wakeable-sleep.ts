/**
 * How the loop waits: until somebody wakes it, or a time is over. One alarm serves many rests: a timer and an
 * AbortController for each took 85 µs a turn of the loop. So a rest may end early, by an alarm set for one before it.
 */
import type { Clock } from '../base/clock.ts';

const awake = () => {};

export class WakeableSleep {
  readonly #clock: Clock;
  #alarm: AbortController | undefined;
  #wake: () => void = awake;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  wake(): void {
    this.#wake();
  }

  /** At most so many milliseconds, or what is left of an alarm that is set. */
  async sleep(ms: number): Promise<void> {
    await new Promise<void>(resolve => {
      this.#wake = resolve;
      if (!this.#alarm) void this.#setAlarm(ms);
    });
    this.#wake = awake;
  }

  /** Nobody rests any more: no alarm keeps the process. */
  end(): void {
    this.#alarm?.abort('over'); // without a reason Node makes an error of it, with a stack
  }

  async #setAlarm(ms: number): Promise<void> {
    this.#alarm = new AbortController();
    await this.#clock.sleep(ms, this.#alarm.signal);
    this.#alarm = undefined;
    this.#wake();
  }
}
