/** What a page counts for when the budget is shared out: its importance by role, and what a visit costs. */
import { DAY } from '../../base/clock.ts';
import type { Known } from '../../errand/known.ts';
import type { Visit } from '../../errand/visit.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Server } from '../../ledger/servers.ts';
import type { PingRecord } from '../../revisit/pings.ts';
import { importance, type VisitCost, visitCost } from '../../revisit/value.ts';

/** What says how often a page will change, besides its own belief. */
export interface PacedPage {
  readonly server: number;
  readonly role: Known['role'];
  readonly flags: number;
}

/** An image is a small part of a page. */
const IMAGE_WEIGHT = 0.1;

export interface ImportancePlace {
  /** Known pages that link to it. */
  readonly linksIn: number;
  readonly depth: number;
  readonly role: Known['role'];
  /** How often people wanted it lately: opens, and a little for being shown. */
  readonly searches?: number;
}

/** Importance; also what `why` shows. */
export function weighed({ linksIn, depth, role, searches = 0 }: ImportancePlace): number {
  return importance({ linksIn, depth, weight: role === 'image' ? IMAGE_WEIGHT : 1, searches });
}

/** What the page of a visit was asked for; the cause of its cost says so whatever the answer was. */
export function roleOf(visit: Pick<Visit, 'cost'>): Known['role'] {
  const { cause } = visit.cost;
  return cause === 'sitemap' || cause === 'image' ? cause : 'page';
}

/** Bytes to assume where a page has not told yet. */
const UNKNOWN_WIRE = 20_000;

/** What the last visits to a page tell of the cost of the next. */
interface CostKnown {
  /** Bytes of its last full answer. */
  readonly wire: number | null;
  /** It came with a validator. */
  readonly tagged: boolean;
  readonly outcome: string;
  readonly reason: string;
}

/** Visits that the page's own last one counts for, where its server's others are held against it. */
const OWN_VISITS = 8;

/** `byServer`: how its server answers where nothing is new. */
export function costOf(known: CostKnown, byServer: Honoured): VisitCost {
  const { wire, tagged, outcome, reason } = known;
  const body = wire ?? UNKNOWN_WIRE;
  if (!tagged) return visitCost(body, 0);
  const usual = byServer.share;
  // Also where an audit asked for the whole page after the 304: that is no cost of its own.
  const own = reason === 'not-modified' ? 1 : outcome === 'same' ? 0 : usual;
  return visitCost(body, (usual * byServer.visits + own * OWN_VISITS) / (byServer.visits + OWN_VISITS));
}

/** The same after a visit. */
export function costAfter(
  visit: Visit,
  before: { readonly wire: number | null } | undefined,
  byServer: Honoured,
): VisitCost {
  const { outcome, reason, status } = visit;
  const wire = wireOf(visit, before);
  const tagged = status === 304 || visit.etag !== undefined || visit.lastModified !== undefined;
  return costOf({ wire, tagged, outcome, reason }, byServer);
}

/** Bytes that the page costs when its server sends all of it. */
export function wireOf({ page, cost }: Visit, before: { readonly wire: number | null } | undefined): number | null {
  if (page && (cost.cause === 'delta' || cost.cause === 'dictionary')) return before?.wire ?? page.bytes;
  return page ? cost.up + cost.down : (before?.wire ?? null);
}

/** How a server answers visits that find nothing new. */
export interface Honoured {
  /** Share that are 304s; the others bring the whole body again. */
  readonly share: number;
  /** Visits behind it, as far as they count. */
  readonly visits: number;
}

/** Visits to a server that count at most, days of them, and what is assumed before there were any, as so many visits. */
const SERVER_VISITS = 8;
const SERVER_DAYS = 30;
const ASSUMED: Honoured = { share: 0.7, visits: 1 };

/** By server; what the account says of the last month. */
export function honouredBy({ servers }: Ledger, now: number): (server: number) => Honoured {
  const sums = new Map<number, { short: number; long: number }>();
  for (const { server, cause, visits } of servers.account.rows(Math.floor(now / DAY) - SERVER_DAYS)) {
    if (cause !== 'not-modified' && cause !== 'same') continue;
    const sum = sums.get(server) ?? { short: 0, long: 0 };
    sum[cause === 'same' ? 'long' : 'short'] += visits;
    sums.set(server, sum);
  }
  return server => {
    const { short, long } = sums.get(server) ?? { short: 0, long: 0 };
    const all = short + long + ASSUMED.visits;
    return { share: (short + ASSUMED.share * ASSUMED.visits) / all, visits: Math.min(SERVER_VISITS, all) };
  };
}

/** Where visits are counted, so much of the price is the visit itself; the rest follows its bytes. */
const BY_VISITS = 0.5;
/** Share of visits that find a change, where only what a usual visit costs is asked. */
const USUAL_CHANGES = 0.1;

/** Kilobytes of a visit, on average. */
export function meanCost(costs: readonly VisitCost[]): number {
  const sum = costs.reduce((total, { visit, change }) => total + visit + USUAL_CHANGES * change, 0);
  return sum / Math.max(1, costs.length);
}

/**
 * The price of a visit where visits are counted: half a visit and half of its bytes, an average visit being 1. So
 * nothing is asked for twice as often because it is small, and nothing that brings twelve kilobytes without news each
 * time costs the same as a "not modified".
 */
export function priceByVisits({ visit, change }: VisitCost, mean: number): VisitCost {
  const part = (1 - BY_VISITS) / mean;
  return { visit: BY_VISITS + part * visit, change: part * change };
}

export function pingsOf(server: Server): PingRecord {
  const { pings, truePings, pingExpected, pingMissed } = server;
  return { pings, confirmed: truePings, expected: pingExpected, missed: pingMissed };
}

export function noteTo(server: Server, record: PingRecord): void {
  server.pings = record.pings;
  server.truePings = record.confirmed;
  server.pingExpected = record.expected;
  server.pingMissed = record.missed;
}
