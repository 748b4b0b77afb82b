/**
 * The names of everything that a collection has in the engine, and nothing else knows them: streams, subjects, buckets.
 * All begin with "skein", so that an account of the engine may serve other things too. An account holds one collection.
 *
 *   SKEIN_CHG_<k>  skein.g.<k>.<p>   what was committed to the ledger of partition p
 *   KV_skein_*                       owner, snapidx, meta, peers
 *   OBJ_skein_snap                   ledgers of partitions, compressed
 *   skein.hb.<peer>, skein.ask.<peer>   heartbeats and questions to a peer, on the wire alone
 *   skein.q.<peer>                   questions about the partitions that a peer has, on the wire alone
 *   skein.links.<p>                  links found for servers of partition p, on the wire alone
 *   skein.seg.<peer>                 pieces of archive segments, on the wire alone
 *   skein.lease.<peer>               turns at addresses whose desk the peer keeps, on the wire alone
 *
 * Never one subject per URL: a subject costs the server 600 to 900 bytes of memory.
 */
export interface Layout {
  readonly partitions: number;
  /** Streams over which the partitions of each kind are spread. */
  readonly shards: number;
}

const MOST_SHARDS = 8;
const PARTITIONS_PER_SHARD = 16;
/** Of a collection in a cluster, unless its maker says otherwise. */
export const CLUSTER_PARTITIONS = 64;

export function layoutOf(partitions: number): Layout {
  return { partitions, shards: Math.min(MOST_SHARDS, Math.ceil(partitions / PARTITIONS_PER_SHARD)) };
}

export const shardOf = (layout: Layout, partition: number): number => partition % layout.shards;

export const changelogStream = (shard: number): string => `SKEIN_CHG_${shard}`;

export function changelogSubject(layout: Layout, partition: number): string {
  return `skein.g.${shardOf(layout, partition)}.${partition}`;
}

/** The partition that a subject names; undefined for any other text. */
export function partitionOfSubject(layout: Layout, subject: string): number | undefined {
  const parts = /^skein\.g\.(\d{1,4})\.(\d{1,5})$/.exec(subject);
  if (!parts) return undefined;
  const partition = Number(parts[2]);
  return partition < layout.partitions && Number(parts[1]) === shardOf(layout, partition) ? partition : undefined;
}

export const BUCKETS = {
  owner: 'skein_owner',
  snapidx: 'skein_snapidx',
  meta: 'skein_meta',
  peers: 'skein_peers',
} as const;
export type BucketName = keyof typeof BUCKETS;
/** The stream behind the bucket that says which collection this is. */
export const META_STREAM = `KV_${BUCKETS.meta}`;
export const SNAPSHOTS = 'skein_snap';

export const ownerKey = (partition: number): string => `p.${partition}`;
export const heartbeatSubject = (peer: string): string => `skein.hb.${peer}`;
/** Links found for servers of a partition, to whoever holds it. */
export const linksSubject = (partition: number): string => `skein.links.${partition}`;
/** Pieces of archive segments that move from one peer to another. */
export const segmentsSubject = (peer: string): string => `skein.seg.${peer}`;
/** Asks for turns at addresses. */
export const leaseSubject = (peer: string): string => `skein.lease.${peer}`;
/** Questions about what a peer has collected; its reading thread answers them. */
export const questionSubject = (peer: string): string => `skein.q.${peer}`;
export const askSubject = (peer: string): string => `skein.ask.${peer}`;

/** A peer's name is a token of subjects and a key of buckets. */
export const PEER_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;

/** A name for this machine that fits: its host name, without the domain. */
export function peerNameOf(hostname: string): string {
  const name = (hostname.split('.', 1)[0] ?? '')
    .replace(/[^A-Za-z0-9_-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 63);
  return name === '' ? 'peer' : name;
}
