/**
 * Remembers in the ledger on which days waves began at each server, which shows how often the server changes as a whole; and
 * what running waves have shown, because a small budget follows a wave over several rounds.
 */
import { DAY } from '../../base/clock.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { WaveSaved } from './waves.ts';

interface NotedWave {
  /** Days since 1970. */
  readonly days: readonly number[];
  /** Pages of the server when the last wave began. */
  readonly pages: number;
}

/** Days that are remembered. */
const REMEMBERED = 14;
/** Share of the budget that the waves of one server may take. */
const MOST = 0.5;
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

  /** Waves are so rare at this server that following each leaves enough of the `visits` a day for other servers. */
  leave(server: number, visits: number): boolean {
    const { days, pages } = this.#all[server] ?? { days: [], pages: 0 };
    return (days.length / REMEMBERED) * pages <= MOST * visits;
  }

  /** Share of the remembered days on which a wave began. */
  rate(server: number, time: number): number {
    const since = Math.floor(time / DAY) - REMEMBERED;
    return (this.#all[server]?.days ?? []).filter(day => day > since).length / REMEMBERED;
  }

  /** A wave began within the last `days` days. */
  within(server: number, time: number, days: number): boolean {
    return (this.#all[server]?.days ?? []).some(day => Math.floor(time / DAY) - day <= days);
  }
}
