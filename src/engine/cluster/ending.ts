/**
 * When a crawl is over: nobody has anything left, and nothing is on its way between peers. Each says in its heartbeats
 * whether it is quiet, and how much it has done so far; when all are quiet and nobody has done anything in between, for
 * some heartbeats, nothing can come any more: whoever has links for another is not quiet until the other has them durably.
 */
import type { PeerMembers } from '../../cluster/members/members.ts';

/** Milliseconds for which all must have been quiet: three heartbeats, so that each has spoken twice. */
const LONG_ENOUGH = 3000;

export class Ending {
  readonly #members: PeerMembers;
  #seen = '';
  #since = 0;

  constructor(members: PeerMembers) {
    this.#members = members;
  }

  /** Whether it is over, by what is known at `ticks`. `complete`: every partition is held by one who lives. */
  isOver(ticks: number, complete: boolean): boolean {
    const all = this.#members.list().filter(({ liveness }) => liveness !== 'dead');
    const quiet =
      complete && all.length > 0 && all.every(each => each.liveness === 'living' && isQuiet(each.heartbeat));
    const now = quiet ? all.map(({ name, heartbeat }) => `${name} ${heartbeat.session} ${heartbeat.quiet}`).join() : '';
    if (now === '' || now !== this.#seen) {
      this.#seen = now;
      this.#since = ticks;
      return false;
    }
    return ticks - this.#since >= LONG_ENOUGH;
  }
}

function isQuiet({ phase, quiet }: { phase: string; quiet?: number | undefined }): boolean {
  return phase === 'working' && quiet !== undefined;
}
