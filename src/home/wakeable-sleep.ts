/**
 * The loop sleeps until somebody wakes it, or a time is over. One timer serves many sleeps, because a timer and an
 * AbortController for each took 85 µs a turn of the loop. So a sleep may end early, by the timer of an earlier one.
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

  /** Sleeps at most so many milliseconds, or until a timer ends that is already set. */
  async sleep(ms: number): Promise<void> {
    await new Promise<void>(resolve => {
      this.#wake = resolve;
      if (!this.#alarm) void this.#setAlarm(ms);
    });
    this.#wake = awake;
  }

  /**
   * Yields to Node's event loop now and then. Node delivers up to a thousand messages of a thread in one turn of its loop, and
   * ours turns between two of them. If threads are faster than home, timers, signals and orders would wait for all of these.
   */
  async breathe(): Promise<void> {
    if (performance.now() - this.#breathed < BREATH) return;
    await setImmediate();
    this.#breathed = performance.now();
  }

  /** Nobody sleeps any more: no timer keeps the process alive. */
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
