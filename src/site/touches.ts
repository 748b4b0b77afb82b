/** Paths that were touched, handed on when it has been quiet for a moment. */
import { systemClock } from '../base/clock.ts';

/** Touched paths that are remembered one by one; more, and everything is listed. */
const MOST_TOUCHED = 10_000;
/** Milliseconds for which touches may put off the reading. */
const LONGEST_PUT_OFF = 3000;

export class Touches {
  readonly #quiet: number;
  readonly #ready: (paths: readonly string[]) => void;
  #paths = new Set<string>();
  #anything = false;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(quiet: number, ready: (paths: readonly string[]) => void) {
    this.#quiet = quiet;
    this.#ready = ready;
  }

  add(paths: readonly string[]): void {
    if (paths.length === 0 || this.#paths.size > MOST_TOUCHED) this.#anything = true;
    else for (const path of paths) this.#paths.add(path);
    const now = systemClock.ticks();
    if (this.#timer === undefined) this.#since = now;
    else clearTimeout(this.#timer);
    const wait = now - this.#since > LONGEST_PUT_OFF ? 0 : this.#quiet;
    this.#timer = setTimeout(() => this.#hand(), wait);
    this.#timer.unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #hand(): void {
    const paths = this.#anything ? [] : [...this.#paths];
    this.#timer = undefined;
    this.#paths = new Set();
    this.#anything = false;
    this.#ready(paths);
  }
}
