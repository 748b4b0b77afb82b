/**
 * How the loop waits: until somebody wakes it, or a time is over. One alarm serves many rests: a timer and an
 * AbortController for each took 85 µs a turn of the loop. So a rest may end early, by an alarm set for one before it.
 */
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';

/** Longest run (ms) before yielding to Node's event loop. */
const BREATH = 50;

const awake = () => {};

export class WakeableSleep {
  readonly #clock: Clock;
  #alarm: AbortController | undefined;
  #wake: () => void = awake;
  #breathed = 0;

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

  /**
   * Node hands the messages of a thread over one by one, up to a thousand of them in one turn of its loop, and ours turns
   * between two. Where threads are faster than home, timers, signals and orders would wait for all of these.
   */
  async breathe(): Promise<void> {
    if (performance.now() - this.#breathed < BREATH) return;
    await setImmediate();
    this.#breathed = performance.now();
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
