/** A cluster as somebody sees it who is no peer: who is there, who holds what, and what is under way of moving. */
import { type Claim, Claims } from './claims.ts';
import type { ClusterEngine } from './engine.ts';
import { type Heartbeat, readHeartbeat } from './members/heartbeat.ts';
import { presentNames } from './members/name.ts';
import { assign } from './ring/assign.ts';
import { NOT_THERE, scatter } from './rpc/scatter.ts';

export interface PeerView {
  readonly name: string;
  /** What it answered; undefined = it did not, and `trouble` says why. */
  readonly heartbeat?: Heartbeat;
  readonly trouble?: string;
  /** It has no connection to the engine at all. */
  readonly isGone?: boolean;
}

export interface ClusterView {
  readonly peers: readonly PeerView[];
  /** By partition. */
  readonly claims: readonly (Claim | undefined)[];
  /** Whose each should be, by the ring of those that answered. */
  readonly wanted: readonly (string | undefined)[];
}

/** Milliseconds. */
const DEADLINE = 3000;

export async function viewCluster(engine: ClusterEngine): Promise<ClusterView> {
  const { partitions } = engine.layout;
  await using claiming = await Claims.open(engine.buckets.owner, { name: '', session: '' }, partitions);
  const claims = claiming.all();
  const holders = claims.flatMap(claim => claim?.peer ?? []);
  const names = [...new Set([...(await presentNames(engine.buckets.peers)), ...holders])].toSorted();
  const { answers, silent } = await scatter(
    engine.connection,
    names,
    { name: 'heartbeat', args: null },
    { deadline: DEADLINE },
  );
  const peers = names.map((name): PeerView => {
    const heartbeat = readHeartbeat(answers.get(name));
    if (heartbeat?.name === name) return { name, heartbeat };
    const trouble = silent.get(name);
    return { name, trouble: trouble ?? 'Its answer cannot be read.', isGone: trouble === NOT_THERE };
  });
  const working = peers.flatMap(({ name, heartbeat }) =>
    heartbeat?.phase === 'working' ? [{ name, capacity: heartbeat.capacity }] : [],
  );
  return { peers, claims, wanted: assign(partitions, working) };
}
