/** The outpost that lives in a thread of the home process: joins a message port to an Outpost. */
import { parentPort } from 'node:worker_threads';
import { clockOf } from '../../base/clock.ts';
import { SkeinError } from '../../base/errors.ts';
import { type AddressWishes, ToldLeave } from '../../crawler/pace/leave.ts';
import { KEPT_BYTES } from '../../crawler/pack/pack.ts';
import type { PackerPool } from '../../crawler/pack/packer-pool.ts';
import type { OutpostTools } from '../../crawler/tools.ts';
import { decodeErrand } from '../../errand/codec/errand-codec.ts';
import { encodeVisits } from '../../errand/codec/parcel-codec.ts';
import type { Parcel } from '../../errand/parcel.ts';
import type { MessagePieces, ThreadMessage } from '../../transfer/thread.ts';
import { Deciders } from '../cages/deciders.ts';
import { Outpost } from '../outpost.ts';
import { makeTools, type OutpostOptions } from './tools.ts';

const port = parentPort!;
const say = (message: ThreadMessage) => port.postMessage(message);
const ready = Promise.withResolvers<{
  readonly outpost: Outpost;
  readonly packers: PackerPool;
  readonly leave?: ToldLeave;
}>();
/** Memory that parcels went home in and that came back; more of it than parcels are under way at once is let go. */
const empty: Uint8Array[] = [];
const MOST_EMPTY = 4;

async function open(options: OutpostOptions) {
  const deciders = new Deciders({ own: !options.foreign }, text => say({ kind: 'trouble', text }));
  if (options.decider) deciders.add(options.decider);
  const wishes = (addresses: AddressWishes) => say({ kind: 'addresses', ...addresses });
  const leave = options.needsLeave ? new ToldLeave(clockOf(options), wishes) : undefined;
  const tools = await withHooks(await withFetcher(options, leave), options.hooks);
  const gaveUp = (errand: string, why: string) => say({ kind: 'gave-up', errand, why });
  const outpost = new Outpost(tools, deciders, { parcel: deliver, gaveUp });
  return { outpost, packers: tools.packers, ...(leave && { leave }) };
}

/** One that does not load ends the crawl likewise. */
async function withFetcher(
  { fetcher, ...options }: OutpostOptions,
  leave: ToldLeave | undefined,
): Promise<OutpostTools> {
  try {
    return await makeTools(
      { ...options, ...(fetcher && { fetcher }) },
      { leave, say: text => say({ kind: 'trouble', text }) },
    );
  } catch (error) {
    if (!fetcher || !(error instanceof SkeinError)) throw error;
    return { ...(await makeTools(options, { leave })), requests: { over: error.message, before: () => undefined } };
  }
}

/** Hooks that do not load end the crawl with what is wrong with them: every errand that comes is given up. */
async function withHooks(tools: OutpostTools, module: string | undefined): Promise<OutpostTools> {
  if (module === undefined || tools.requests?.over) return tools;
  const { OwnHooks, loadHooks } = await import('../hooks/own-hooks.ts');
  try {
    const hooks = new OwnHooks(await loadHooks(module), module, text => say({ kind: 'trouble', text }));
    return { ...tools, ...(hooks.asksAfter && { decider: hooks }), ...(hooks.asksBefore && { requests: hooks }) };
  } catch (error) {
    return { ...tools, requests: { over: (error as Error).message, before: () => undefined } };
  }
}

function deliver(parcel: Parcel): void {
  const visits = encodeVisits(parcel, empty.pop()) as Uint8Array<ArrayBuffer>;
  const members = parcel.members as Uint8Array<ArrayBuffer>;
  const message: ThreadMessage = { kind: 'parcel', visits, members };
  port.postMessage(message, [visits.buffer, members.buffer]);
}

function refill({ visits, members }: MessagePieces, packers: PackerPool): void {
  packers.refill(members);
  if (visits.buffer.byteLength <= KEPT_BYTES && empty.length < MOST_EMPTY) empty.push(new Uint8Array(visits.buffer));
}

// Listens from the first moment: an errand may follow on the heels of the message that starts the outpost.
port.on('message', async (message: ThreadMessage) => {
  if (message.kind === 'start') return ready.resolve(open(message.data as OutpostOptions));
  const { outpost, packers, leave } = await ready.promise;
  if (message.kind === 'errand') outpost.receive(decodeErrand(message.bytes));
  if (message.kind === 'empty') refill(message, packers);
  if (message.kind === 'cancel') outpost.cancel(message.errand);
  if (message.kind === 'leave') leave?.told(message);
  if (message.kind === 'recall') await outpost.recall();
  if (message.kind === 'close') {
    await outpost.close();
    port.close();
  }
});
