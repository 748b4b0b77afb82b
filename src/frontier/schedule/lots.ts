/**
 * Draws pages by lot, which a round visits first: they show whether forecasts come true, and whether a whole server has
 * changed. It draws a few pages of each server, so that small servers are not left to chance, and spreads the rest evenly
 * over all pages. On one day it always draws the same pages. It writes nothing.
 */
import { DAY } from '../../base/clock.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { FLAG_CHANGED } from '../../ledger/pages/known-row.ts';
import type { LivePage } from '../../ledger/schedule/due-times.ts';
import type { Server } from '../../ledger/servers.ts';
import { Voices } from './voices.ts';
import { WaveDays } from './wave-days.ts';
import { partOf } from './waves.ts';

/** Lots in a round: 5% of its visits, or 1% of all pages where that is more, but never more than 20% of the visits. */
const USUAL = 0.05;
const OF_PAGES = 0.01;
const MOST = 0.2;
/**
 * Lots for each server, within those 20% (20% of all pages where the aim is a freshness); where they do not suffice, other
 * servers have their turn each day.
 */
const OF_SERVER = 2;
/**
 * Visits for each wave a day. The more lots a server gets, the sooner they find a wave, and the fewer of its pages are stale
 * until then: waves a day over lots a day is the share that they make stale. They may take half of what may be stale.
 */
const OF_WAVES = 2;
/** Draws for each page that is wanted: some draws hit dead links, second addresses, or pages that were visited already. */
const DRAWN = 4;
/** Draws at one server: enough to hit one of the pages that change, unless these are few. */
const DRAWN_OF_SERVER = 16;
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** The round that needs lots. */
interface LotRound {
  /** Visits in the round; where the aim is a freshness this has no limit, and the number of pages counts instead. */
  readonly visits: number;
  /** Milliseconds since 1970: pages that were seen since are left out. */
  readonly begun: number;
  /** Share of the pages that may be stale, where the aim is a freshness; else 0. */
  readonly stale: number;
}

export function lotsOf(ledger: Ledger, { visits, begun, stale }: LotRound): { page: number; server: number }[] {
  const looks = Math.min(visits, ledger.schedule.due.countLive());
  const day = Math.floor(begun / DAY);
  const evenly = Math.floor(Math.min(looks * MOST, Math.max(looks * USUAL, ledger.pages.size * OF_PAGES)));
  const most = stale > 0 ? Math.max(OF_SERVER, looks * MOST) : looks * MOST;
  const servers = ofServers(ledger, { begun, stale, most: Math.floor(most) });
  const drawn = new Set(servers.map(({ page }) => page));
  const ids = placesOf(day, evenly * DRAWN).map(place => 1 + Math.floor(place * ledger.pages.size));
  const fresh = [...new Set(ids)].filter(id => !drawn.has(id));
  const others = ledger.schedule.due.live(fresh, begun).slice(0, Math.max(0, evenly - servers.length));
  const doubt = doubtOf(ledger);
  return [...servers, ...others.filter((page, i) => (i * GOLDEN) % 1 < doubt(page))];
}

/** What silence may hide at a page, as a share of its changes. Where a face names all contents looks cost next to nothing: it counts as 1. */
function doubtOf(ledger: Ledger): (page: LivePage) => number {
  const cheap = ledger.schedule.faces.tellingAll();
  const voices = new Voices(ledger);
  return page => (cheap.has(page.server) ? 1 : 1 - voices.told(ledger.servers.byId(page.server), page));
}

/** Servers that do not announce their waves: where a face names the content of every page, lots find nothing sooner. */
function silent({ servers, schedule }: Ledger): Server[] {
  const telling = schedule.faces.tellingAll();
  return [...servers.all()].filter(({ id }) => !telling.has(id));
}

/** At most `most` pages: some of each server, or of other servers each day. */
function ofServers(ledger: Ledger, { begun, stale, most }: Omit<LotRound, 'visits'> & { most: number }): LivePage[] {
  const day = Math.floor(begun / DAY);
  const servers = stale > 0 ? silent(ledger) : [...ledger.servers.all()];
  const count = Math.min(servers.length, Math.floor(most / OF_SERVER));
  const waves = new WaveDays(ledger);
  let left = most;
  const doubt = doubtOf(ledger);
  return Array.from({ length: count }, (_, i) => servers[(day * count + i) % servers.length]!).flatMap(({ id }, i) => {
    const needed = stale > 0 ? Math.ceil((OF_WAVES * waves.rate(id, begun)) / stale) : 0;
    const wanted = Math.max(OF_SERVER, Math.min(needed, left - (count - i - 1) * OF_SERVER));
    const drawn = placesOf(day, Math.max(DRAWN_OF_SERVER, DRAWN * wanted));
    const live = ledger.schedule.due.live(ledger.queries.scans.someOf(id, drawn), begun);
    // A wave mostly touches pages that an earlier wave touched: half as many of the others are enough.
    const [changed, still] = [live.filter(hasChanged), live.filter(page => !hasChanged(page))];
    const first = Math.floor(wanted / 2);
    const lots = [...still.slice(0, first), ...changed, ...still.slice(first)].slice(0, wanted);
    left -= lots.length;
    // Of a small server whose silence is believed no more than the usual share: two of three pages each day would be most of what it costs.
    const usual = (USUAL * live.length) / wanted;
    return lots.filter((page, n) => ((day * wanted + n) * GOLDEN) % 1 < Math.max(doubt(page), usual));
  });
}

const hasChanged = ({ flags }: LivePage): boolean => (flags & FLAG_CHANGED) !== 0;

/** Multiples of the golden section, from 0 to 1: evenly spread, and others each day. */
function placesOf(day: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => ((day * count + i) * GOLDEN) % 1);
}

/** Visits that a suspected wave is worth, and visits to pages that may have changed together with another. */
const FOLLOWED = 3;
/** Pages that were found just before and after a page: most of them belong to its part of the server. */
const BESIDE = 6;
/** Draws at a server to find the companions of a page: enough to hit every page of a small server. */
const SOUGHT = 256;
/** Changes found within so many milliseconds count as one event, and pages seen within them as seen lately. */
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

/** Pages to visit next because a page has changed: those that usually change with it, and those that would show a wave. */
export function followUps(ledger: Ledger, page: LivePage, { time, alone, suspected }: JustChanged): LivePage[] {
  const lately = time - TOGETHER;
  const companions = alone ? companionsOf(ledger, page, lately) : [];
  return suspected ? [...companions, ...alike(ledger, page, lately)] : companions;
}

/**
 * Pages that may have changed because this one has: pages of the same part of its server first, then pages that have changed
 * before, because a part may consist of one page. Pages seen after the time `before` are left out. If a notice named the page,
 * only pages that notices named count.
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
 * Pages that changed together with this one the last time (a chapter, the whole in one page, the index), as far as nobody has
 * seen them since the time `before`. A page that does not change this time stops being a companion. For a page that never
 * changed: pages of the same name in other folders, such as versions, languages and printed forms.
 */
export function companionsOf(ledger: Ledger, page: LivePage, before: number): LivePage[] {
  const name = nameOf(page);
  const isCompanion = hasChanged(page)
    ? (other: LivePage) => hasChanged(other) && Math.abs(other.changed_time - page.changed_time) < TOGETHER
    : (other: LivePage) => name !== '' && nameOf(other) === name;
  return around(ledger, page, { before, draws: SOUGHT }).filter(isCompanion).slice(0, FOLLOWED);
}

/** The last part of its path; empty for the page of a folder. */
function nameOf({ url }: LivePage): string {
  const name = /^[^?]*\/([^/?]*)/.exec(url)?.[1] ?? '';
  return /^(index|default)\b/.test(name) ? '' : name;
}

/** Other pages of its server: those found beside it, and some from anywhere. */
function around(ledger: Ledger, page: LivePage, { before, draws }: { before: number; draws: number }): LivePage[] {
  const beside = Array.from({ length: 2 * BESIDE }, (_, i) => page.page + (i % 2 === 0 ? 1 : -1) * (1 + (i >> 1)));
  const anywhere = ledger.queries.scans.someOf(page.server, placesOf(page.page, draws));
  return ledger.schedule.due
    .live([...new Set([...beside, ...anywhere])], before)
    .filter(other => other.page !== page.page && other.server === page.server);
}
