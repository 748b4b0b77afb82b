/**
 * Gives machines that join late a share. In a paced first crawl the first machines hold whole servers for as long as these
 * take, so a machine that comes later would have nothing to do. Therefore a machine with several servers gives them back, and
 * they are shared again. Answers to the requests that it has already sent still count, so no page is visited twice.
 */
import type { Errand } from '../../errand/errand.ts';
import type { Post } from './post.ts';

/** A machine that has been idle for so many milliseconds gets a share. */
const IDLE = 1000;
/** Milliseconds between two such moves, because each ends errands that were going well. */
const PAUSE = 10_000;
/** Servers on the move that are remembered; beyond, some are asked a little early. */
const REMEMBERED = 100_000;

/** Which post gives which servers back, and for whom. */
interface Move {
  readonly from: Post;
  readonly to: Post;
  readonly errands: readonly Errand[];
}

/** Finds the post that can give the most to an idle machine; undefined = there is nothing to move. */
export function moveFor(idle: readonly Post[], posts: readonly Post[], now: number): Move | undefined {
  const waiting = idle.filter(
    ({ carrier, errands, idleSince, waitsForShare }) =>
      carrier?.remote && errands.size === 0 && now - idleSince >= IDLE && !waitsForShare,
  );
  const moves = waiting.flatMap(to => posts.map(from => ({ from, to, errands: movable(from, to) })));
  const most = moves.toSorted((a, b) => b.errands.length - a.errands.length)[0];
  return most && most.errands.length > 0 ? most : undefined;
}

/** Servers that one post could give to another. The post that stands for a server gets it; others keep at least one. */
function movable(from: Post, to: Post): Errand[] {
  const errands = [...from.errands.values()].map(({ errand }) => errand);
  const paced = errands.filter(({ server }) => server.pace > 0 && to.may(`${server.origin}/`));
  return from === to || from.stands || paced.length < (to.stands ? 1 : 2) ? [] : paced;
}

/** Servers that move between machines: they wait meanwhile, because each machine would pace them without knowing of the other. */
export class Moves {
  /** By origin, until when nobody may visit it (ticks); infinite = the errand that has it has not ended. */
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
