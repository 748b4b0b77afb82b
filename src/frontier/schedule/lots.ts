/**
 * Pages that a round looks at first, chosen by lot: they show whether forecasts come true, and whether a whole server has
 * changed. A few of each server, so that a small one is not left to chance, and the rest spread evenly over all pages.
 * The same for the same day. It writes nothing.
 */
import { DAY } from '../../base/clock.ts';
import type { Ledger } from '../../ledger/ledger.ts';

/** Of a round's looks: a twentieth, or a hundredth of all pages where that is more, but never more than a fifth. */
const USUAL = 0.05;
const OF_PAGES = 0.01;
const MOST = 0.2;
/** Of each server, as far as that fifth goes; where it does not, other servers each day. */
const OF_SERVER = 2;
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** For a round of so many visits, as far as it has not seen them. */
export function lotsOf(ledger: Ledger, visits: number, begun: number): { page: number; server: number }[] {
  const looks = Math.min(visits, ledger.dueTimes.countLive());
  const day = Math.floor(begun / DAY);
  const all = ledger.pages.size;
  const evenly = Math.floor(Math.min(looks * MOST, Math.max(looks * USUAL, all * OF_PAGES)));
  const ids = Array.from({ length: evenly }, (_, i) => 1 + Math.floor((((day * evenly + i) * GOLDEN) % 1) * all));
  const servers = ledger.dueTimes.live(ofServers(ledger, day, Math.floor(looks * MOST)), begun);
  const drawn = new Set(servers.map(({ page }) => page));
  const others = ledger.dueTimes.live(
    [...new Set(ids)].filter(id => !drawn.has(id)),
    begun,
  );
  return [...servers, ...others].slice(0, Math.max(evenly, servers.length));
}

/** At most so many pages: some of each server, or of other servers each day. */
function ofServers(ledger: Ledger, day: number, most: number): number[] {
  const servers = [...ledger.servers.all()];
  const count = Math.min(servers.length, Math.floor(most / OF_SERVER));
  return Array.from({ length: count }, (_, i) => servers[(day * count + i) % servers.length]!).flatMap(({ id }) => {
    const places = Array.from({ length: OF_SERVER }, (_, i) => ((day * OF_SERVER + i) * GOLDEN) % 1);
    return ledger.pages.someOf(id, places);
  });
}
