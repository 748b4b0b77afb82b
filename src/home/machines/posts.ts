/**
 * All outposts as dispatch sees them, and what each has under way. It answers questions; who gets which errand is
 * dispatch's to decide (dispatch.ts).
 */
import type { Errand } from '../../errand/errand.ts';
import type { Carrier } from '../../transfer/carrier.ts';
import { type Post, pagesOf, type TrackedErrand } from './post.ts';

/** Errands given up in a row after which nothing is expected of a machine: it takes a quarter of a minute. */
const TOO_OFTEN = 5;

export class Posts {
  #posts: Post[] = [];

  add(post: Post): Post {
    this.#posts.push(post);
    return post;
  }

  /** Takes these away and returns them. */
  remove(which: (post: Post) => boolean): Post[] {
    const gone = this.#posts.filter(which);
    this.#posts = this.#posts.filter(post => !which(post));
    return gone;
  }

  get all(): readonly Post[] {
    return this.#posts;
  }

  of(carrier: Carrier): Post | undefined {
    return this.#posts.find(post => post.carrier === carrier);
  }

  named(name: string): Post | undefined {
    return this.#posts.find(post => post.name === name);
  }

  get carriers(): Carrier[] {
    return this.#posts.map(post => post.carrier).filter(carrier => carrier !== undefined);
  }

  /** An errand that this outpost has, and how far it has come; undefined = it does not have it. */
  sent(carrier: Carrier, errand: string): TrackedErrand | undefined {
    return this.of(carrier)?.errands.get(errand);
  }

  /** The errands that an outpost of this name has. */
  errandsOf(name: string): Errand[] {
    return [...(this.named(name)?.errands.values() ?? [])].map(sent => sent.errand);
  }

  /** All errands that are with an outpost which is here. */
  underWay(): { from: Carrier; errand: string }[] {
    return this.#posts.flatMap(({ carrier, errands }) =>
      carrier ? [...errands.keys()].map(errand => ({ from: carrier, errand })) : [],
    );
  }

  get idle(): boolean {
    return this.#posts.every(post => post.errands.size === 0);
  }

  /** All machines that there are have given up all that they got, again and again. */
  get stuck(): boolean {
    const here = this.#posts.filter(({ carrier }) => carrier && carrier.status?.state !== 'quarantined');
    return here.length > 0 && here.every(({ failures }) => failures >= TOO_OFTEN);
  }

  get pagesUnderWay(): number {
    return this.#posts.reduce((sum, post) => sum + pagesOf(post), 0);
  }

  /** Every outpost that is here with what it has under way, for people who watch. */
  atWork(): { carrier: Carrier; errands: number; pages: number }[] {
    const here = this.#posts.filter((post): post is Post & { carrier: Carrier } => post.carrier !== undefined);
    return here.map(post => ({ carrier: post.carrier, errands: post.errands.size, pages: pagesOf(post) }));
  }

  /** Asks all outposts to end their errands early. */
  recall(): void {
    for (const { carrier } of this.#posts) carrier?.recall();
  }

  async close(): Promise<void> {
    await Promise.all(this.carriers.map(carrier => carrier.close()));
  }
}

/** Origins of the servers that errands are at, `most` of them. */
export function serversAtWork({ all }: Posts, most: number): string[] {
  const origins = new Set<string>();
  for (const { errands } of all)
    for (const { errand } of errands.values()) if (origins.size < most) origins.add(errand.server.origin);
  return [...origins];
}
