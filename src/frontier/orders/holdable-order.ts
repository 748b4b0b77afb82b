/**
 * An order that can be put on hold: while a whole server is delegated to an outpost, pages found on it are kept aside,
 * because the outpost will most likely visit them by itself. What it did not visit joins the order when the errand ends.
 */
import type { ReasonCode } from '../../errand/reasons.ts';
import type { Hint, Order } from './order-port.ts';

export class HoldableOrder implements Order {
  readonly #order: Order;
  readonly #changed: (by: number) => void;
  #held: Map<number, Hint> | undefined;

  /** `changed`: so many pages more wait here, or fewer; those kept aside count. */
  constructor(order: Order, changed: (by: number) => void = () => {}) {
    this.#order = order;
    this.#changed = changed;
  }

  /** Pages that may be taken. */
  get size(): number {
    return this.#order.size;
  }

  get top(): number {
    return this.#order.top;
  }

  get called(): boolean {
    return this.#order.called ?? true;
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

  take(count: number): number[] {
    const pages = this.#order.take(count);
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
