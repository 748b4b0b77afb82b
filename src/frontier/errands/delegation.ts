/**
 * How much of a server leaves in one errand. A thread of this machine gets a handful of pages at a time. An outpost on another
 * machine gets more, because the way is long. In a first crawl it gets the whole server: it follows links by itself, and
 * nobody else visits that server until it says done.
 */
import type { Ledger } from '../../ledger/ledger.ts';
import { errandSize, type Lane, paceOf, spreads } from '../lanes/lane.ts';

/** What the frontier has to know about the place to which an errand goes. */
export interface Delegation {
  /** To another machine. */
  readonly remote: boolean;
  /** Name of that machine; empty = this one. */
  readonly machine: string;
  /** It may follow links by itself. */
  readonly follow: boolean;
  /** Levels of outposts that it may travel further. */
  readonly levels: number;
  /** Outposts that share the server's connections, this one included; absent = all threads of this machine. */
  readonly among?: number;
}

export interface ServerPlace {
  readonly origin: string;
  /** Address as far as known. */
  readonly address: string;
  /** Outposts that may visit it at once. */
  readonly spread: number;
  /** Requests to it are kept apart, and so are those to others at its address. */
  readonly paced: boolean;
  /** Machines that have said that they cannot reach these pages. */
  readonly not?: ReadonlySet<string> | undefined;
  /** Machines that the server keeps away for a while: they are chosen only if there is no other. */
  readonly away?: ReadonlySet<string> | undefined;
}

export function placeOf(lane: Lane, { pace, connections }: { pace: number; connections: number }): ServerPlace {
  const { origin, address } = lane.server;
  const spread = spreads(lane, pace, connections) ? connections : 1;
  return { origin, address, spread, paced: paceOf(lane, pace) > 0 };
}

/** Where an errand of this server would go now; undefined = nowhere. */
export type Planner<D extends Delegation = Delegation> = (place: ServerPlace) => D | undefined;

export const here: Planner = () => ({ remote: false, machine: '', follow: false, levels: 0 });

/** Pages that a delegated errand may find by itself. */
export const DELEGATED = 5000;
/** Pages that any errand to another machine may name: new ones, and known ones, of which most are as they were. */
const NAMED = { explore: 512, refresh: 2048 };

interface Terms {
  readonly mode: 'explore' | 'refresh';
  readonly order: string;
  readonly depth: number;
  readonly pace: number;
  readonly lease: number;
}

/**
 * Whether an outpost may get the server as a whole: only in breadth-first order would it choose the same pages as home. Where
 * no links are followed, home knows all pages and can share them out itself.
 */
export function delegable({ mode, order, depth }: Terms, lane: Lane): boolean {
  return mode === 'explore' && order === 'breadth' && depth > 0 && lane.errands === 0;
}

const FOCUSED = 8;

/** Pages that the errand names at most. */
export function sizeOf({ remote, follow }: Delegation, lane: Lane, terms: Terms): number {
  const pace = paceOf(lane, terms.pace);
  if (follow) return DELEGATED;
  // The first errand to a server takes one page: its robots.txt and address decide how the others are sent. On a long way to a
  // server that nothing paces, that would cost too much time.
  if (lane.server.robots === undefined && !(remote && pace === 0)) return 1;
  // In a focused crawl these pages decide what comes next, so only a few leave at once.
  if (lane.order.top > 0) return FOCUSED;
  if (!remote) return errandSize(pace);
  const most = NAMED[terms.mode];
  return pace === 0 ? most : Math.max(1, Math.min(most, Math.floor((terms.lease * 0.8) / pace)));
}

/** Fingerprints of the server's pages that the errand does not name, as the errand carries them. */
export function seenOn(ledger: Ledger, { server, pages }: Lane, named: ReadonlySet<number>): Uint8Array {
  const words: number[] = [];
  const all = pages > named.size ? ledger.queries.scans.ofServer(server.id) : [];
  for (const { id, high, low } of all) if (!named.has(id)) words.push(high, low);
  const bytes = new Uint8Array(words.length * 4);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < words.length; i++) view.setUint32(i * 4, words[i]!, true);
  return bytes;
}
