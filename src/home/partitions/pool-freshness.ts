/** How fresh all partitions of a collection are together. */
import type { Fresh } from '../../frontier/schedule/freshness-forecast.ts';
import type { Pool } from './pool.ts';

/** Share of the pages that is as last seen, nine times in ten between `low` and `high`. */
export interface PoolFreshness extends Omit<Fresh, 'servers'> {
  readonly servers: readonly (Omit<Fresh['servers'][number], 'server'> & { readonly origin: string })[];
}

/** How fresh all partitions are together: of each as much as it has pages. */
export function poolFreshness(pool: Pool, now: number, told = 0): PoolFreshness {
  const all = [...pool].map(({ ledger, frontier }) => {
    const { servers, ...rest } = frontier.schedule.freshness(now, told);
    const named = servers.map(({ server, ...each }) => ({ ...each, origin: ledger.servers.byId(server).origin }));
    return { ...rest, servers: named, pages: ledger.schedule.due.countLive() };
  });
  if (all.length === 1) {
    const { pages, ...one } = all[0]!;
    return one;
  }
  const pages = all.reduce((sum, each) => sum + each.pages, 0) || 1;
  const mean = (of: 'expected' | 'low' | 'high') => all.reduce((sum, each) => sum + each[of] * each.pages, 0) / pages;
  const servers = all.flatMap(each => each.servers).sort((a, b) => b.pages - a.pages);
  return {
    ...{ expected: mean('expected'), low: mean('low'), high: mean('high') },
    looks: all.reduce((sum, each) => sum + each.looks, 0),
    servers: servers.slice(0, told),
  };
}
