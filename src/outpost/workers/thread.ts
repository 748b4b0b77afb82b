/** The outpost that lives in a thread of the home process: joins a message port to an Outpost. */
import { parentPort } from 'node:worker_threads';
import { KEPT_BYTES } from '../../crawler/pack/pack.ts';
import type { PackerPool } from '../../crawler/pack/packer-pool.ts';
import { decodeErrand } from '../../errand/codec/errand-codec.ts';
import { encodeVisits } from '../../errand/codec/parcel-codec.ts';
import type { Parcel } from '../../errand/parcel.ts';
import type { Pieces, ThreadMessage } from '../../transfer/thread.ts';
import { Deciders } from '../cages/deciders.ts';
import { Outpost } from '../outpost.ts';
import { makeTools, type OutpostOptions } from './tools.ts';

const port = parentPort!;
const say = (message: ThreadMessage) => port.postMessage(message);
const ready = Promise.withResolvers<{ readonly outpost: Outpost; readonly packers: PackerPool }>();
/** Memory that parcels went home in and that came back; more of it than parcels are under way at once is let go. */
const empty: Uint8Array[] = [];
const MOST_EMPTY = 4;

async function open(options: OutpostOptions) {
  const deciders = new Deciders({ own: true }, text => say({ kind: 'trouble', text }));
  if (options.decider) deciders.add(options.decider);
  const tools = await makeTools(options);
  const gaveUp = (errand: string, why: string) => say({ kind: 'gave-up', errand, why });
  return { outpost: new Outpost(tools, deciders, { parcel: deliver, gaveUp }), packers: tools.packers };
}

function deliver(parcel: Parcel): void {
  const visits = encodeVisits(parcel, empty.pop()) as Uint8Array<ArrayBuffer>;
  const members = parcel.members as Uint8Array<ArrayBuffer>;
  const message: ThreadMessage = { kind: 'parcel', visits, members };
  port.postMessage(message, [visits.buffer, members.buffer]);
}

function refill({ visits, members }: Pieces, packers: PackerPool): void {
  packers.refill(members);
  if (visits.buffer.byteLength <= KEPT_BYTES && empty.length < MOST_EMPTY) empty.push(new Uint8Array(visits.buffer));
}

// Listens from the first moment: an errand may follow on the heels of the message that starts the outpost.
port.on('message', async (message: ThreadMessage) => {
  if (message.kind === 'start') return ready.resolve(open(message.data as OutpostOptions));
  const { outpost, packers } = await ready.promise;
  if (message.kind === 'errand') outpost.receive(decodeErrand(message.bytes));
  if (message.kind === 'empty') refill(message, packers);
  if (message.kind === 'recall') await outpost.recall();
  if (message.kind === 'close') {
    await outpost.close();
    port.close();
  }
});
