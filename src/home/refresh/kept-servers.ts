/**
 * Servers that need no more checks in this round, because they are expected to be as fresh as the user asked. Finding them
 * reads a part of the ledger, so it happens only after a number of visits, and before a round ends for lack of pages.
 */
import type { Pool, PoolPage } from '../partitions/pool.ts';

export class KeptServers {
  readonly #pool: Pool;
  readonly #now: number;
  readonly #visits: number;
  #kept = new Map<number, ReadonlySet<number>>();
  /** How many visits had been learned when the ledger was asked. */
  #asked = Number.NEGATIVE_INFINITY;

  /** `now`: milliseconds since 1970; `visits`: after so many the ledger is asked again. */
  constructor(pool: Pool, now: number, visits: number) {
    this.#pool = pool;
    this.#now = now;
    this.#visits = visits;
  }

  /** The pages of servers that need more checks. */
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
