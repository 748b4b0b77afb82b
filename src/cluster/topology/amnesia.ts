/**
 * An engine that was wiped, restored from an old copy, or lost a stream answers as if nothing had been. A peer notices
 * by what it remembers of each changelog stream: when the stream was made, and how far it had come. The truth of a
 * partition is in its owner's files, so the owner makes good what was forgotten: it sends snapshots again.
 */
import type { JetStreamManager } from '@nats-io/jetstream';
import { CODES, codeOf } from '../connection/errors.ts';
import { untilItPasses } from '../connection/retry.ts';
import { changelogStream, type Layout, shardOf } from './layout.ts';

/** What a peer has seen of the stream that carries a partition's changelog; kept with the partition. */
export interface StreamMemory {
  /** When the stream was made, as the server says it: another stream of the same name has another time. */
  readonly created: string;
  /** Sequence number of this partition's last batch that the engine acknowledged. */
  readonly sequence: number;
}

interface StreamMarks {
  readonly created: string;
  readonly lastSequence: number;
}

/** Of each changelog stream, by shard; undefined = missing. */
export async function readStreamMarks(
  manager: JetStreamManager,
  layout: Layout,
): Promise<readonly (StreamMarks | undefined)[]> {
  return Promise.all(
    Array.from({ length: layout.shards }, async (_, shard) => {
      try {
        const { created, state } = await untilItPasses(() => manager.streams.info(changelogStream(shard)));
        return { created: String(created), lastSequence: state.last_seq };
      } catch (error) {
        if (codeOf(error) === CODES.streamMissing) return undefined;
        throw error;
      }
    }),
  );
}

/** Partitions whose changelog the engine no longer has as this peer left it. */
export function forgotten(
  layout: Layout,
  marks: readonly (StreamMarks | undefined)[],
  remembered: ReadonlyMap<number, StreamMemory>,
): number[] {
  return [...remembered]
    .filter(([partition, memory]) => {
      const mark = marks[shardOf(layout, partition)];
      return mark === undefined || mark.created !== memory.created || mark.lastSequence < memory.sequence;
    })
    .map(([partition]) => partition);
}
