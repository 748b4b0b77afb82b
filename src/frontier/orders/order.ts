/** The orders by name. */
import { Breadth } from './breadth.ts';
import { Focused, type FocusedOptions, focusedDefaults } from './focused.ts';
import type { Order } from './order-port.ts';
import { Pvalue, type PvalueOptions, pvalueDefaults } from './pvalue.ts';

export type { Hint, Order } from './order-port.ts';

export const orderNames = ['breadth', 'pvalue', 'focused'] as const;
export type OrderName = (typeof orderNames)[number];

export type OrderOptions = Partial<FocusedOptions & PvalueOptions>;

/** A new, empty order for one server. */
export function makeOrder(name: OrderName, options: OrderOptions = {}): Order {
  if (name === 'breadth') return new Breadth();
  if (name === 'pvalue') return new Pvalue({ ...pvalueDefaults, ...options });
  return new Focused({ ...focusedDefaults, ...options });
}
