/** Outposts that lied, by name, in a file of the collection: a run that starts later must not trust them again. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export class Quarantine {
  readonly #file: string;
  readonly #reasons: Record<string, string>;

  constructor(directory: string) {
    this.#file = join(directory, 'outposts', 'quarantine.json');
    this.#reasons = existsSync(this.#file) ? JSON.parse(readFileSync(this.#file, 'utf8')) : {};
  }

  /** Why, or undefined where there is no distrust. */
  reason(name: string): string | undefined {
    return Object.hasOwn(this.#reasons, name) ? this.#reasons[name] : undefined;
  }

  add(name: string, why: string): void {
    this.#reasons[name] = why;
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileSync(`${this.#file}.new`, JSON.stringify(this.#reasons, undefined, 2));
    renameSync(`${this.#file}.new`, this.#file);
  }
}
