/**
 * Outposts that lied, by name, in a file of the collection: a run that starts later must not trust them again. Whoever
 * forgives one takes its name out of the file, in a process of its own; a home that runs reads the file anew.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { replaceFile } from '../base/file.ts';

export class Quarantine {
  readonly #file: string;
  #reasons: Record<string, string> = {};

  constructor(directory: string) {
    this.#file = join(directory, 'outposts', 'quarantine.json');
    this.read();
  }

  /** Reads the file again. */
  read(): void {
    this.#reasons = existsSync(this.#file) ? JSON.parse(readFileSync(this.#file, 'utf8')) : {};
  }

  get all(): ReadonlyMap<string, string> {
    return new Map(Object.entries(this.#reasons));
  }

  /** Why, or undefined where there is no distrust. */
  reason(name: string): string | undefined {
    return Object.hasOwn(this.#reasons, name) ? this.#reasons[name] : undefined;
  }

  add(name: string, why: string): void {
    this.#reasons[name] = why;
    this.#write();
  }

  /** False: it was not there. */
  remove(name: string): boolean {
    if (this.reason(name) === undefined) return false;
    delete this.#reasons[name];
    this.#write();
    return true;
  }

  #write(): void {
    mkdirSync(dirname(this.#file), { recursive: true });
    replaceFile(this.#file, JSON.stringify(this.#reasons, undefined, 2));
  }
}
