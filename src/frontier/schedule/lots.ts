/**
 * Pages that a round looks at first, chosen by lot: they show whether forecasts come true, and whether a whole server has
 * changed. A few of each server, so that a small one is not left to chance, and the rest spread evenly over all pages.
 * The same for the same day. It writes nothing.
 */
import { DAY } from '../../base/clock.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { LivePage } from '../../ledger/pages/due-times.ts';
import { FLAG_CHANGED } from '../../ledger/pages/known-row.ts';
import { partOf } from './waves.ts';

/** Of a round's looks: a twentieth, or a hundredth of all pages where that is more, but never more than a fifth. */
const USUAL = 0.05;
const OF_PAGES = 0.01;
const MOST = 0.2;
/** Of each server, as far as that fifth goes; where it does not, other servers each day. */
const OF_SERVER = 2;
/** Pages that are drawn for each that is wanted: some are dead links, second addresses, or were looked at already. */
const DRAWN = 4;
/** Pages of a server that are drawn: among so many is one of those that change, if they are not few. */
const DRAWN_OF_SERVER = 16;
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** For a round of so many visits, as far as it has not seen them. */
export function lotsOf(ledger: Ledger, visits: number, begun: number): { page: number; server: number }[] {
  const looks = Math.min(visits, ledger.dueTimes.countLive());
  const day = Math.floor(begun / DAY);
  const evenly = Math.floor(Math.min(looks * MOST, Math.max(looks * USUAL, ledger.pages.size * OF_PAGES)));
  const servers = ofServers(ledger, begun, Math.floor(looks * MOST));
  const drawn = new Set(servers.map(({ page }) => page));
  const ids = placesOf(day, evenly * DRAWN).map(place => 1 + Math.floor(place * ledger.pages.size));
  const fresh = [...new Set(ids)].filter(id => !drawn.has(id));
  const others = ledger.dueTimes.live(fresh, begun).slice(0, Math.max(0, evenly - servers.length));
  return [...servers, ...others];
}

/** At most so many pages: some of each server, or of other servers each day. */
function ofServers(ledger: Ledger, begun: number, most: number): LivePage[] {
  const day = Math.floor(begun / DAY);
  const servers = [...ledger.servers.all()];
  const count = Math.min(servers.length, Math.floor(most / OF_SERVER));
  const today = Array.from({ length: count }, (_, i) => servers[(day * count + i) % servers.length]!);
  return today.flatMap(({ id }) => {
    const live = ledger.dueTimes.live(ledger.pages.someOf(id, placesOf(day, DRAWN_OF_SERVER)), begun);
    // What a wave touches it mostly touched before; of the others one is enough.
    const [changed, still] = [live.filter(hasChanged), live.filter(page => !hasChanged(page))];
    return [...still.slice(0, 1), ...changed, ...still.slice(1)].slice(0, OF_SERVER);
  });
}

const hasChanged = ({ flags }: LivePage): boolean => (flags & FLAG_CHANGED) !== 0;

/** Multiples of the golden section, from 0 to 1: evenly spread, and others each day. */
function placesOf(day: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => ((day * count + i) * GOLDEN) % 1);
}

/** Looks that a suspected wave is worth. */
const SUSPECTED = 3;
/** Pages before and after one in the order they were found in, which are mostly of its part of the server. */
const BESIDE = 6;

/** Pages of the same part of its server as one that has changed: do they, too? As far as not seen since a time. */
export function alike(ledger: Ledger, page: LivePage, before: number): LivePage[] {
  const beside = Array.from({ length: 2 * BESIDE }, (_, i) => page.page + (i % 2 === 0 ? 1 : -1) * (1 + (i >> 1)));
  const anywhere = ledger.pages.someOf(page.server, placesOf(page.page, DRAWN_OF_SERVER));
  const part = partOf(page);
  return ledger.dueTimes
    .live([...new Set([...anywhere, ...beside])], before)
    .filter(other => other.page !== page.page && other.server === page.server && partOf(other) === part)
    .slice(0, SUSPECTED);
}
