/** Keeps a watch at its budget, and close behind pages that are known to change. */
import { DAY } from '../base/clock.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { FLAG_DOUBTED, type KnownRow } from '../ledger/pages/known-row.ts';
import type { Server } from '../ledger/servers.ts';
import { LEAST_INTERVAL } from '../revisit/policy.ts';
import type { ChangeState } from '../revisit/state.ts';
import { type Load, steer } from '../revisit/value.ts';
import type { ScheduleLesson } from './schedule/lesson.ts';

/** Crawl delays by which a server at its limit may be late: without some delay its slots would go unused. */
const BACKLOG = 20;
/** Share of its slots that a server's pages must want before politeness counts as the limit. */
const AT_ITS_LIMIT = 0.5;
/** Default milliseconds between requests. */
const USUAL_PACE = 1000;

/** The page was due by its own value: only then does its delay say something about the budget. */
function isOwnTurn({ due, pings, flags, seen_time }: KnownRow, server: Server): boolean {
  return due !== null && pings === 0 && !(flags & FLAG_DOUBTED) && !(server.wave > (seen_time ?? 0));
}

/**
 * When visits are late, more is due than the budget allows, so the threshold rises a little; when they are early, it falls. If
 * politeness to a server is the limit, only the threshold of that server rises: its best pages come first, and those of
 * others need not wait. `lag`: days.
 */
function steerBoth(
  { theta, server, pages }: { readonly theta: number; readonly server: Server; readonly pages: number },
  lag: number,
  load: Load,
): { theta: number; multiplier: number } {
  const pace = Math.max(server.pace ?? USUAL_PACE, server.crawlDelay) / DAY;
  const wanted = (load.budget * pages) / load.pages;
  const { multiplier } = server;
  if (wanted * pace <= AT_ITS_LIMIT && multiplier <= 1.0001) return { theta: steer(theta, lag, load), multiplier };
  const own = steer(multiplier, lag - BACKLOG * pace, load, load.pages / Math.max(1, pages));
  return { theta, multiplier: Math.max(1, own) };
}

/** Thresholds after a visit: returns the common one, and writes the server's own to the ledger where it has moved. */
export function steerAfter(
  { servers, pages: known }: Ledger,
  { theta, visits }: { readonly theta: number; readonly visits: number },
  { visit, before, server, pages }: ScheduleLesson,
): number {
  if (!before || !isOwnTurn(before, server)) return theta;
  const all = Math.max(1, known.size);
  const load = { pages: all, budget: visits || 0.1 * all };
  const steered = steerBoth({ theta, server, pages }, (visit.time - before.due!) / DAY, load);
  if (steered.multiplier !== server.multiplier) {
    server.multiplier = steered.multiplier;
    servers.touch(server);
  }
  return steered.theta;
}

/** Changes after which a page is known to change, and the share of the budget for such pages. */
const KNOWN_CHANGES = 2;
const PART = 0.5;

/**
 * A watch reports changes. So, where the budget allows it, it checks a page that is known to change within the time in which it
 * usually changes once, although a schedule for freshness alone would give up the fastest pages.
 */
export class Rhythm {
  #allowed = false;

  /** `visits`: a day, for as many pages as there are states. */
  measure(states: readonly ChangeState[], visits: number): void {
    const wanted = states.reduce((sum, state) => sum + (isKnown(state) ? rateOf(state) : 0), 0);
    this.#allowed = wanted <= PART * visits;
  }

  /** A due time, or the end of the page's own rhythm after it was `seen`; milliseconds. */
  due(state: ChangeState, seen: number, due: number): number {
    return this.#allowed && isKnown(state) ? Math.min(due, seen + DAY / rateOf(state)) : due;
  }
}

function isKnown(state: ChangeState): boolean {
  return state.changes >= KNOWN_CHANGES;
}

function rateOf({ a, b }: ChangeState): number {
  return Math.min(1 / LEAST_INTERVAL, a / b);
}
