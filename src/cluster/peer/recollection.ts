/**
 * An engine that was wiped or restored from an old copy while peers run: each makes again what is missing, writes down what all
 * share, claims what it holds, and sends a snapshot of each of its partitions. The truth of a partition is in its
 * owner's files, so nothing is lost but what belonged to a machine that is away just then.
 */
import type { Claims } from '../claims.ts';
import type { ClusterEngine } from '../engine.ts';
import type { PeerMembers } from '../members/members.ts';
import { forgotten, readStreamMarks, type StreamMemory } from '../topology/amnesia.ts';
import { shardOf } from '../topology/layout.ts';
import type { WatchedBucket } from '../watched-bucket.ts';
import type { Custody } from './custody.ts';

interface RecollectionParts {
  readonly engine: ClusterEngine;
  readonly members: PeerMembers;
  readonly claims: Claims;
  readonly custody: Custody;
  /** What all peers share. */
  readonly meta: WatchedBucket;
  readonly say: (text: string) => void;
}

/** Milliseconds between two looks; a new connection is a reason to look at once. */
const EVERY = 15_000;

export class Recollection implements Disposable {
  readonly #parts: RecollectionParts;
  /** When each changelog stream was made, by shard, as this peer knows it. */
  #created: readonly (string | undefined)[] = [];
  #checking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: RecollectionParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    await this.#note();
    const look = () => void this.check().catch(() => undefined); // it is away: the next look tries again
    this.#timer = setInterval(look, EVERY).unref();
    void (async () => {
      for await (const { type } of this.#parts.engine.connection.status()) if (type === 'reconnect') look();
    })();
  }

  /** Resolves when the engine has what this peer knows, or will get it; rejects while the engine does not answer. */
  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #check(): Promise<void> {
    const { engine, members, claims, custody, meta, say } = this.#parts;
    // What is known first: changes that leave meanwhile are newer than what the engine said.
    const known = this.#memory();
    const marks = await readStreamMarks(engine.manager, engine.layout);
    const lost = forgotten(engine.layout, marks, known);
    // One that holds nothing notices, too: its name and what all share went as well.
    if (lost.length === 0 && marks.every((mark, shard) => mark?.created === this.#created[shard])) return;
    say('The engine has lost its data. It gets snapshots of all partitions of this peer.');
    await engine.restore();
    await Promise.all([claims.check(), meta.restore()]);
    await members.restoreName();
    await custody.sendAnew(lost);
    await this.#note();
  }

  #memory(): ReadonlyMap<number, StreamMemory> {
    const { custody, engine } = this.#parts;
    return new Map(
      [...custody.held].map(([partition, { keeper }]) => [
        partition,
        { created: this.#created[shardOf(engine.layout, partition)] ?? '', sequence: keeper.sequence },
      ]),
    );
  }

  async #note(): Promise<void> {
    const { engine } = this.#parts;
    this.#created = (await readStreamMarks(engine.manager, engine.layout)).map(mark => mark?.created);
  }
}
