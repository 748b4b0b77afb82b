/** How much of a machine's room an errand takes. */
import type { Errand } from '../../errand/errand.ts';

/**
 * Room that a server takes which is delegated as a whole: paced, it is a request now and then; unpaced, a quarter of a
 * thread's. Whoever comes first must not get everything: what waits at home goes to who is free.
 */
const UNPACED_LOAD = 1024;
const PACED_LOAD = 4;
/** Room that a page takes which another machine is to bring for the first time, unpaced; a known one takes 1. */
const NEW_PAGE_LOAD = 16;

/**
 * A page takes room until it comes back. In a thread of this machine a paced server takes what it asks for in a second,
 * until its errand ends: its pages wait for one another and keep nobody busy. Counted by pages, a thread would pace 26
 * servers at once and so fetch 26 pages a second, however many servers there are.
 */
export function loadOf({ kind, limits, pages, server }: Errand, remote: boolean): { load: number; each: number } {
  const { pace } = server;
  if (limits.follow > 0) return { load: pace === 0 ? UNPACED_LOAD : PACED_LOAD, each: 0 };
  if (pace > 0 && !remote) return { load: Math.min(pages.length, Math.max(1, Math.round(1000 / pace))), each: 0 };
  const each = remote && kind === 'explore' && pace === 0 ? NEW_PAGE_LOAD : 1;
  return { load: pages.length * each, each };
}
