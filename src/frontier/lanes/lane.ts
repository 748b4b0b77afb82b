/** A server as the frontier sees it: its pages in order, and what of it is under way. */

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
  /** Pages that wait for another machine than those that cannot reach them (elsewhere.ts). */
  elsewhere: number;
  /** What other machines see of the server, by their names; see server-news.ts. */
  readonly views: Map<string, Pick<ServerNews, 'robots' | 'missing'> & { readonly notBefore?: number }>;
  /** Pages admitted so far, fetched or not. */
  pages: number;
}

/** Pages a second that one errand's worth of work should last for a paced server. */
const ERRAND_SECONDS = 20;
const UNPACED_PAGES = 64;
const PACED_PAGES = 32;

/** Milliseconds between requests to this server, everything considered. */
export function paceOf(lane: Lane, pace: number): number {
  const own = lane.server.pace ?? pace;
  return own === 0 ? 0 : Math.max(own, lane.server.crawlDelay);
}

/** How many pages one errand takes: many where nothing paces it, else what fits into a short lease. */
export function errandSize(pace: number): number {
  if (pace === 0) return UNPACED_PAGES;
  return Math.max(1, Math.min(PACED_PAGES, Math.round((ERRAND_SECONDS * 1000) / pace)));
}

/** Nothing paces it and it is known to answer: several outposts may visit it at once. */
export function spreads(lane: Lane, pace: number, connections: number): boolean {
  return paceOf(lane, pace) === 0 && connections > 1 && lane.server.robots !== undefined && lane.server.failures === 0;
}

/** Connections for each of the outposts that share a server; all errands of one hold them together, by its pace keeper. */
export function shareOf(connections: number, outposts: number): number {
  return Math.max(1, Math.floor(connections / outposts));
}

/** Errands of a lane at once: only what nothing paces is visited by several, and not while one has the whole of it. */
export function mostErrands(lane: Lane, { pace, connections, outposts }: LaneTerms): number {
  return !lane.order.holding && spreads(lane, pace, connections) ? 2 * outposts : 1;
}

interface LaneTerms {
  readonly pace: number;
  readonly connections: number;
  readonly outposts: number;
}
