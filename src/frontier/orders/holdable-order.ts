/**
 * An order with two additions. It can be put on hold: while a whole server is delegated to an outpost, pages found on it
 * are kept aside, because the outpost will most likely visit them by itself. What it did not visit joins the order when
 * the errand ends. And pages that a user has just asked for come before all others, whatever the order.
 */
import type { ReasonCode } from '../../errand/reasons.ts';
import type { Hint, Order } from './order-port.ts';

/** Above every relevance that a link can have. */
export const MOST_URGENT = 256;

export class HoldableOrder implements Order {
  readonly #order: Order;
  readonly #changed: (by: number) => void;
  #held: Map<number, Hint> | undefined;
  /** Pages that come first, and those of them that the order still has. */
  readonly #first: number[] = [];
  readonly #twice = new Set<number>();

  /** `changed`: so many pages more wait here, or fewer; those kept aside count. */
  constructor(order: Order, changed: (by: number) => void = () => {}) {
    this.#order = order;
    this.#changed = changed;
  }

  /** Pages that may be taken. */
  get size(): number {
    return this.#first.length + this.#order.size - this.#twice.size;
  }

  get top(): number {
    return this.#first.length > 0 ? MOST_URGENT : this.#order.top;
  }

  get called(): boolean {
    return this.#first.length > 0 || (this.#order.called ?? true);
  }

  /** Pages kept aside. */
  get held(): number {
    return this.#held?.size ?? 0;
  }

  add(page: number, hint: Hint): ReasonCode | undefined {
    const refused = this.#held ? undefined : this.#order.add(page, hint);
    this.#held?.set(page, hint);
    if (!refused) this.#changed(1);
    return refused;
  }

  /** A page that waits in the order comes before all others; one that is kept aside is its outpost's to visit. */
  first(page: number): void {
    if (this.#held?.has(page) || this.#twice.has(page)) return;
    this.#first.push(page);
    this.#twice.add(page);
    this.#changed(0);
  }

  take(count: number): number[] {
    const pages = this.#first.splice(0, count);
    for (let more = this.size > 0; more && pages.length < count; ) {
      const taken = this.#order.take(count - pages.length);
      for (const page of taken) if (!this.#twice.delete(page)) pages.push(page);
      more = taken.length > 0 && this.size > 0;
    }
    this.#changed(-pages.length);
    return pages;
  }

  backward(page: number): void {
    if (!this.#held?.has(page)) this.#order.backward(page);
  }

  forward(links: number): void {
    this.#order.forward(links);
  }

  get holding(): boolean {
    return this.#held !== undefined;
  }

  /** The page is kept aside. */
  holds(page: number): boolean {
    return this.#held?.has(page) ?? false;
  }

  /** From now on pages are kept aside. */
  hold(): void {
    this.#held ??= new Map();
  }

  /** The outpost visited this page. */
  visited(page: number): void {
    if (this.#held?.delete(page)) this.#changed(-1);
  }

  /** The errand is over: what was kept aside waits like all others. */
  release(): void {
    const held = this.#held;
    this.#held = undefined;
    for (const [page, hint] of held ?? []) if (this.#order.add(page, hint)) this.#changed(-1);
  }
}
