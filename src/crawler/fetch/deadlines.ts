/**
 * One coarse timer for everything that may take too long. A timer per request and phase costs more than parsing the
 * response; instead whoever waits writes down until when, and a sweep a few times a second finds who is late.
 */
export interface Timed {
  /** On the clock of performance.now(); Infinity = waits for nothing. */
  deadline: number;
  /** Called once per sweep in which the deadline has passed, until it is moved or removed. */
  late(): void;
}

export class Deadlines {
  readonly #waiting = new Set<Timed>();
  readonly #interval: number;
  #timer: NodeJS.Timeout | undefined;

  /** `shortest`: the smallest time limit that will be asked for, milliseconds; it may be overrun by a quarter. */
  constructor(shortest: number) {
    this.#interval = Math.min(250, Math.max(5, shortest / 4));
  }

  add(item: Timed): void {
    this.#waiting.add(item);
    this.#timer ??= setInterval(() => this.#sweep(), this.#interval);
  }

  delete(item: Timed): void {
    this.#waiting.delete(item);
    if (this.#waiting.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }

  #sweep(): void {
    const now = performance.now();
    for (const item of this.#waiting) if (item.deadline <= now) item.late();
  }
}
