/**
 * Remembers in the ledger on which days waves began at each server, which shows how often the server changes as a whole; and
 * what running waves have shown, because a small budget follows a wave over several rounds.
 */
import { DAY } from '../../base/clock.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { USUAL, type WaveSaved } from './waves.ts';

interface NotedWave {
  /** Days since 1970. */
  readonly days: readonly number[];
  /** Pages of the server when the last wave began. */
  readonly pages: number;
}

/** Days that are remembered. */
const REMEMBERED = 14;
/** Days after which a wave counts for 1/e. */
const FLOCK = 5;
const SETTING = 'waves';
const RUNNING = 'running-waves';

export class WaveDays {
  readonly #ledger: Ledger;
  #all: Record<number, NotedWave>;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
    this.#all = ledger.settings.get<Record<number, NotedWave>>(SETTING) ?? {};
  }

  get running(): readonly WaveSaved[] {
    return this.#ledger.settings.get<WaveSaved[]>(RUNNING) ?? [];
  }

  /** Inside the caller's transaction. */
  set running(waves: readonly WaveSaved[]) {
    this.#ledger.settings.set(RUNNING, waves);
  }

  /** A wave began at a server of so many pages. Inside the caller's transaction. */
  note(server: number, time: number, pages: number): void {
    const today = Math.floor(time / DAY);
    const days = [...(this.#all[server]?.days ?? []).filter(day => day !== today), today];
    const all = Object.entries({ ...this.#all, [server]: { days, pages } }).map(([id, noted]): [string, NotedWave] => [
      id,
      { ...noted, days: noted.days.filter(day => today - day < REMEMBERED) },
    ]);
    this.#all = Object.fromEntries(all.filter(([, noted]) => noted.days.length > 0));
    this.#ledger.settings.set(SETTING, this.#all);
  }

  /** Waves a day that are to be expected at this server: they come in flocks, a release and its mends. */
  rate(server: number, time: number): number {
    const today = Math.floor(time / DAY);
    const days = (this.#all[server]?.days ?? []).filter(day => day > today - REMEMBERED);
    const lately = days.reduce((sum, day) => sum + Math.exp((day - today) / FLOCK), 0);
    return (USUAL.waves + lately) / (USUAL.days + FLOCK);
  }

  /** A wave began within the last `days` days. */
  within(server: number, time: number, days: number): boolean {
    return (this.#all[server]?.days ?? []).some(day => Math.floor(time / DAY) - day <= days);
  }
}
