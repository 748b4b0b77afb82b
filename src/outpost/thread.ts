/** The outpost that lives in a thread of the home process: joins a message port to an Outpost. */
import { parentPort } from 'node:worker_threads';
import { decodeErrand } from '../errand/errand-codec.ts';
import { encodeParcel } from '../errand/parcel-codec.ts';
import type { ThreadMessage } from '../transfer/thread.ts';
import { Deciders } from './deciders.ts';
import { Outpost } from './outpost.ts';
import { makeTools, type OutpostOptions } from './tools.ts';

const port = parentPort!;
const say = (message: ThreadMessage) => port.postMessage(message);
const ready = Promise.withResolvers<Outpost>();

async function open(options: OutpostOptions): Promise<Outpost> {
  // What comes from this machine's own user may run where bubblewrap is missing.
  const deciders = new Deciders({ weak: true }, text => say({ kind: 'trouble', text }));
  if (options.decider) deciders.add(options.decider);
  return new Outpost(await makeTools(options), deciders, {
    parcel(parcel) {
      const bytes = encodeParcel(parcel);
      port.postMessage({ kind: 'parcel', bytes } satisfies ThreadMessage, [bytes.buffer as ArrayBuffer]);
    },
    gaveUp: (errand, why) => say({ kind: 'gave-up', errand, why }),
  });
}

// Listens from the first moment: an errand may follow on the heels of the message that starts the outpost.
port.on('message', async (message: ThreadMessage) => {
  if (message.kind === 'start') return ready.resolve(open(message.data as OutpostOptions));
  const outpost = await ready.promise;
  if (message.kind === 'errand') outpost.receive(decodeErrand(message.bytes));
  if (message.kind === 'recall') await outpost.recall();
  if (message.kind === 'close') {
    await outpost.close();
    port.close();
  }
});
