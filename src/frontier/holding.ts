/**
 * An order that can be put on hold: while a whole server is delegated to an outpost, pages found on it are kept aside,
 * because the outpost will most likely visit them by itself. What it did not visit joins the order when the errand ends.
 */
import type { ReasonCode } from '../errand/reasons.ts';
import type { Hint, Order } from './order-port.ts';

export class HoldingOrder implements Order {
  readonly #order: Order;
  #held: Map<number, Hint> | undefined;

  constructor(order: Order) {
    this.#order = order;
  }

  /** Pages that may be taken. */
  get size(): number {
    return this.#order.size;
  }

  get top(): number {
    return this.#order.top;
  }

  /** Pages kept aside. */
  get held(): number {
    return this.#held?.size ?? 0;
  }

  add(page: number, hint: Hint): ReasonCode | undefined {
    if (!this.#held) return this.#order.add(page, hint);
    this.#held.set(page, hint);
    return undefined;
  }

  take(count: number): number[] {
    return this.#order.take(count);
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
    this.#held?.delete(page);
  }

  /** The errand is over: what was kept aside waits like all others. */
  release(): void {
    const held = this.#held;
    this.#held = undefined;
    for (const [page, hint] of held ?? []) this.#order.add(page, hint);
  }
}
