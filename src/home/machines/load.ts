/** How much of a machine's room an errand takes. */
import type { Errand } from '../../errand/errand.ts';

/**
 * Room for a server that is delegated as a whole: little if it is paced, because that is a request now and then; a quarter of
 * a thread's room if not. The first machine must not get everything: what waits at home goes to whoever is free.
 */
const UNPACED_LOAD = 1024;
const PACED_LOAD = 4;
/** Room for a new page on another machine, where nothing paces it; a known page takes 1. */
const NEW_PAGE_LOAD = 16;

/**
 * A page takes room until it comes back. In a thread of this machine, however, a paced server takes as much as it requests in
 * a second, until its errand ends: its pages wait for one another and keep nobody busy. If its pages counted, a thread could
 * only hold 26 servers, and would fetch 26 pages a second however many servers there are.
 */
export function loadOf({ kind, limits, pages, server }: Errand, remote: boolean): { load: number; each: number } {
  const { pace } = server;
  if (limits.follow > 0) return { load: pace === 0 ? UNPACED_LOAD : PACED_LOAD, each: 0 };
  if (pace > 0 && !remote) return { load: Math.min(pages.length, Math.max(1, Math.round(1000 / pace))), each: 0 };
  const each = remote && kind === 'explore' && pace === 0 ? NEW_PAGE_LOAD : 1;
  return { load: pages.length * each, each };
}
