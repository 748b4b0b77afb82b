/**
 * What feeds the frontier while home runs, besides links: pages to try again, and pages that the schedule wants looked
 * at. One small port with three implementations: `crawl` ends when nothing is left, `refresh` after one round,
 * `watch` never.
 */
import { type Clock, DAY } from '../base/clock.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Images } from './images/images.ts';
import { keyOf, type Pool, type PoolMember, type PoolPage } from './partitions/pool.ts';
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

/** What may be spent in all, by what is known now. */
export interface Grant {
  readonly most: number;
  /** It will not become more. */
  readonly final: boolean;
}

/** A budget that several machines spend together. What each has spent so far is asked for now and then. */
export interface Purse {
  pages(issued: () => number, budget: number): Grant;
  bytes(spent: () => number, budget: number): Grant;
}

interface SupplyParts {
  /** What is fed. */
  readonly pool: Pool;
  readonly clock: Clock;
  /** Looks at images come on top of those at pages. */
  readonly images?: Images;
  /** New pages that the bounds of the crawl leave room for; absent = any number. */
  readonly newPages?: number;
  /** Pages that a timetable looks at, beside the budget. */
  readonly timed?: ((page: PoolPage) => boolean) | undefined;
  /** Absent = the budget is this machine's alone. */
  readonly purse?: Purse | undefined;
}

/** Retries fall due while a crawl goes on; it waits for them, and for servers that asked for a pause, with patience. */
export function crawlSupply({ pool, clock }: SupplyParts, patience: number): Supply {
  const retries = retriesOf({ pool, clock });
  return {
    left: 0,
    fill: retries,
    worthWaiting() {
      const until = clock.now() + patience;
      return !pool.full && (pool.wake <= until || pool.nextRetry <= until);
    },
  };
}

/** What a budget allows: pages, bytes, or both. */
export interface Spending {
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
export function refreshSupply(parts: SupplyParts, round: Round, allowance: Spending, spent: () => number): Supply {
  const { pool, clock, images, newPages = Number.POSITIVE_INFINITY } = parts;
  const now = clock.now();
  const began = clock.ticks();
  const { days, most, bytes, horizon, given } = termsOf(parts, round, allowance);
  const { pages, wire } = grantsOf(parts, { most, bytes, given, days }, allowance, spent);
  const pagesLeft = () => pages.most - given.size;
  const slices = sliceOf(most, Number.isFinite(bytes), aimed(pool));
  const soon = { time: now + (days * DAY) / 2, seenBefore: round.begun };
  let admitted = 0;
  let sitemapsRead = false;
  let dry = false;
  pool.again(pool.due('sitemaps', soon, most));
  const aside = asideOf(pool, most => pool.due('aside', soon, most));
  const lots = pool.lots(most, round.begun);
  const room = () => roomFor(pool, wire.most - spent(), spent());
  const waiting = () => (slices === SMALL_SLICE ? pool.outstanding : pool.pagesWaiting);
  /** Lets new pages in, too; returns how many. */
  const admit = (wanted: number) => {
    const pages = pool.admit(Math.max(0, Math.min(wanted, slices, pagesLeft(), newPages - admitted, room())));
    for (const page of pages) given.add(keyOf(page));
    admitted += pages.length;
    return pages.length;
  };
  const candidates = (some: number) => comingNext(pool, { horizon, given, slices, now, begun: round.begun }, some);
  const next = () => candidates(Math.min(slices, pagesLeft(), room()));
  /** Other machines may still give up what they do not need. */
  const mayGrow = () => (pagesLeft() <= 0 && !pages.final) || (room() <= 0 && !wire.final);
  return {
    get left() {
      return pool.countDue(now);
    },
    fill() {
      sitemapsRead ||= pool.quiet || clock.ticks() - began > SITEMAP_PATIENCE;
      if (sitemapsRead) draw(pool, lots.splice(0, Math.max(0, pagesLeft())), given);
      while (sitemapsRead && !dry && waiting() < slices && room() > 0 && !mayGrow()) {
        // Of the budget new pages leave half to those that are due, unless these do not use it up.
        const fresh = admit(Math.min(Math.ceil(pages.most / 2) - admitted, Math.ceil(room() / 2)));
        const slice = next();
        for (const page of slice) given.add(keyOf(page));
        pool.again(slice);
        dry = fresh + slice.length === 0 && admit(most) === 0;
      }
      if (room() > 0) aside(given.size);
      if (room() > 0) images?.fill(given.size, { time: horizon, seenBefore: round.begun });
    },
    worthWaiting() {
      if (!sitemapsRead || images?.busy || pool.wake <= clock.now() + PATIENCE) return true;
      if (!pool.quiet) return false;
      if (mayGrow()) return candidates(1).length > 0 || (pool.newcomers > 0 && admitted < newPages);
      if (room() <= 0) return false;
      // The visits that came back last may have brought others forward.
      const full = pagesLeft() <= 0 || admitted >= newPages;
      dry = next().length === 0 && (pool.newcomers === 0 || full);
      return !dry;
    },
  };
}

/** What a round may spend: its own budget, or what it is granted of one that others spend from, too. */
function grantsOf(
  { purse }: SupplyParts,
  { most, bytes, given, days }: Pick<Terms, 'most' | 'bytes' | 'given' | 'days'>,
  allowance: Spending,
  spent: () => number,
): { readonly pages: Grant; readonly wire: Grant } {
  const countsBytes = Number.isFinite(bytes);
  return {
    pages: purse && !countsBytes ? purse.pages(() => given.size, most) : { most, final: true },
    wire: purse && countsBytes ? purse.bytes(spent, allowance.bytes * days) : { most: bytes, final: true },
  };
}

interface Coming extends Pick<Terms, 'horizon' | 'given'> {
  readonly slices: number;
  readonly now: number;
  readonly begun: number;
}

/** What comes next in a round; asked for anew each time, because visits bring others forward. */
function comingNext(pool: Pool, { horizon, given, slices, now, begun }: Coming, most: number): PoolPage[] {
  for (const member of pool) relearn(member, now);
  // Those that wait or are under way are still due.
  const asked = slices + pool.outstanding + BESIDES;
  const due = pool.due(pool.kind, { time: horizon, seenBefore: begun }, asked);
  return due.filter(page => !given.has(keyOf(page))).slice(0, Math.max(0, most));
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

function termsOf({ pool, clock }: SupplyParts, { begun, before }: Round, allowance: Spending): Terms {
  const days = Math.min(MOST_SAVED, Math.max(1, (begun - before) / DAY));
  const now = clock.now();
  const given = new Set<number>();
  let bytes = allowance.bytes * days;
  for (const member of pool) {
    const done = member.ledger.visits.doneBetween(begun, now, pool.kind !== 'pages');
    for (const page of done.pages) given.add(keyOf({ member, page }));
    bytes -= done.bytes;
  }
  const [first] = pool;
  // A budget that is there is spent on what comes next; a freshness to be kept is not kept better than asked for.
  const whole = first?.frontier.schedule.plan.policy.usesWholeBudget && !aimed(pool);
  return {
    days,
    most: Math.max(1, Math.round(allowance.pages * days)),
    bytes,
    horizon: whole ? Number.MAX_VALUE : now + (days * DAY) / 2,
    given,
  };
}

/** A freshness is to be kept, and not a budget. All partitions have the same aim. */
function aimed(pool: Pool): boolean {
  for (const { frontier } of pool) return frontier.schedule.settings.freshness !== undefined;
  return false;
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
function relearn({ ledger, frontier }: PoolMember, now: number): void {
  const { schedule } = frontier;
  if (schedule.settings.freshness === undefined || !schedule.outgrown) return;
  ledger.begin();
  schedule.reschedule(now);
}

/** Lets what stands aside go as far as its budget allows, which grows with the looks at pages. */
function asideOf(pool: Pool, due: (most: number) => PoolPage[]): (visits: number) => void {
  const given = new Set<number>();
  let sought = 0;
  return visits => {
    const most = Math.ceil(visits * ASIDE) - given.size;
    if (most < 1 || visits === sought) return;
    sought = visits;
    const next = due(most + given.size)
      .filter(page => !given.has(keyOf(page)))
      .slice(0, most);
    for (const page of next) given.add(keyOf(page));
    pool.again(next);
  };
}

/** Lets pages go that were chosen by lot. */
function draw(pool: Pool, lots: readonly PoolPage[], given: Set<number>): void {
  const drawn = lots.filter(page => !given.has(keyOf(page)));
  for (const page of drawn) given.add(keyOf(page));
  for (const { member, page } of drawn) member.frontier.schedule.audits.add(page);
  pool.again(drawn);
}

/**
 * Visits that may be added to those under way, at what a visit has cost so far in this run. All of them together take
 * at most half of the bytes that are left, because pages differ: towards the end they go one by one.
 */
function roomFor(pool: Pool, left: number, spent: number): number {
  if (!Number.isFinite(left)) return left;
  const cost = pool.settled === 0 ? FIRST_COST : spent / pool.settled;
  return Math.max(0, Math.ceil(left / cost / 2) - pool.outstanding);
}

/** Goes on for ever: visits are let go at the pace of the budget, most overdue first. */
export function watchSupply(parts: SupplyParts, allowance: () => Spending, spent: () => number): Supply {
  const { pool, clock, images, timed = () => false } = parts;
  let { newPages = Number.POSITIVE_INFINITY } = parts;
  const retries = retriesOf(parts);
  let tokens = { pages: 0, bytes: 0, seen: spent() };
  let time = clock.ticks();
  let scheduled = time;
  let given = new Set<number>();
  const aside = asideOf(pool, most => pool.due('aside', { time: clock.now() }, most));
  let turn = 0;
  let visits = 0;
  const { pages, bytes } = allowance();
  const shared = parts.purse && {
    pages: Number.isFinite(pages) ? parts.purse.pages(() => visits, pages) : unlimited,
    bytes: Number.isFinite(bytes) ? parts.purse.bytes(spent, bytes) : unlimited,
  };
  return {
    left: 0,
    fill() {
      retries();
      const now = clock.now();
      const ticks = clock.ticks();
      if (ticks - time < ASK_EVERY) return;
      tokens = shared
        ? { pages: shared.pages.most - visits, bytes: shared.bytes.most - spent(), seen: spent() }
        : grown(tokens, allowance(), (ticks - time) / DAY, spent());
      time = ticks;
      if (ticks - scheduled > DAY) {
        scheduled = ticks;
        for (const member of pool) rescheduled(member, now);
      }
      let room = Math.floor(Math.min(SLICE * 16, tokens.pages, roomFor(pool, tokens.bytes, spent())));
      if (room < 1) return;
      // New pages and those that are due take turns, so that neither keeps the other out.
      const admitted = turn++ % 2 === 0 ? pool.admit(Math.min(room, newPages)).length : 0;
      newPages -= admitted;
      room -= admitted;
      tokens.pages -= admitted;
      // Those on their way are still due; they are passed over, not asked for twice.
      const most = room + given.size;
      const due = [...pool.due('sitemaps', { time: now }, most), ...pool.due(pool.kind, { time: now }, most)];
      const fresh = due.filter(page => !given.has(keyOf(page)) && !timed(page)).slice(0, room);
      given = new Set([...due.map(keyOf).filter(key => given.has(key)), ...fresh.map(keyOf)]);
      tokens.pages -= fresh.length;
      pool.again(fresh);
      visits += admitted + fresh.length;
      aside(visits);
      images?.fill(visits, { time: now });
    },
    worthWaiting: () => true,
  };
}

const unlimited: Grant = { most: Number.POSITIVE_INFINITY, final: true };

/** The schedule made anew, once a day. */
function rescheduled({ ledger, frontier }: PoolMember, now: number): void {
  ledger.begin();
  frontier.schedule.reschedule(now);
  frontier.schedule.noteFreshness(now);
}

interface Tokens {
  pages: number;
  bytes: number;
  /** Bytes spent when they were last counted. */
  seen: number;
}

/** What was not used may be saved up for an hour, so that a busy moment does not have to wait. */
function grown(tokens: Tokens, { pages, bytes }: Spending, days: number, spent: number): Tokens {
  return {
    pages: Math.min(tokens.pages + pages * days, Math.max(1, pages / 24)),
    bytes: Math.min(tokens.bytes + bytes * days - (spent - tokens.seen), Math.max(1, bytes / 24)),
    seen: spent,
  };
}

/** Puts failures back into their lanes when their time has come. A retry is always set for later, so none slips by. */
function retriesOf({ pool, clock }: SupplyParts): () => void {
  let asked = 0;
  /** Those of a partition that came later are looked for from the beginning. */
  const until = new WeakMap<Ledger, number>();
  return () => {
    const now = clock.now();
    if (now - asked < ASK_EVERY) return;
    asked = now;
    for (const { ledger, frontier } of pool) {
      frontier.again(ledger.pages.retries(until.get(ledger) ?? 0, now));
      until.set(ledger, now);
    }
  };
}
