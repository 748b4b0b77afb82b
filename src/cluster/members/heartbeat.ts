/**
 * What a peer says of itself once a second, to everybody: that it lives, what it can take, what it has done. Core
 * messages, kept nowhere: an election of the engine delays them by a second, while keys with a time to live declared
 * every living peer dead (docs/decisions/0040).
 */
import { z } from 'zod';
import { PEER_NAME } from '../topology/layout.ts';

/** Milliseconds. */
export const BEAT = 1000;
/** One beat of ten carries the counts by peer: a hundred peers would otherwise hear 20 MB a second from each other. */
export const FULL_BEAT_EVERY = 10;
/** Bytes; a longer message is nobody's heartbeat. */
const MOST_BYTES = 64_000;
const MOST_PEERS = 512;

const count = z.number().min(0).max(Number.MAX_SAFE_INTEGER);
const name = z.string().regex(PEER_NAME);

const heartbeatForm = z.object({
  name,
  /** Drawn anew by each start of a peer: tells two processes of one name apart. */
  session: z.string().regex(/^[0-9a-f]{8,32}$/),
  /** Counts its heartbeats. */
  beat: z.int().min(0),
  protocol: z.int().min(1),
  skein: z.string().max(40),
  phase: z.enum(['joining', 'working', 'leaving', 'bye']),
  /** What it can take now: as declared, less when its disk fills. */
  capacity: z.number().min(0).max(1000),
  pages: count,
  servers: count,
  /** Of its pages those that can be kept fresh. */
  live: count.optional(),
  /** Pages visited per second, over the last while. */
  rate: count,
  /** Partitions whose ledger it has open, and numbers of those that are on their way to it or from it. */
  partitions: count,
  moving: z.array(z.int().min(0)).max(4096),
  /** Batches that the engine has not confirmed, and links that wait to be taken in. */
  changelogLag: count,
  exchangeLag: count,
  /** It has nothing left to do; a number that grows with whatever it does. Absent = it is at work. */
  quiet: count.optional(),
  /** Links sent to and received from each other peer since its start; in one beat of ten. */
  exchanged: z
    .array(z.tuple([name, count, count]))
    .max(MOST_PEERS)
    .optional(),
});

export type Heartbeat = Readonly<z.infer<typeof heartbeatForm>>;
export type Phase = Heartbeat['phase'];

/** What the running peer knows of itself; the rest of a heartbeat is the same all the time. */
export type PeerLoad = Pick<
  Heartbeat,
  | 'capacity'
  | 'pages'
  | 'servers'
  | 'live'
  | 'rate'
  | 'partitions'
  | 'moving'
  | 'changelogLag'
  | 'exchangeLag'
  | 'exchanged'
  | 'quiet'
>;

export const idle: PeerLoad = {
  capacity: 1,
  pages: 0,
  servers: 0,
  rate: 0,
  partitions: 0,
  moving: [],
  changelogLag: 0,
  exchangeLag: 0,
};

export const encodeHeartbeat = (heartbeat: Heartbeat): string => JSON.stringify(heartbeat);

/** The same for one that came as an answer. */
export const readHeartbeat = (value: unknown): Heartbeat | undefined => heartbeatForm.safeParse(value).data;

/** Undefined for anything that is no heartbeat: another version's, or nobody's. */
export function decodeHeartbeat(bytes: Uint8Array): Heartbeat | undefined {
  if (bytes.length > MOST_BYTES) return undefined;
  try {
    return readHeartbeat(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    // No JSON: as above.
    return undefined;
  }
}
