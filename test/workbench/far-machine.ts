import type { Carrier } from '../../src/transfer/carrier.ts';
import type { OutpostStatus } from '../../src/transfer/wire/messages.ts';

/** A machine with two of its own that takes no errands; enough to be seen, and to be seen to go. */
export function farMachine(): Carrier {
  const status = (name: string, outposts: OutpostStatus[]): OutpostStatus => ({
    ...{ name, state: 'working', errands: 2, pages: 40, rate: 3, bytes: 1e6, queue: 5, spooled: 0, errors: 0 },
    ...{ trouble: '', room: 0, heard: Date.now(), outposts },
  });
  const nothing = () => {};
  return {
    ...{ name: 'far-machine', room: 0, remote: true, terms: { servers: [], stands: false } },
    status: status('far-machine', [status('below-1', []), status('below-2', [])]),
    ...{ send: nothing, acknowledge: nothing, forget: nothing, recall: nothing, close: async () => {} },
  } as Carrier;
}
