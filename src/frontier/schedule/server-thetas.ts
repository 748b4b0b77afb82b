/**
 * Where the aim is a freshness, every server shall reach it: each has a threshold of its own, because with a common one quiet
 * servers would make up for those that change. Pure, except for what it remembers.
 */
import {
  type Balance,
  type Belief,
  balanceForFreshness,
  balanceForShare,
  balanceForSpending,
} from '../../revisit/budget.ts';
import { MAX_INTERVAL } from '../../revisit/policy.ts';
import type { ScheduleSettings } from './settings.ts';

/** So many servers, those with the most pages, have a threshold of their own. The others share one. */
const MOST_SERVERS = 1000;

/** What is believed of a sample of the pages. */
interface Scheduled {
  readonly beliefs: readonly Belief[];
  /** In all. */
  readonly pages: number;
  /** Server of a belief, by its index. */
  readonly serverOf: (belief: number) => number;
}

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

  /** What the user asked for costs and brings, and the thresholds for it. */
  balance(
    { freshness, share, bytes }: Pick<ScheduleSettings, 'freshness' | 'share' | 'bytes'>,
    targets: (freshness: number) => (server?: number) => number,
    { beliefs, pages, serverOf }: Scheduled,
  ): Balance {
    this.#parts = new Map();
    if (freshness !== undefined) return { ...this.#seek(targets(freshness), beliefs, serverOf), freshness };
    if (bytes === undefined) return balanceForShare(share ?? 0.1, beliefs, MAX_INTERVAL);
    return balanceForSpending(bytes / 1000 / Math.max(1, pages), beliefs, MAX_INTERVAL);
  }

  /**
   * Finds them anew; returns what all servers together cost and bring with them. `target`: of a server, absent = of all;
   * `serverOf`: of a belief, by its index.
   */
  #seek(target: (server?: number) => number, beliefs: readonly Belief[], serverOf: (index: number) => number): Balance {
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
