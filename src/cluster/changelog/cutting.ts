/**
 * Cuts changelogs: what snapshots hold is not needed again. A stream is cut as a whole, up to the first message that some
 * partition still needs: by subject it took the server ten times as long. The last message of each partition stays, since
 * the fence counts from it; owners move theirs to the end when they hold a stream up (`Keeper.moveUp`).
 */

import { untilItPasses } from '../connection/retry.ts';
import type { ClusterEngine } from '../engine.ts';
import type { PeerMembers } from '../members/members.ts';
import type { Custody } from '../peer/custody.ts';
import { natsSnapshots } from '../snapshots/nats-snapshots.ts';
import type { SnapshotNote } from '../snapshots/snapshots.ts';
import { changelogStream, shardOf } from '../topology/layout.ts';
import { natsChangelog } from './nats-changelog.ts';

/** The sequence from which on a partition needs its changelog; undefined = it needs none of it. */
export function neededFrom(
  last: { readonly sequence: number; readonly number: number } | undefined,
  note: Pick<SnapshotNote, 'number' | 'sequence'> | undefined,
): number | undefined {
  if (!last) return undefined;
  if (!note) return 0;
  return last.number <= note.number ? last.sequence : note.sequence + 1;
}

interface CuttingParts {
  readonly engine: ClusterEngine;
  readonly members: PeerMembers;
  readonly custody: Custody;
  /** Bytes of a stream below which it is left as it is. */
  readonly above?: number;
}

const ABOVE = 64_000_000;
/** Partitions that are moved up in one turn: each is a snapshot. */
const AT_ONCE = 2;

/** One turn, every minute or so; the peer whose name comes first cuts for all. Returns how many messages went. */
export async function cutChangelogs({ engine, members, custody, above = ABOVE }: CuttingParts): Promise<number> {
  const { layout, manager } = engine;
  const working = members.ringMembers().map(({ name }) => name);
  const isFirst = working.toSorted()[0] === members.name;
  let cut = 0;
  for (let shard = 0; shard < layout.shards; shard++) {
    const stream = changelogStream(shard);
    const { state } = await untilItPasses(() => manager.streams.info(stream));
    if (state.bytes <= above) continue;
    const middle = state.first_seq + (state.last_seq - state.first_seq) / 2;
    const holding = [...custody.held].filter(
      ([partition, { keeper }]) => shardOf(layout, partition) === shard && keeper.neededFrom < middle,
    );
    for (const [, { keeper }] of holding.slice(0, AT_ONCE)) keeper.moveUp();
    if (!isFirst) continue;
    const seq = await lowWater(engine, shard, state.last_seq);
    if (seq > state.first_seq) cut += (await untilItPasses(() => manager.streams.purge(stream, { seq }))).purged;
  }
  return cut;
}

/** The first message that has to stay. */
async function lowWater(engine: ClusterEngine, shard: number, end: number): Promise<number> {
  const { layout } = engine;
  const [log, snapshots] = [natsChangelog(engine), natsSnapshots(engine)];
  let low = end;
  for (let partition = shard; partition < layout.partitions; partition += layout.shards) {
    // In this order: a snapshot that comes in between holds more than is thought.
    const note = await snapshots.newest(partition);
    low = Math.min(low, neededFrom(await log.last(partition), note) ?? low);
  }
  return low;
}
