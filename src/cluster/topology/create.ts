/**
 * Makes in the engine what a collection needs there and is not there yet. Safe to call again, and by several peers at
 * once: whoever comes second finds it made.
 */
import type { JetStreamClient, JetStreamManager, StreamConfig } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { SkeinError } from '../../base/errors.ts';
import { CODES, codeOf } from '../connection/errors.ts';
import { untilItPasses } from '../connection/retry.ts';
import { BUCKETS, changelogStream, changelogSubject, type Layout, SNAPSHOTS, shardOf } from './layout.ts';

/** Bytes of a stream where the server has room for it, and the least that is worth starting with. */
const MOST_BYTES = 20e9;
const LEAST_BYTES = 16e6;
/** A stream that is made and deleted to learn how much room there is. */
const PROBE = 'SKEIN_PROBE';
/** Milliseconds for which servers may find no place for replicas, as those that have just started do: mostly for some seconds. */
const PLACED_WITHIN = 60_000;
/** Nanoseconds, as the server counts. */
const SECOND = 1e9;
const DUPLICATE_WINDOW = 120 * SECOND;

interface EngineServers {
  readonly jetstream: JetStreamClient;
  readonly manager: JetStreamManager;
  /** Copies that the engine keeps of everything: 3 in a cluster of servers, else 1. */
  readonly replicas: number;
}

/** A single server names no cluster. */
export function replicasFor(connection: NatsConnection): number {
  return connection.info?.cluster === undefined ? 1 : 3;
}

/** Returns the streams that were not there: on an engine that once had them, what they held is lost. */
export async function createStreams(servers: EngineServers, layout: Layout): Promise<string[]> {
  const missing: WantedStream[] = [];
  for (const wanted of streamsOf(layout)) if (!(await streamThere(servers.manager, wanted.name))) missing.push(wanted);
  if (missing.length === 0) return [];
  // Half of the room for streams, half for snapshots.
  const room = (await roomFor(servers)) / 2;
  const bytes = Math.floor(Math.min(MOST_BYTES, room / missing.length));
  for (const wanted of missing) await createStream(servers, wanted, bytes);
  return missing.map(({ name }) => name);
}

type WantedStream = Pick<StreamConfig, 'name' | 'subjects'>;

function streamsOf(layout: Layout): WantedStream[] {
  return Array.from({ length: layout.shards }, (_, shard) => {
    const mine = Array.from({ length: layout.partitions }, (_, p) => p).filter(p => shardOf(layout, p) === shard);
    return { name: changelogStream(shard), subjects: mine.map(partition => changelogSubject(layout, partition)) };
  });
}

async function createStream(servers: EngineServers, wanted: WantedStream, bytes: number): Promise<void> {
  const { RetentionPolicy, StorageType, DiscardPolicy } = await import('@nats-io/jetstream');
  const fixed = {
    ...wanted,
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    // A full stream refuses what is new: back-pressure, never loss.
    discard: DiscardPolicy.New,
    duplicate_window: DUPLICATE_WINDOW,
    allow_direct: true,
    num_replicas: servers.replicas,
  };
  await asLargeAsFits(bytes, max => servers.manager.streams.add({ ...fixed, max_bytes: max }));
}

/** Bytes that the servers would still reserve for streams, found by asking for ever less; they tell it no other way. */
async function roomFor({ manager, replicas }: EngineServers): Promise<number> {
  const { StorageType } = await import('@nats-io/jetstream');
  const probe = { name: PROBE, subjects: ['skein.probe'], storage: StorageType.File, num_replicas: replicas };
  const room = await asLargeAsFits(MOST_BYTES * 32, bytes => manager.streams.add({ ...probe, max_bytes: bytes }));
  try {
    await untilItPasses(() => manager.streams.delete(PROBE));
  } catch (error) {
    // Another peer that makes the same streams asked at the same time, and has deleted it.
    if (codeOf(error) !== CODES.streamMissing) throw error;
  }
  return room;
}

/**
 * Servers that have just started have no place for replicas until they have found each other. In some starts of nats-server 2.10
 * they never do (docs/decisions/0124). Rejects when it has taken too long.
 */
async function waitForPlace(start: number, error: unknown): Promise<void> {
  if (performance.now() - start > PLACED_WITHIN) throw noPlaceError(error);
  await new Promise(resolve => setTimeout(resolve, 250));
}

/** Servers reserve what a stream may hold; one with a small disk gives less. */
async function asLargeAsFits(most: number, add: (bytes: number) => Promise<unknown>): Promise<number> {
  const start = performance.now();
  for (let bytes = most; ; ) {
    try {
      await untilItPasses(() => add(bytes));
      return bytes;
    } catch (error) {
      const code = codeOf(error);
      if (code === CODES.streamExists) return bytes;
      if (code !== CODES.noRoom && code !== CODES.noPlacement) throw error;
      if (code === CODES.noPlacement && !/storage/.test((error as Error).message)) await waitForPlace(start, error);
      else bytes = Math.floor(bytes / 2);
      if (bytes < LEAST_BYTES) throw noRoomError(error);
    }
  }
}

async function oncePlaced<T>(create: () => Promise<T>): Promise<T> {
  const start = performance.now();
  for (;;) {
    try {
      return await untilItPasses(create);
    } catch (error) {
      if (codeOf(error) !== CODES.noPlacement) throw error;
      await waitForPlace(start, error);
    }
  }
}

function noRoomError(error: unknown): SkeinError {
  return new SkeinError(
    'no-engine',
    `The engine has no room for the streams of a collection (${(error as Error).message}).`,
    'Raise max_file in its jetstream block, or free its disk.',
    { cause: error },
  );
}

function noPlaceError(error: unknown): SkeinError {
  return new SkeinError(
    'no-engine',
    `The engine keeps three copies, and its servers do not find three of them (${(error as Error).message}).`,
    'Start all three. If all run and reach each other, restart them one after the other: one may not have been counted.',
    { cause: error },
  );
}

export async function streamThere(manager: JetStreamManager, name: string): Promise<boolean> {
  try {
    await untilItPasses(() => manager.streams.info(name));
    return true;
  } catch (error) {
    if (codeOf(error) === CODES.streamMissing) return false;
    throw error;
  }
}

/** KV buckets and the object bucket; opened if they are there. */
export async function createBuckets(servers: EngineServers) {
  const { Kvm } = await import('@nats-io/kv');
  const { Objm, setSha256Backend, StorageType } = await import('@nats-io/obj');
  // Three to four times as fast as the client's own SHA-256.
  setSha256Backend('native');
  const { jetstream, replicas } = servers;
  const kvm = new Kvm(jetstream);
  // Reads go to the leader: a follower may answer with what was true a moment ago.
  const bucket = (name: string, history: number) =>
    oncePlaced(() => kvm.create(name, { history, replicas, allow_direct: false }));
  const owner = await bucket(BUCKETS.owner, 1);
  const snapidx = await bucket(BUCKETS.snapidx, 2);
  const meta = await bucket(BUCKETS.meta, 5);
  const peers = await bucket(BUCKETS.peers, 1);
  const snapshots = await oncePlaced(() =>
    new Objm(jetstream).create(SNAPSHOTS, { replicas, storage: StorageType.File }),
  );
  return { owner, snapidx, meta, peers, snapshots };
}
