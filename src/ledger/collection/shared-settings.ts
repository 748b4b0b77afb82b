/**
 * Settings that hold for a whole collection. With one partition they are its ledger's. With several each ledger has all of
 * them, so that a partition that moves to another machine is complete by itself.
 */
import type { Ledger } from '../ledger.ts';
import type { Settings } from './settings.ts';

const SEEDED = 'seeded';

export class SharedSettings implements Settings {
  readonly #ledgers = new Set<Ledger>();
  /** What was set in this run: a ledger that joins later gets it, too. */
  readonly #set = new Map<string, unknown>();

  constructor(ledgers: Iterable<Ledger>) {
    for (const ledger of ledgers) this.#ledgers.add(ledger);
  }

  join(ledger: Ledger): void {
    this.#ledgers.add(ledger);
    ledger.begin();
    for (const [name, value] of this.#set) ledger.settings.set(name, value);
  }

  leave(ledger: Ledger): void {
    this.#ledgers.delete(ledger);
  }

  get<T>(name: string): T | undefined {
    if (this.#set.has(name)) return this.#set.get(name) as T;
    for (const ledger of this.#ledgers) {
      const value = ledger.settings.get<T>(name);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  set(name: string, value: unknown): void {
    this.#set.set(name, value);
    for (const ledger of this.#ledgers) {
      ledger.begin();
      ledger.settings.set(name, value);
    }
  }

  list(name: string): string[] {
    const set = this.#set.get(name) as string[] | undefined;
    return set ?? [...new Set([...this.#ledgers].flatMap(ledger => ledger.settings.get<string[]>(name) ?? []))];
  }

  seeded(): string[] {
    return [...new Set([...[...this.#ledgers].flatMap(ledger => ledger.settings.seeded()), ...this.list(SEEDED)])];
  }

  /** Seeds may be in partitions that are not here. */
  addSeeded(origins: readonly string[]): void {
    const before = this.list(SEEDED);
    const all = [...new Set([...before, ...origins])];
    if (all.length > before.length) this.set(SEEDED, all);
  }

  /** No seed is there any more. */
  dropSeeded(origin: string): void {
    const before = this.list(SEEDED);
    if (before.includes(origin))
      this.set(
        SEEDED,
        before.filter(each => each !== origin),
      );
  }
}
