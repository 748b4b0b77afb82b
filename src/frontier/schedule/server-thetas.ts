/**
 * Where the aim is a freshness, every server shall reach it: each has a threshold of its own, because with a common one quiet
 * servers would make up for those that change. Pure, except for what it remembers.
 */
import { type Balance, type Belief, balanceForFreshness } from '../../revisit/budget.ts';
import { MAX_INTERVAL } from '../../revisit/policy.ts';

/** So many servers, those with the most pages, have a threshold of their own. The others share one. */
const MOST_SERVERS = 1000;

export class ServerThetas {
  /** As multiples of the common threshold. */
  #parts: Map<number, number>;

  constructor(saved: readonly (readonly [server: number, part: number])[] = []) {
    this.#parts = new Map(saved);
  }

  get saved(): readonly (readonly [number, number])[] {
    return [...this.#parts];
  }

  of(server: number | undefined): number {
    return this.#parts.get(server ?? 0) ?? 1;
  }

  clear(): void {
    this.#parts = new Map();
  }

  /**
   * Finds them anew; returns what all servers together cost and bring with them. `target`: of a server, absent = of all;
   * `serverOf`: of a belief, by its index.
   */
  seek(target: (server?: number) => number, beliefs: readonly Belief[], serverOf: (index: number) => number): Balance {
    const all = balanceForFreshness(target(), beliefs, MAX_INTERVAL);
    const servers = [...Map.groupBy(beliefs.keys(), serverOf)].sort(([, a], [, b]) => b.length - a.length);
    const balances = servers.slice(0, MOST_SERVERS).map(([server, own]) => {
      const theirs = own.map(index => beliefs[index]!);
      return { server, pages: own.length, balance: balanceForFreshness(target(server), theirs, MAX_INTERVAL) };
    });
    this.#parts = new Map(balances.map(({ server, balance }) => [server, balance.theta / all.theta]));
    const pages = balances.reduce((sum, each) => sum + each.pages, 0);
    if (pages === 0) return all;
    const mean = (of: (balance: Balance) => number) =>
      balances.reduce((sum, each) => sum + of(each.balance) * each.pages, 0) / pages;
    return { ...all, visits: mean(({ visits }) => visits), spent: mean(({ spent }) => spent) };
  }
}
