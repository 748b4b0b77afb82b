/**
 * Servers that need no more looks in this round, because the freshness that is to be kept is expected there. To ask for them
 * reads a part of the ledger, so it is done anew after so many visits, and before a round ends for want of pages.
 */
import type { Pool, PoolPage } from '../partitions/pool.ts';

export class KeptServers {
  readonly #pool: Pool;
  readonly #now: number;
  readonly #visits: number;
  #kept = new Map<number, ReadonlySet<number>>();
  /** Visits that had been learned from. */
  #asked = Number.NEGATIVE_INFINITY;

  /** `now`: milliseconds since 1970; `visits`: after which they are asked for anew. */
  constructor(pool: Pool, now: number, visits: number) {
    this.#pool = pool;
    this.#now = now;
    this.#visits = visits;
  }

  /** Those of these pages whose servers need looks. */
  without<Page extends PoolPage>(pages: readonly Page[]): Page[] {
    if (this.#pool.settled - this.#asked >= this.#visits) this.#ask();
    const left = this.#unkept(pages);
    if (left.length > 0 || pages.length === 0 || this.#pool.settled === this.#asked) return left;
    this.#ask();
    return this.#unkept(pages);
  }

  #unkept<Page extends PoolPage>(pages: readonly Page[]): Page[] {
    return pages.filter(({ member, server }) => !this.#kept.get(member.id)?.has(server));
  }

  #ask(): void {
    this.#asked = this.#pool.settled;
    this.#kept = new Map([...this.#pool].map(({ id, frontier }) => [id, frontier.schedule.kept(this.#now)]));
  }
}
