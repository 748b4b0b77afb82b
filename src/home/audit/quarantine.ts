/**
 * Outposts that lied, by name, in a file of the collection: a run that starts later must not trust them again. Whoever
 * forgives one takes its name out of the file, in a process of its own; a home that runs reads the file anew.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PRIVATE, replaceFile } from '../../base/file.ts';

export class Quarantine {
  readonly #file: string;
  #reasons: ReadonlyMap<string, string> = new Map();

  constructor(directory: string) {
    this.#file = join(directory, 'outposts', 'quarantine.json');
    this.read();
  }

  /** Reads the file again. */
  read(): void {
    const reasons = existsSync(this.#file) ? JSON.parse(readFileSync(this.#file, 'utf8')) : {};
    this.#reasons = new Map(Object.entries(reasons as Record<string, string>));
  }

  get all(): ReadonlyMap<string, string> {
    return this.#reasons;
  }

  /** Why, or undefined where there is no distrust. */
  reason(name: string): string | undefined {
    return this.#reasons.get(name);
  }

  add(name: string, why: string): void {
    this.#write(new Map(this.#reasons).set(name, why));
  }

  /** False: it was not there. */
  remove(name: string): boolean {
    const others = new Map(this.#reasons);
    if (!others.delete(name)) return false;
    this.#write(others);
    return true;
  }

  #write(reasons: ReadonlyMap<string, string>): void {
    this.#reasons = reasons;
    mkdirSync(dirname(this.#file), { recursive: true });
    replaceFile(this.#file, JSON.stringify(Object.fromEntries(reasons), undefined, 2), PRIVATE);
  }
}
