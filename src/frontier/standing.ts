/** What a page counts for when the budget is shared out: its importance by role, and what a visit costs. */
import type { Known } from '../errand/known.ts';
import type { Visit } from '../errand/visit.ts';
import type { Server } from '../ledger/servers.ts';
import type { PingRecord } from '../revisit/pings.ts';
import { importance, type VisitCost, visitCost } from '../revisit/value.ts';

/** An image is a small part of a page. */
const IMAGE_WEIGHT = 0.1;

export interface Place {
  /** Known pages that link to it. */
  readonly linksIn: number;
  readonly depth: number;
  readonly role: Known['role'];
  /** How often people wanted it lately: opens, and a little for being shown. */
  readonly searches?: number;
}

/** Importance; also what `why` shows. */
export function weighed({ linksIn, depth, role, searches = 0 }: Place): number {
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
export interface CostKnown {
  /** Bytes of its last full answer. */
  readonly wire: number | null;
  /** It came with a validator. */
  readonly tagged: boolean;
  readonly outcome: string;
  readonly reason: string;
}

/** Share of unchanged visits that end in a 304: of a page that did so last time, one that did not, one that may. */
const HONOURED = { yes: 0.95, no: 0.1, perhaps: 0.7 };

export function costOf(known: CostKnown): VisitCost {
  const { wire, tagged, outcome, reason } = known;
  if (!tagged) return visitCost(wire ?? UNKNOWN_WIRE, 0);
  // Also where an audit asked for the whole page after the 304: that is no cost of its own.
  const honoured = reason === 'not-modified' ? HONOURED.yes : outcome === 'same' ? HONOURED.no : HONOURED.perhaps;
  return visitCost(wire ?? UNKNOWN_WIRE, honoured);
}

/** The same after a visit. */
export function costAfter(visit: Visit, before: { readonly wire: number | null } | undefined): VisitCost {
  const { outcome, reason, status, cost } = visit;
  const wire = visit.page ? cost.up + cost.down : (before?.wire ?? null);
  const tagged = status === 304 || visit.etag !== undefined || visit.lastModified !== undefined;
  return costOf({ wire, tagged, outcome, reason });
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
