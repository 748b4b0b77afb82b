/** What a page counts for when the budget is shared out: its importance by role, and what a visit costs. */
import type { Known } from '../errand/known.ts';
import type { Cost, Visit } from '../errand/visit.ts';
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
}

/** Importance; also what `why` shows. */
export function weighed({ linksIn, depth, role }: Place): number {
  return importance({ linksIn, depth, weight: role === 'image' ? IMAGE_WEIGHT : 1, searches: 0 });
}

/** What the page of a visit was asked for; the cause of its cost says so whatever the answer was. */
export function roleOf(visit: Pick<Visit, 'cost'>): Known['role'] {
  const { cause } = visit.cost;
  return cause === 'sitemap' || cause === 'image' ? cause : 'page';
}

/** Bytes to assume where a page has not told yet. */
export interface CostMeans {
  readonly wire: number;
}

/** What a page's last full answer cost, and whether it came with a validator. */
export interface CostKnown {
  readonly wire: number | null;
  readonly tagged?: boolean;
  readonly etag?: string | null;
  readonly last_modified?: string | null;
}

/** Share of unchanged visits that end in a 304 where validators are sent. */
const HONOURED = 0.95;

export function costOf(means: CostMeans, cost: Cost | undefined, before: CostKnown | undefined): VisitCost {
  const tagged = before?.tagged ?? (before?.etag != null || before?.last_modified != null);
  const wire = before?.wire ?? (cost ? cost.up + cost.down : means.wire);
  return visitCost(wire, tagged ? HONOURED : 0);
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
