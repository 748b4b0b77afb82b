/**
 * What feeds the frontier while home runs, besides links: pages to try again, and pages that the schedule wants looked
 * at. One small port with three implementations: `crawl` ends when nothing is left, `refresh` after one round,
 * `watch` never.
 */
import { type Clock, DAY } from '../base/clock.ts';
import type { Frontier } from '../frontier/frontier.ts';
import { lotsOf } from '../frontier/schedule/lots.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Images } from './images/images.ts';
import type { Round } from './round.ts';

/** How often the ledger is asked, milliseconds. */
const ASK_EVERY = 1000;
/** Days of unspent budget that a collection may save up. */
const MOST_SAVED = 7;
/** Pages let into the lanes at once. */
const SLICE = 256;
const SMALL_SLICE = 32;
/** Where only pages are counted: errands to other machines should be full. */
const LARGE_SLICE = 4096;
const ROUND_PARTS = 8;
/** Pages passed over besides those under way: given out in this round, and due again for a reason of their own. */
const BESIDES = 2048;
/** Looks at what is no page of its own (dead links, redirects, second addresses), for each look at a page. */
const ASIDE = 1 / 20;
/** Bytes that a visit is expected to cost until some have shown. */
const FIRST_COST = 10_000;
/** Milliseconds that a round waits for sitemaps before it goes on without them, and for a server that paused it. */
const SITEMAP_PATIENCE = 30_000;
const PATIENCE = 60_000;

export interface Supply {
  /** Called once a turn of home's loop. */
  fill(): void;
  /** Something will come up soon, though nothing is under way now. */
  worthWaiting(): boolean;
  /** Pages that the budget does not allow any more in this run; for the summary. */
  readonly left: number;
}

export interface SupplyParts {
  readonly ledger: Ledger;
  readonly frontier: Frontier;
  readonly clock: Clock;
  /** Looks at images come on top of those at pages. */
  readonly images?: Images;
  /** New pages that the bounds of the crawl leave room for; absent = any number. */
  readonly newPages?: number;
}

/** Retries fall due while a crawl goes on; it waits for them, and for servers that asked for a pause, with patience. */
export function crawlSupply({ ledger, frontier, clock }: SupplyParts, patience: number): Supply {
  const retries = retriesOf({ ledger, frontier, clock });
  return {
    left: 0,
    fill: retries,
    worthWaiting() {
      const until = clock.now() + patience;
      if (frontier.full) return false;
      if (frontier.waiting().wake <= until) return true;
      const retry = ledger.pages.nextRetry();
      return retry !== undefined && retry.time <= until;
    },
  };
}

/** What a budget allows: pages, bytes, or both. */
export interface Allowance {
  /** Visits a day. */
  readonly pages: number;
  /** Bytes on the wire a day. */
  readonly bytes: number;
}

/**
 * One round: what is due, or comes next, as far as the budget since the last round (or the crawl) goes, and a
 * day's at the least: who asks for a round gets one. Sitemaps are read first, because they say which pages have changed.
 * Where an earlier run left the round unfinished, what that one visited is done, and paid.
 */
export function refreshSupply(parts: SupplyParts, round: Round, allowance: Allowance, spent: () => number): Supply {
  const { ledger, frontier, clock, images, newPages = Number.POSITIVE_INFINITY } = parts;
  const { settings } = frontier.schedule;
  const now = clock.now();
  const began = clock.ticks();
  const { days, most, bytes, horizon, given } = termsOf(parts, round, allowance);
  const slices = sliceOf(most, Number.isFinite(bytes), settings.freshness !== undefined);
  let admitted = 0;
  let sitemapsRead = false;
  let dry = false;
  frontier.again(ledger.pages.due('sitemaps', now + (days * DAY) / 2, most, round.begun));
  const aside = asideOf(parts, (until, most) => ledger.pages.due('aside', until, most, round.begun));
  const lots = lotsOf(ledger, most, round.begun);
  const room = () => roomFor(frontier, bytes - spent(), spent());
  const waiting = () => (slices === SMALL_SLICE ? frontier.outstanding : frontier.pagesWaiting);
  /** Lets new pages in, too; returns how many. */
  const admit = (wanted: number) => {
    const pages = frontier.admit(Math.max(0, Math.min(wanted, slices, most - given.size, newPages - admitted, room())));
    for (const page of pages) given.add(page);
    admitted += pages.length;
    return pages.length;
  };
  /** What comes next; asked for anew each time, because visits bring others forward. */
  const next = (): { page: number; server: number }[] => {
    if (settings.freshness !== undefined) relearn(parts, now);
    // Those that wait or are under way are still due.
    const asked = slices + frontier.outstanding + BESIDES;
    const due = ledger.pages.due(kindOf(frontier), horizon, asked, round.begun);
    return due.filter(({ page }) => !given.has(page)).slice(0, Math.min(slices, most - given.size, room()));
  };
  return {
    get left() {
      return ledger.pages.countDue(now);
    },
    fill() {
      sitemapsRead ||= frontier.quiet || clock.ticks() - began > SITEMAP_PATIENCE;
      if (sitemapsRead) draw(frontier, lots.splice(0), given);
      while (sitemapsRead && !dry && waiting() < slices && room() > 0) {
        // Of the budget new pages leave half to those that are due, unless these do not use it up.
        const fresh = admit(Math.min(Math.ceil(most / 2) - admitted, Math.ceil(room() / 2)));
        const slice = next();
        for (const { page } of slice) given.add(page);
        frontier.again(slice);
        dry = fresh + slice.length === 0 && admit(most) === 0;
      }
      if (room() > 0) aside(given.size, now + (days * DAY) / 2);
      if (room() > 0) images?.fill(given.size, { until: horizon, seenBefore: round.begun });
    },
    worthWaiting() {
      if (!sitemapsRead || images?.busy || frontier.waiting().wake <= clock.now() + PATIENCE) return true;
      if (!frontier.quiet || room() <= 0) return false;
      // The visits that came back last may have brought others forward.
      const full = given.size >= most || admitted >= newPages;
      dry = next().length === 0 && (frontier.newcomers === 0 || full);
      return !dry;
    },
  };
}

/** How far a round goes, and what of it is done. */
interface Terms {
  /** Whose budget it has. */
  readonly days: number;
  /** Pages and bytes that it may take; of the bytes, those that are left. */
  readonly most: number;
  readonly bytes: number;
  /** Pages that are due by then; milliseconds since 1970. */
  readonly horizon: number;
  /** Pages that it has taken, of those that it may. */
  readonly given: Set<number>;
}

function termsOf({ ledger, frontier, clock }: SupplyParts, { begun, before }: Round, allowance: Allowance): Terms {
  const { plan, settings } = frontier.schedule;
  const days = Math.min(MOST_SAVED, Math.max(1, (begun - before) / DAY));
  // A budget that is there is spent on what comes next; a freshness to be kept is not kept better than asked for.
  const whole = plan.policy.usesWholeBudget && settings.freshness === undefined;
  const now = clock.now();
  const done = ledger.visits.doneBetween(begun, now, kindOf(frontier) !== 'pages');
  return {
    days,
    most: Math.max(1, Math.round(allowance.pages * days)),
    bytes: allowance.bytes * days - done.bytes,
    horizon: whole ? Number.MAX_VALUE : now + (days * DAY) / 2,
    given: done.pages,
  };
}

/**
 * How many pages are let in at once: few where the bytes of each have to be counted before the next, and no more than
 * a part of the round anywhere, because visits teach about the rest. A server that seemed to change as a whole, and did
 * not, cost a third of a day's budget when all of it left at once.
 */
function sliceOf(most: number, countsBytes: boolean, aims: boolean): number {
  if (countsBytes) return SMALL_SLICE;
  const part = Math.ceil(most / ROUND_PARTS);
  return Math.max(SMALL_SLICE, Math.min(part, aims ? SLICE : LARGE_SLICE));
}

/**
 * What a wanted freshness takes is a guess until visits have shown how often pages change. A first round learns it from
 * some hundreds, and leaves the rest alone where it would have asked for all.
 */
function relearn({ ledger, frontier }: SupplyParts, now: number): void {
  if (!frontier.schedule.outgrown) return;
  ledger.begin();
  frontier.schedule.reschedule(now);
}

/** Lets what stands aside go as far as its budget allows, which grows with the looks at pages. */
function asideOf(
  { frontier }: SupplyParts,
  due: (until: number, most: number) => { page: number; server: number }[],
): (visits: number, until: number) => void {
  const given = new Set<number>();
  let sought = 0;
  return (visits, until) => {
    const most = Math.ceil(visits * ASIDE) - given.size;
    if (most < 1 || visits === sought) return;
    sought = visits;
    const next = due(until, most + given.size).filter(({ page }) => !given.has(page));
    for (const { page } of next.slice(0, most)) given.add(page);
    frontier.again(next.slice(0, most));
  };
}

/** Lets pages go that were chosen by lot. */
function draw(frontier: Frontier, lots: readonly { page: number; server: number }[], given: Set<number>): void {
  const drawn = lots.filter(({ page }) => !given.has(page));
  for (const { page } of drawn) given.add(page);
  for (const { page } of drawn) frontier.schedule.audits.add(page);
  frontier.again(drawn);
}

/** Images that are kept are like pages. */
function kindOf({ options }: Frontier): 'pages' | 'pages and images' {
  return options.images === 'store' ? 'pages and images' : 'pages';
}

/**
 * Visits that may be added to those under way, at what a visit has cost so far in this run. All of them together take
 * at most half of the bytes that are left, because pages differ: towards the end they go one by one.
 */
function roomFor(frontier: Frontier, left: number, spent: number): number {
  if (!Number.isFinite(left)) return left;
  const cost = frontier.settled === 0 ? FIRST_COST : spent / frontier.settled;
  return Math.max(0, Math.ceil(left / cost / 2) - frontier.outstanding);
}

/** Goes on for ever: visits are let go at the pace of the budget, most overdue first. */
export function watchSupply(parts: SupplyParts, allowance: () => Allowance, spent: () => number): Supply {
  const { ledger, frontier, clock, images } = parts;
  let { newPages = Number.POSITIVE_INFINITY } = parts;
  const { schedule } = frontier;
  const retries = retriesOf(parts);
  let tokens = { pages: 0, bytes: 0, seen: spent() };
  let time = clock.ticks();
  let scheduled = time;
  let given = new Set<number>();
  const aside = asideOf(parts, (until, most) => ledger.pages.due('aside', until, most));
  let turn = 0;
  let visits = 0;
  return {
    left: 0,
    fill() {
      retries();
      const now = clock.now();
      const ticks = clock.ticks();
      if (ticks - time < ASK_EVERY) return;
      tokens = grown(tokens, allowance(), (ticks - time) / DAY, spent());
      time = ticks;
      if (ticks - scheduled > DAY) {
        scheduled = ticks;
        ledger.begin();
        schedule.reschedule(now);
        schedule.noteFreshness(now);
      }
      let room = Math.floor(Math.min(SLICE * 16, tokens.pages, roomFor(frontier, tokens.bytes, spent())));
      if (room < 1) return;
      // New pages and those that are due take turns, so that neither keeps the other out.
      const admitted = turn++ % 2 === 0 ? frontier.admit(Math.min(room, newPages)).length : 0;
      newPages -= admitted;
      room -= admitted;
      tokens.pages -= admitted;
      // Those on their way are still due; they are passed over, not asked for twice.
      const most = room + given.size;
      const due = [...ledger.pages.due('sitemaps', now, most), ...ledger.pages.due(kindOf(frontier), now, most)];
      const fresh = due.filter(({ page }) => !given.has(page)).slice(0, room);
      given = new Set([
        ...due.map(({ page }) => page).filter(page => given.has(page)),
        ...fresh.map(each => each.page),
      ]);
      tokens.pages -= fresh.length;
      frontier.again(fresh);
      visits += admitted + fresh.length;
      aside(visits, now);
      images?.fill(visits, { until: now });
    },
    worthWaiting: () => true,
  };
}

interface Tokens {
  pages: number;
  bytes: number;
  /** Bytes spent when they were last counted. */
  seen: number;
}

/** What was not used may be saved up for an hour, so that a busy moment does not have to wait. */
function grown(tokens: Tokens, { pages, bytes }: Allowance, days: number, spent: number): Tokens {
  return {
    pages: Math.min(tokens.pages + pages * days, Math.max(1, pages / 24)),
    bytes: Math.min(tokens.bytes + bytes * days - (spent - tokens.seen), Math.max(1, bytes / 24)),
    seen: spent,
  };
}

/** Puts failures back into their lanes when their time has come. A retry is always set for later, so none slips by. */
function retriesOf({ ledger, frontier, clock }: SupplyParts): () => void {
  let until = 0;
  return () => {
    const now = clock.now();
    if (now - until < ASK_EVERY) return;
    frontier.again(ledger.pages.retries(until, now));
    until = now;
  };
}
