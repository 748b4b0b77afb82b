/** The outpost that lives in a thread of the home process: joins a message port to an Outpost. */
import { parentPort, workerData } from 'node:worker_threads';
import { decodeErrand } from '../errand/errand-codec.ts';
import { encodeParcel } from '../errand/parcel-codec.ts';
import type { ThreadMessage } from '../transfer/thread.ts';
import { Outpost } from './outpost.ts';
import { makeTools, type OutpostOptions } from './tools.ts';

const port = parentPort!;
const tools = await makeTools(workerData as OutpostOptions);
const outpost = new Outpost(tools, parcel => {
  const bytes = encodeParcel(parcel);
  port.postMessage({ kind: 'parcel', bytes } satisfies ThreadMessage, [bytes.buffer as ArrayBuffer]);
});

port.on('message', async (message: ThreadMessage) => {
  if (message.kind === 'errand') outpost.receive(decodeErrand(message.bytes));
  if (message.kind === 'recall') await outpost.recall();
  if (message.kind === 'close') {
    await outpost.close();
    port.close();
  }
});
