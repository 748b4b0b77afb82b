/**
 * Errands that have ended here, until the date of their warrants: one that comes again is a copy, whoever sends it. A
 * file, to which a line is added for each, because a restart must not make old warrants good again.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { PRIVATE, replaceFile } from '../base/file.ts';

/** Lines after which those that are past their date are left out. */
const MANY = 10_000;

export class Ended {
  readonly #file: string;
  /** Milliseconds since 1970 by errand. */
  #until = new Map<string, number>();
  #lines = 0;

  constructor(file: string, now: number) {
    this.#file = file;
    for (const line of existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []) {
      const [errand = '', until] = line.split(' ');
      if (errand !== '' && Number(until) >= now) this.#until.set(errand, Number(until));
    }
    this.#tidy(now);
  }

  has(errand: string): boolean {
    return this.#until.has(errand);
  }

  /** `until`: the date of its warrant, milliseconds since 1970. */
  add(errand: string, until: number, now: number): void {
    if (this.#until.has(errand)) return;
    this.#until.set(errand, until);
    try {
      appendFileSync(this.#file, `${errand} ${until}\n`, { mode: PRIVATE });
    } catch {
      // A full disk: it is known until the next start.
    }
    if (++this.#lines > MANY && this.#lines > 2 * this.#until.size) this.#tidy(now);
  }

  #tidy(now: number): void {
    this.#until = new Map([...this.#until].filter(([, until]) => until >= now));
    this.#lines = this.#until.size;
    try {
      replaceFile(this.#file, [...this.#until].map(([errand, until]) => `${errand} ${until}\n`).join(''), PRIVATE);
    } catch {
      // A full disk: the file is longer than it need be.
    }
  }
}
