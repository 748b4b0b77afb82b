/** The machines of a cluster, and whose each partition is. */
import { z } from 'zod';
import type { Reader } from '../reader.ts';
import { route } from './route.ts';
import { list, share } from './shared.ts';

const amount = z.number().nullable();

const peer = z
  .object({
    ...{ peer: z.string(), state: z.enum(['joining', 'working', 'leaving', 'ended', 'silent', 'dead']) },
    trouble: z.string().nullable().describe('why it did not answer'),
    capacity: amount.describe('what it can take now, 1 = a usual share'),
    partitions: z.int().describe('that it holds'),
    share: share.describe('of the partitions'),
    ...{ servers: amount, serverShare: share.nullable(), pages: amount, pageShare: share.nullable() },
    rate: amount.describe('visits a second'),
    heartbeats: amount.describe('since its start, one a second'),
    changelogLag: amount.describe('batches of changes that the engine has not confirmed'),
    exchangeLag: amount.describe('ways on which links wait'),
    skein: z.string().nullable().describe('its version'),
    exchanged: list(z.object({ peer: z.string(), sent: z.int(), received: z.int() })).describe(
      'links, since its start',
    ),
  })
  .meta({ id: 'Peer' });

const peers = z
  .object({
    engine: z.string(),
    peers: list(peer),
    partitions: list(
      z.object({
        ...{ partition: z.int(), peer: z.string().nullable().describe('that holds it'), epoch: z.int() },
        wanted: z.string().nullable().describe('whose it should be, by the ring'),
      }),
    ),
  })
  .meta({ id: 'Peers' });

export type PeerList = z.infer<typeof peers>;

/** Milliseconds for which it is told again: several people may look at it. */
const KEPT = 1000;
const kept = new WeakMap<Reader, { readonly until: number; readonly told: Promise<PeerList | null> }>();

async function lookAt(reader: Reader): Promise<PeerList | null> {
  const others = await reader.whole.others();
  if (!others) return null;
  return { engine: others.elsewhere.shown, ...(await others.elsewhere.figures()) };
}

export const peersRoute = route({
  method: 'get',
  path: '/peers',
  summary: 'The peers of a cluster with what each holds, and the partitions with whose they are and should be.',
  input: z.object({}),
  output: z
    .object({ cluster: peers.nullable().describe('null = this collection is of one machine alone') })
    .meta({ id: 'PeerView' }),
  async answer(_, { reader }) {
    let known = kept.get(reader);
    if (!known || performance.now() > known.until)
      kept.set(reader, (known = { until: performance.now() + KEPT, told: lookAt(reader) }));
    return { cluster: await known.told };
  },
});
