/**
 * Who joins gets a share. In a paced first crawl whoever came first has every server as a whole, for as long as it takes;
 * a machine that comes later would have nothing to do until one of them ends. So one that has several gives them back, and
 * they are shared anew. What it had asked for by then arrives: nothing is visited twice for it.
 */
import type { Errand } from '../../errand/errand.ts';
import type { Post } from './post.ts';

/** Milliseconds without anything to do after which a machine is given a share. */
const IDLE = 1000;
/** Milliseconds from one such move to the next: each ends errands that were going well. */
const PAUSE = 10_000;
/** Servers on the move that are remembered; beyond, some are asked a little early. */
const REMEMBERED = 100_000;

/** Who is to give which servers back, and for whom. */
interface Move {
  readonly from: Post;
  readonly to: Post;
  readonly errands: readonly Errand[];
}

/** The post that has most for a machine that has had nothing to do for a moment; undefined = all is well. */
export function moveFor(idle: readonly Post[], posts: readonly Post[], now: number): Move | undefined {
  const waiting = idle.filter(
    ({ carrier, errands, idleSince, waitsForShare }) =>
      carrier?.remote && errands.size === 0 && now - idleSince >= IDLE && !waitsForShare,
  );
  const moves = waiting.flatMap(to => posts.map(from => ({ from, to, errands: movable(from, to) })));
  const most = moves.toSorted((a, b) => b.errands.length - a.errands.length)[0];
  return most && most.errands.length > 0 ? most : undefined;
}

/** Servers that this post could give to that one. One that stands for a server gets it, any other leaves it the last. */
function movable(from: Post, to: Post): Errand[] {
  const errands = [...from.errands.values()].map(({ errand }) => errand);
  const paced = errands.filter(({ server }) => server.pace > 0 && to.may(`${server.origin}/`));
  return from === to || from.stands || paced.length < (to.stands ? 1 : 2) ? [] : paced;
}

/** Servers that go from one machine to another, each of which would keep its pace and know nothing of the other's. */
export class Moves {
  /** By origin, until when nobody visits it; infinite = the errand that had it has not ended. Ticks. */
  readonly #until = new Map<string, number>();
  #next = 0;

  due(now: number): boolean {
    return now >= this.#next;
  }

  begin(errands: readonly Errand[], now: number): void {
    this.#next = now + PAUSE;
    if (this.#until.size > REMEMBERED) this.#until.clear();
    for (const { server } of errands) this.#until.set(server.origin, Number.POSITIVE_INFINITY);
  }

  /** An errand has ended: if its server was on the move, it may be visited when its pace allows. */
  ended({ server }: Errand, now: number): void {
    if (this.#until.has(server.origin)) this.#until.set(server.origin, now + server.pace);
  }

  /** Nobody may visit the server just now. */
  waits(origin: string, now: number): boolean {
    const until = this.#until.get(origin);
    if (until === undefined || until === Number.POSITIVE_INFINITY) return false;
    if (now < until) return true;
    this.#until.delete(origin);
    return false;
  }
}
