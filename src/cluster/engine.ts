/**
 * The engine as the rest of the cluster sees it: one connection to NATS JetStream with everything of a collection made
 * and opened. Whoever gets one may rely on: the server is new enough, the collection is the right one, streams and
 * buckets are there (or were, when it was opened: `amnesia.ts` notices when the engine forgot).
 *
 * Errors of its parts: what an election interrupts is wrapped in `untilItPasses`; `isConflict` tells a lost
 * compare-and-set; anything else is thrown as it comes.
 */
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { KV } from '@nats-io/kv';
import type { ObjectStore } from '@nats-io/obj';
import type { NatsConnection } from '@nats-io/transport-node';
import { SkeinError } from '../base/errors.ts';
import type { EngineAddress } from './connection/address.ts';
import { connectTo } from './connection/connect.ts';
import { CODES, codeOf, noJetStreamError } from './connection/errors.ts';
import { untilItPasses } from './connection/retry.ts';
import { EngineTime } from './engine-time.ts';
import { presentNames } from './members/name.ts';
import { NOT_THERE, scatter } from './rpc/scatter.ts';
import { agreeOnCollection, type ClusterCollection, emptyError, type OwnCollection } from './topology/collection.ts';
import { createBuckets, createStreams, replicasFor, streamThere } from './topology/create.ts';
import { type BucketName, type Layout, layoutOf, META_STREAM } from './topology/layout.ts';

export interface ClusterEngine extends AsyncDisposable {
  readonly connection: NatsConnection;
  readonly jetstream: JetStreamClient;
  readonly manager: JetStreamManager;
  /** Copies that the engine keeps of everything. */
  readonly replicas: number;
  readonly collection: ClusterCollection;
  readonly layout: Layout;
  readonly buckets: Readonly<Record<BucketName, KV>>;
  readonly snapshots: ObjectStore;
  /** Streams that were missing and have been made by this opening. */
  readonly made: readonly string[];
  /** Of all peers, whatever their own clocks say. */
  readonly time: EngineTime;
  /** For people: the servers, without secrets. */
  readonly shown: string;
  /**
   * Makes again what the engine has forgotten while this connection stood, and returns the streams that were missing.
   * Throws as `openEngine` does when the engine now holds another collection.
   */
  restore(): Promise<readonly string[]>;
  /** Sends what waits, then ends the connection. */
  close(): Promise<void>;
}

interface OpenEngine {
  readonly address: EngineAddress;
  /** Of the connection, as the server lists it. */
  readonly name: string;
  /** What the data directory holds, or what is to be made; without it the engine must hold a collection already. */
  readonly collection?: OwnCollection;
  /** Changes nothing in the engine. */
  readonly looks?: boolean;
}

/**
 * An election answers no request: asking again soon finds the new leader 5 s earlier than the client's default of 5 s
 * does. Milliseconds.
 */
const REQUEST_TIMEOUT = 1000;
/** A server that has just started may need some seconds until its JetStream answers; one without any says so at once. */
const START_PATIENCE = 15_000;
const NO_JETSTREAM_PATIENCE = 1000;

export async function openEngine({ address, name, collection, looks }: OpenEngine): Promise<ClusterEngine> {
  const connection = await connectTo(address, { name });
  try {
    const { jetstream, jetstreamManager } = await import('@nats-io/jetstream');
    const options = { timeout: REQUEST_TIMEOUT };
    const manager = await jetstreamManager(connection, { ...options, checkAPI: false });
    await refuseWithoutJetStream(manager, connection.info?.jetstream === true, address.shown);
    const servers = { jetstream: jetstream(connection, options), manager, replicas: replicasFor(connection) };
    // Nothing is left behind in an empty engine.
    if (!collection && !(await streamThere(manager, META_STREAM))) throw emptyError();
    const { snapshots, ...buckets } = await createBuckets(servers);
    const isInUse = async () => looks === true || anyPeer(connection, buckets.peers);
    const agreed = await agreeOnCollection(buckets.meta, { own: collection, isInUse });
    const layout = layoutOf(agreed.partitions);
    const made = looks ? [] : await createStreams(servers, layout);
    const time = await EngineTime.of(manager);
    const close = () => {
      time[Symbol.dispose]();
      return drain(connection);
    };
    return {
      ...servers,
      connection,
      collection: agreed,
      layout,
      buckets,
      snapshots,
      ...{ made, time },
      shown: address.shown,
      restore: async () => {
        const { meta } = await createBuckets(servers);
        await agreeOnCollection(meta, { own: agreed, isInUse: async () => true });
        return createStreams(servers, layout);
      },
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** While servers start, and where nobody ever answers, JetStream is silent in the same way: only time tells. */
async function refuseWithoutJetStream(manager: JetStreamManager, announced: boolean, shown: string): Promise<void> {
  const patience = announced ? START_PATIENCE : NO_JETSTREAM_PATIENCE;
  try {
    await untilItPasses(() => manager.getAccountInfo(), { patience });
  } catch (error) {
    const silent = error instanceof SkeinError && error.code === 'no-engine';
    if (silent || codeOf(error) === CODES.notEnabled) throw noJetStreamError(shown);
    throw error;
  }
}

/** Whether a peer answers, among those who took a name. */
async function anyPeer(connection: NatsConnection, peers: KV): Promise<boolean> {
  const names = await presentNames(peers);
  const { silent } = await scatter(connection, names, { name: 'heartbeat', args: null });
  // One that is silent may be frozen.
  return names.some(name => silent.get(name) !== NOT_THERE);
}

async function drain(connection: NatsConnection): Promise<void> {
  if (connection.isClosed()) return;
  // Without a server there is nobody to send to: draining would wait for one.
  if (connection.isDraining()) return void (await connection.closed());
  // One that is closed while it drains does not say that it has drained.
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(() => late.resolve(connection.close()), REQUEST_TIMEOUT);
  await Promise.race([connection.drain().catch(() => connection.close()), late.promise]);
  clearTimeout(timer);
}
