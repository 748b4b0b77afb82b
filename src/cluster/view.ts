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
  readonly hasEnded?: boolean;
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
/** Of one that said goodbye. */
const ENDED = 'It has ended, and has its partitions until it starts again.';

function stateOf({
  heartbeat,
  isGone,
  hasEnded,
}: PeerView): 'joining' | 'working' | 'leaving' | 'ended' | 'silent' | 'dead' {
  if (heartbeat) return heartbeat.phase === 'bye' ? 'leaving' : heartbeat.phase;
  return hasEnded ? 'ended' : isGone ? 'dead' : 'silent';
}

function heldBy({ claims }: Pick<ClusterView, 'claims'>, name: string): number {
  return claims.filter(claim => claim?.peer === name).length;
}

/** The same as plain figures, for people and programs. */
export function figuresOf(view: ClusterView) {
  const sum = (of: 'servers' | 'pages') =>
    view.peers.reduce((all, { heartbeat }) => all + (heartbeat?.[of] ?? 0), 0) || 1;
  const [servers, pages] = [sum('servers'), sum('pages')];
  const peers = view.peers.map(peer => {
    const { name, heartbeat, trouble } = peer;
    const partitions = heldBy(view, name);
    return {
      ...{ peer: name, state: stateOf(peer), trouble: trouble ?? null },
      ...{ capacity: heartbeat?.capacity ?? null, share: partitions / view.claims.length },
      ...{ partitions, servers: heartbeat?.servers ?? null, pages: heartbeat?.pages ?? null },
      serverShare: heartbeat ? heartbeat.servers / servers : null,
      pageShare: heartbeat ? heartbeat.pages / pages : null,
      ...{ rate: heartbeat?.rate ?? null, heartbeats: heartbeat ? heartbeat.beat + 1 : null },
      ...{ changelogLag: heartbeat?.changelogLag ?? null, exchangeLag: heartbeat?.exchangeLag ?? null },
      skein: heartbeat?.skein ?? null,
      exchanged: (heartbeat?.exchanged ?? []).map(([other, sent, received]) => ({ peer: other, sent, received })),
    };
  });
  const partitions = view.claims.map((claim, partition) => ({
    ...{ partition, peer: claim?.peer ?? null, epoch: claim?.epoch ?? 0, wanted: view.wanted[partition] ?? null },
  }));
  return { peers, partitions };
}

export async function viewCluster(engine: ClusterEngine): Promise<ClusterView> {
  const { partitions } = engine.layout;
  await using claiming = await Claims.open(engine.buckets.owner, { name: '', session: '' }, partitions);
  const claims = claiming.all();
  const holders = claims.flatMap(claim => claim?.peer ?? []);
  const present = await presentNames(engine.buckets.peers);
  const names = [...new Set([...present, ...holders])].toSorted();
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
    if (trouble === NOT_THERE && !present.includes(name)) return { name, trouble: ENDED, hasEnded: true };
    return { name, trouble: trouble ?? 'Its answer cannot be read.', isGone: trouble === NOT_THERE };
  });
  const working = peers.flatMap(({ name, heartbeat }) =>
    heartbeat?.phase === 'working' ? [{ name, capacity: heartbeat.capacity }] : [],
  );
  return { peers, claims, wanted: assign(partitions, working) };
}
