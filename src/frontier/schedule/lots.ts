/**
 * Pages that a round looks at first, chosen by lot: they show whether forecasts come true, and whether a whole server has
 * changed. A few of each server, so that a small one is not left to chance, and the rest spread evenly over all pages.
 * The same for the same day. It writes nothing.
 */
import { DAY } from '../../base/clock.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { LivePage } from '../../ledger/pages/due-times.ts';
import { FLAG_CHANGED } from '../../ledger/pages/known-row.ts';
import type { Server } from '../../ledger/servers.ts';
import { WaveDays } from './wave-days.ts';
import { partOf } from './waves.ts';

/** Of a round's looks: a twentieth, or a hundredth of all pages where that is more, but never more than a fifth. */
const USUAL = 0.05;
const OF_PAGES = 0.01;
const MOST = 0.2;
/**
 * Of each server, as far as that fifth goes (a fifth of all pages where a freshness is to be kept); where it does not, other
 * servers each day.
 */
const OF_SERVER = 2;
/**
 * A wave over a share of a server's pages is found after as many days as there are looks a day, times that share; so much
 * is stale until then. So waves make stale what their number a day is over the looks: they may take half of what may be stale.
 */
const OF_WAVES = 2;
/** Pages that are drawn for each that is wanted: some are dead links, second addresses, or were looked at already. */
const DRAWN = 4;
/** Pages of a server that are drawn: among so many is one of those that change, if they are not few. */
const DRAWN_OF_SERVER = 16;
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** A round that lots are drawn for. */
interface LotRound {
  /** Where a freshness is to be kept: any number, and the pages stand for it. */
  readonly visits: number;
  /** Milliseconds since 1970: what was seen since is left out. */
  readonly begun: number;
  /** Share of the pages that may be stale, where a freshness is to be kept; else 0. */
  readonly stale: number;
}

export function lotsOf(ledger: Ledger, { visits, begun, stale }: LotRound): { page: number; server: number }[] {
  const looks = Math.min(visits, ledger.dueTimes.countLive());
  const day = Math.floor(begun / DAY);
  const evenly = Math.floor(Math.min(looks * MOST, Math.max(looks * USUAL, ledger.pages.size * OF_PAGES)));
  const most = stale > 0 ? Math.max(OF_SERVER, looks * MOST) : looks * MOST;
  const servers = ofServers(ledger, { begun, stale, most: Math.floor(most) });
  const drawn = new Set(servers.map(({ page }) => page));
  const ids = placesOf(day, evenly * DRAWN).map(place => 1 + Math.floor(place * ledger.pages.size));
  const fresh = [...new Set(ids)].filter(id => !drawn.has(id));
  const others = ledger.dueTimes.live(fresh, begun).slice(0, Math.max(0, evenly - servers.length));
  return [...servers, ...others];
}

/** Those whose waves nobody tells of: where a face names the content of every page, looks by lot find nothing sooner. */
function silent({ servers, faces }: Ledger): Server[] {
  const telling = faces.tellingAll();
  return [...servers.all()].filter(({ id }) => !telling.has(id));
}

/** At most so many pages: some of each server, or of other servers each day. */
function ofServers(ledger: Ledger, { begun, stale, most }: Omit<LotRound, 'visits'> & { most: number }): LivePage[] {
  const day = Math.floor(begun / DAY);
  const servers = stale > 0 ? silent(ledger) : [...ledger.servers.all()];
  const count = Math.min(servers.length, Math.floor(most / OF_SERVER));
  const waves = new WaveDays(ledger);
  let left = most;
  return Array.from({ length: count }, (_, i) => servers[(day * count + i) % servers.length]!).flatMap(({ id }, i) => {
    const needed = stale > 0 ? Math.ceil((OF_WAVES * waves.rate(id, begun)) / stale) : 0;
    const wanted = Math.max(OF_SERVER, Math.min(needed, left - (count - i - 1) * OF_SERVER));
    const drawn = placesOf(day, Math.max(DRAWN_OF_SERVER, DRAWN * wanted));
    const live = ledger.dueTimes.live(ledger.scans.someOf(id, drawn), begun);
    // What a wave touches it mostly touched before: of the others half is enough.
    const [changed, still] = [live.filter(hasChanged), live.filter(page => !hasChanged(page))];
    const first = Math.floor(wanted / 2);
    const lots = [...still.slice(0, first), ...changed, ...still.slice(first)].slice(0, wanted);
    left -= lots.length;
    return lots;
  });
}

const hasChanged = ({ flags }: LivePage): boolean => (flags & FLAG_CHANGED) !== 0;

/** Multiples of the golden section, from 0 to 1: evenly spread, and others each day. */
function placesOf(day: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => ((day * count + i) * GOLDEN) % 1);
}

/** Looks that a suspected wave is worth, and those that may have changed with a page. */
const FOLLOWED = 3;
/** Pages before and after one in the order they were found in, which are mostly of its part of the server. */
const BESIDE = 6;
/** Pages drawn of a server to find the companions of one: among so many is every page of a small server. */
const SOUGHT = 256;
/** Milliseconds in which changes that are found count as one event, and pages as seen lately. */
const TOGETHER = DAY / 2;

/** A page that has changed just now. */
interface JustChanged {
  /** Milliseconds since 1970. */
  readonly time: number;
  /** No notice and no wave foretold it. */
  readonly alone: boolean;
  /** It may be the first of a wave. */
  readonly suspected: boolean;
}

/** What is looked at next because a page has changed: what usually changes with it, and what would show a wave. */
export function followUps(ledger: Ledger, page: LivePage, { time, alone, suspected }: JustChanged): LivePage[] {
  const lately = time - TOGETHER;
  const companions = alone ? companionsOf(ledger, page, lately) : [];
  return suspected ? [...companions, ...alike(ledger, page, lately)] : companions;
}

/**
 * Pages to look at where one has changed: do they, too? Those of the same part of its server first, then what changed
 * before, because a part may have one page alone. As far as not seen since a time. Where a notice named it: of those that
 * notices named.
 */
export function alike(ledger: Ledger, page: LivePage, before: number): LivePage[] {
  const part = partOf(page);
  const rank = (other: LivePage) => (partOf(other) === part ? 0 : hasChanged(other) ? 1 : 2);
  return around(ledger, page, { before, draws: DRAWN_OF_SERVER })
    .filter(other => page.pings === 0 || other.pings > 0)
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, FOLLOWED);
}

/**
 * Pages that may have changed with one, as far as not seen since a time. What was found to have changed together with it the
 * last time: a chapter, the whole in one page, the index. One that does not change this time is none any more. Of a page
 * that never changed, those that have its name in other folders: versions, languages, printed forms.
 */
export function companionsOf(ledger: Ledger, page: LivePage, before: number): LivePage[] {
  const name = nameOf(page);
  const isCompanion = hasChanged(page)
    ? (other: LivePage) => hasChanged(other) && Math.abs(other.changed_time - page.changed_time) < TOGETHER
    : (other: LivePage) => name !== '' && nameOf(other) === name;
  return around(ledger, page, { before, draws: SOUGHT }).filter(isCompanion).slice(0, FOLLOWED);
}

/** The last part of its path; empty for what is named like its folder. */
function nameOf({ url }: LivePage): string {
  const name = /^[^?]*\/([^/?]*)/.exec(url)?.[1] ?? '';
  return /^(index|default)\b/.test(name) ? '' : name;
}

/** Others of its server: those found beside it, and some from anywhere. */
function around(ledger: Ledger, page: LivePage, { before, draws }: { before: number; draws: number }): LivePage[] {
  const beside = Array.from({ length: 2 * BESIDE }, (_, i) => page.page + (i % 2 === 0 ? 1 : -1) * (1 + (i >> 1)));
  const anywhere = ledger.scans.someOf(page.server, placesOf(page.page, draws));
  return ledger.dueTimes
    .live([...new Set([...beside, ...anywhere])], before)
    .filter(other => other.page !== page.page && other.server === page.server);
}
