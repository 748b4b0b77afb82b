/** A lane is a server as the frontier sees it: its waiting pages in order, and its errands under way. */

import type { ServerNews } from '../../errand/parcel.ts';
import type { ShapeCounter } from '../../errand/scope/traps.ts';
import type { Server } from '../../ledger/servers.ts';
import type { HoldableOrder } from '../orders/holdable-order.ts';

export interface Lane {
  readonly server: Server;
  readonly topLevelDomain: string;
  readonly order: HoldableOrder;
  readonly shapes: ShapeCounter;
  /** Errands under way. */
  errands: number;
  /** Pages that some machines cannot reach and that wait for another one (elsewhere.ts). */
  elsewhere: number;
  /** What other machines have seen of the server, by machine name (server-news.ts). */
  readonly views: Map<string, Pick<ServerNews, 'robots' | 'missing'> & { readonly notBefore?: number }>;
  /** Pages admitted so far, fetched or not. */
  pages: number;
}

/** Seconds of work that one errand should hold for a paced server. */
const ERRAND_SECONDS = 20;
const UNPACED_PAGES = 64;
const PACED_PAGES = 32;

/** Milliseconds between requests to this server, its Crawl-delay included. */
export function paceOf(lane: Lane, pace: number): number {
  const own = lane.server.pace ?? pace;
  return own === 0 ? 0 : Math.max(own, lane.server.crawlDelay);
}

/** How many pages one errand takes: many if nothing paces the server, otherwise as many as fit into a short lease. */
export function errandSize(pace: number): number {
  if (pace === 0) return UNPACED_PAGES;
  return Math.max(1, Math.min(PACED_PAGES, Math.round((ERRAND_SECONDS * 1000) / pace)));
}

/** Several outposts may visit the server at once, because nothing paces it and it is known to answer. */
export function spreads(lane: Lane, pace: number, connections: number): boolean {
  return paceOf(lane, pace) === 0 && connections > 1 && lane.server.robots !== undefined && lane.server.failures === 0;
}

/** Connections for each of the outposts that share a server; the pace keeper of an outpost bounds all its errands together. */
export function shareOf(connections: number, outposts: number): number {
  return Math.max(1, Math.floor(connections / outposts));
}

/** Most errands of a lane at once: several only if nothing paces the server and no outpost has it as a whole. */
export function mostErrands(lane: Lane, { pace, connections, outposts }: LaneTerms): number {
  return !lane.order.holding && spreads(lane, pace, connections) ? 2 * outposts : 1;
}

interface LaneTerms {
  readonly pace: number;
  readonly connections: number;
  readonly outposts: number;
}
