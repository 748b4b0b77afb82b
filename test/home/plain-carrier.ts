/** A way to an outpost on another machine that does nothing by itself; a test says what matters to it. */
import type { Carrier } from '../../src/transfer/carrier.ts';

export function carrier(name: string, more: Partial<Carrier> = {}): Carrier {
  const nothing = () => {};
  return {
    name,
    room: 1000,
    remote: true,
    terms: { servers: [], stands: false },
    send: nothing,
    acknowledge: nothing,
    forget: nothing,
    recall: nothing,
    close: async () => {},
    ...more,
  };
}
