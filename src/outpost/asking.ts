/**
 * Questions to code in a sandbox, answered in the order they were asked. Several may be on their way; the watchdog looks at
 * the first of them, from when its turn came.
 */
import { misbehaved } from './decider.ts';

interface Question {
  /** Milliseconds. */
  readonly time: number;
  resolve(bits: number): void;
  reject(error: Error): void;
}

export class Asking {
  readonly #kill: () => void;
  readonly #waiting: Question[] = [];
  #timer: NodeJS.Timeout | undefined;
  #over = '';

  /** `kill` ends the sandbox; it is called once something went wrong. */
  constructor(kill: () => void) {
    this.#kill = kill;
  }

  /** `send` puts the question on its way; an answer has to come within `time` of its turn. */
  ask(send: () => void, time: number): Promise<number> {
    if (this.#over !== '') return Promise.reject(misbehaved(this.#over));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ time, resolve, reject });
      if (this.#waiting.length === 1) this.#watch();
      send();
    });
  }

  answer(bits: number): void {
    const first = this.#waiting.shift();
    if (!first) this.end('it answers what was not asked');
    first?.resolve(bits);
    this.#watch();
  }

  /** Nothing is asked any more, and what was is not answered. */
  end(why: string): void {
    this.#over ||= why;
    clearTimeout(this.#timer);
    for (const { reject } of this.#waiting.splice(0)) reject(misbehaved(this.#over));
    this.#kill();
  }

  #watch(): void {
    clearTimeout(this.#timer);
    const first = this.#waiting[0];
    if (first) this.#timer = setTimeout(() => this.end(`it took longer than ${first.time} milliseconds`), first.time);
  }
}
