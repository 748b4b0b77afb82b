/**
 * Which outpost takes an errand. A server stays with the outpost that has its connections and its clock; servers that
 * share an address stay together, so that the address is paced by one keeper. Only what nothing paces is spread.
 */
import type { Errand } from '../errand/errand.ts';
import type { Carrier } from '../transfer/carrier.ts';

export interface Placement {
  /** Address of the server as far as known. */
  readonly address: string;
  /** The server may be visited by several outposts at once. */
  readonly spread: boolean;
}

interface Post {
  readonly carrier: Carrier;
  readonly errands: Map<string, { readonly errand: Errand; left: number }>;
  /** Pages under way. */
  pages: number;
}

export class Dispatch {
  readonly #posts: Post[] = [];
  readonly #home = new Map<string, Post>();

  join(carrier: Carrier): void {
    this.#posts.push({ carrier, errands: new Map(), pages: 0 });
  }

  /** Removes a lost outpost and returns the errands that it did not finish. */
  leave(carrier: Carrier): Errand[] {
    const index = this.#posts.findIndex(post => post.carrier === carrier);
    if (index < 0) return [];
    const [post] = this.#posts.splice(index, 1);
    for (const [key, at] of this.#home) if (at === post) this.#home.delete(key);
    return [...post!.errands.values()].map(sent => sent.errand);
  }

  get size(): number {
    return this.#posts.length;
  }

  get idle(): boolean {
    return this.#posts.every(post => post.errands.size === 0);
  }

  get pagesUnderWay(): number {
    return this.#posts.reduce((sum, post) => sum + post.pages, 0);
  }

  /** Every outpost with what it has under way, for people who watch. */
  posts(): { carrier: Carrier; errands: number; pages: number }[] {
    return this.#posts.map(({ carrier, errands, pages }) => ({ carrier, errands: errands.size, pages }));
  }

  /** Some outpost can take more. */
  hasRoom(): boolean {
    return this.#posts.some(post => post.pages < post.carrier.room);
  }

  send(errand: Errand, placement: Placement): void {
    const post = placement.spread ? this.#leastLoaded() : this.#homeOf(errand.server.origin, placement.address);
    post.errands.set(errand.id, { errand, left: errand.pages.length });
    post.pages += errand.pages.length;
    post.carrier.send(errand);
  }

  /** Counts visits that came back. False: this outpost was never sent that errand, or has already ended it. */
  returned(carrier: Carrier, errand: string, visits: number, done: boolean): boolean {
    const post = this.#posts.find(each => each.carrier === carrier);
    const sent = post?.errands.get(errand);
    if (!post || !sent) return false;
    const back = done ? sent.left : Math.min(visits, sent.left);
    sent.left -= back;
    post.pages -= back;
    if (done) post.errands.delete(errand);
    return true;
  }

  recall(): void {
    for (const post of this.#posts) post.carrier.recall();
  }

  async close(): Promise<void> {
    await Promise.all(this.#posts.map(post => post.carrier.close()));
  }

  #homeOf(origin: string, address: string): Post {
    const known = this.#home.get(origin) ?? (address === '' ? undefined : this.#home.get(address));
    const post = known ?? this.#leastLoaded();
    this.#home.set(origin, post);
    if (address !== '' && !this.#home.has(address)) this.#home.set(address, post);
    return post;
  }

  #leastLoaded(): Post {
    return this.#posts.reduce((least, post) =>
      post.pages / post.carrier.room < least.pages / least.carrier.room ? post : least,
    );
  }
}
