/** How many sockets a fetcher may have: a system lets a process have so many open files, and threads share them. */
export class ConnectionPlaces {
  #free: number;
  readonly #waiting: (() => void)[] = [];
  /** Asked for when none is free: somebody may have one to spare. */
  spare: () => void = () => {};

  constructor(most: number) {
    this.#free = most;
  }

  /** Undefined: it is taken. A promise: it will be. */
  take(): Promise<void> | undefined {
    if (this.#free <= 0) this.spare();
    if (this.#free > 0) {
      this.#free--;
      return undefined;
    }
    return new Promise(resolve => this.#waiting.push(resolve));
  }

  /** Somebody waits for one: nobody keeps one idle. */
  get wanted(): boolean {
    return this.#waiting.length > 0;
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free++;
  }
}
