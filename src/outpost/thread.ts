/** The outpost that lives in a thread of the home process: joins a message port to an Outpost. */
import { once } from 'node:events';
import { parentPort } from 'node:worker_threads';
import { decodeErrand } from '../errand/errand-codec.ts';
import { encodeParcel } from '../errand/parcel-codec.ts';
import type { ThreadMessage } from '../transfer/thread.ts';
import { Deciders } from './deciders.ts';
import { Outpost } from './outpost.ts';
import { makeTools, type OutpostOptions } from './tools.ts';

const port = parentPort!;
const [{ data }] = (await once(port, 'message')) as [{ data: OutpostOptions }];
const options = data;
const say = (message: ThreadMessage) => port.postMessage(message);
// What comes from this machine's own user may run where bubblewrap is missing.
const deciders = new Deciders({ weak: true }, text => say({ kind: 'trouble', text }));
if (options.decider) deciders.add(options.decider);
const outpost = new Outpost(await makeTools(options), deciders, {
  parcel(parcel) {
    const bytes = encodeParcel(parcel);
    port.postMessage({ kind: 'parcel', bytes } satisfies ThreadMessage, [bytes.buffer as ArrayBuffer]);
  },
  gaveUp: (errand, why) => say({ kind: 'gave-up', errand, why }),
});

port.on('message', async (message: ThreadMessage) => {
  if (message.kind === 'errand') outpost.receive(decodeErrand(message.bytes));
  if (message.kind === 'recall') await outpost.recall();
  if (message.kind === 'close') {
    await outpost.close();
    port.close();
  }
});
