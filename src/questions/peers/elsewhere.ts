/**
 * Asks the peers that hold the other partitions, over the engine: each question goes to the peer that has claimed the
 * partition, and the answer is checked against the question's schema before it is used. A peer that does not answer is named,
 * and not asked again for a while; a partition that moves from one peer to another is waited for.
 *
 * Loaded only where a collection is a part of a cluster.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { SkeinError } from '../../base/errors.ts';
import { Claims } from '../../cluster/claims.ts';
import { readEngineAddress } from '../../cluster/connection/address.ts';
import { type ClusterEngine, openEngine } from '../../cluster/engine.ts';
import { scatter } from '../../cluster/rpc/scatter.ts';
import { askForStream } from '../../cluster/rpc/stream.ts';
import { PEER_NAME, questionSubject } from '../../cluster/topology/layout.ts';
import { type ClusterView, figuresOf, viewCluster } from '../../cluster/view.ts';
import type { Remembered } from '../../ledger/collection/cluster-file.ts';
import { type Collection, readCollection } from '../../ledger/collection/collection.ts';
import { partFrom } from '../catalogue.ts';
import type { ExportAsked, PartElsewhere, ToldElsewhere } from '../collection.ts';

/** How long (ms) a peer may be silent, and how long one that did not answer is not asked again. */
const DEADLINE = 4000;
const LEFT_ALONE = 10_000;
/** Between two looks at partitions that are on their way, and how long they are waited for altogether. */
const PAUSE = 200;
const ON_ITS_WAY = 8000;

/** Questions that are asked at the same time: a list of many partitions begins with one for each. */
const AT_ONCE = 16;

/** What a peer is asked: `name` is that of a question in the catalogue. */
export const askedForm = z.object({
  name: z.string().max(64),
  args: z.unknown(),
  partitions: z.array(z.int().min(0)).max(4096),
});
type AskedOfPeer = Readonly<z.infer<typeof askedForm>>;

const toldForm = z.object({
  parts: z.array(z.object({ partition: z.int().min(0), part: z.unknown() })).max(4096),
});

export interface Whole {
  /** The collection; `here` are the partitions that this machine has claimed. */
  readonly collection: Collection;
  readonly elsewhere: PeersElsewhere;
}

/** Throws a sentence where the engine cannot be used. */
export async function openWhole(directory: string, { engine: text, peer }: Remembered): Promise<Whole> {
  const found = readCollection(directory);
  const own = found.id === '' ? undefined : { id: found.id, partitions: found.partitions };
  const engine = await openEngine({
    ...{ address: readEngineAddress(text), name: 'skein', looks: true },
    ...(own && { collection: own }),
  });
  try {
    const { id, partitions } = engine.collection;
    const claims = await Claims.open(engine.buckets.owner, { name: '', session: '' }, partitions);
    // When the engine has forgotten everything, unclaimed partitions are still where they were.
    const here = own ? found.here.filter(({ id: place }) => (claims.of(place)?.peer ?? peer) === peer) : [];
    return { collection: { directory, id, partitions, here }, elsewhere: new PeersElsewhere(engine, claims) };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** Answers of the peers that hold some partitions, and which of these peers were silent. */
interface HoldersTold {
  readonly answers: ReadonlyMap<string, unknown>;
  readonly silent: readonly string[];
  readonly unheld: readonly number[];
}

export class PeersElsewhere implements PartElsewhere {
  readonly #engine: ClusterEngine;
  readonly #claims: Claims;
  /** Peers that did not answer, until when they are left alone; monotonic milliseconds. */
  readonly #silent = new Map<string, number>();
  #asking = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(engine: ClusterEngine, claims: Claims) {
    this.#engine = engine;
    this.#claims = claims;
  }

  async ask(name: string, args: unknown, partitions: readonly number[]): Promise<ToldElsewhere> {
    while (this.#asking >= AT_ONCE) await new Promise<void>(resolve => this.#waiting.push(resolve));
    this.#asking++;
    try {
      return await this.#ask(name, args, partitions);
    } finally {
      this.#asking--;
      this.#waiting.shift()?.();
    }
  }

  async #ask(name: string, args: unknown, partitions: readonly number[]): Promise<ToldElsewhere> {
    const open = new Set(partitions);
    const parts: { partition: number; part: unknown }[] = [];
    const silent = new Set<string>();
    const until = performance.now() + ON_ITS_WAY;
    for (;;) {
      const { peers } = this.#holdersOf(open, silent);
      const { answers, silent: quiet } = await scatter(
        this.#engine.connection,
        [...peers],
        { name: 'ask', args: { name, args, partitions: [...open] } satisfies AskedOfPeer },
        { deadline: DEADLINE, subjectOf: questionSubject },
      );
      for (const peer of quiet.keys()) this.#leaveAlone(peer, silent);
      for (const [peer, answer] of answers) {
        const told = toldForm.safeParse(answer);
        if (!told.success) throw malformed(peer, name);
        for (const { partition, part } of told.data.parts)
          if (open.delete(partition)) parts.push({ partition, part: partFrom(name, part) });
      }
      this.#giveUp(open, silent);
      if (open.size === 0 || performance.now() > until) return { parts, silent: [...silent], unheld: [...open] };
      await wait(PAUSE);
    }
  }

  /** Bytes of partitions in a format, peer by peer; returns how many pages or copies they are. */
  async *export(asked: ExportAsked): AsyncGenerator<Uint8Array, number> {
    let count = 0;
    const silent = new Set<string>();
    const begun = asked.partitions.filter(partition => this.#claims.of(partition) !== undefined);
    const { peers, unheld } = this.#holdersOf(new Set(begun), silent);
    if (unheld.length > 0) throw new SkeinError('incomplete', inMotion(unheld), 'Try again in some seconds.');
    for (const peer of peers) {
      const partitions = asked.partitions.filter(partition => this.#claims.of(partition)?.peer === peer);
      const from = { peer, subject: questionSubject(peer), deadline: DEADLINE };
      const question = { name: 'export', args: { ...asked, partitions } satisfies ExportAsked };
      const end = yield* askForStream(this.#engine.connection, from, question);
      if (!Number.isSafeInteger(end)) throw malformed(peer, 'export');
      count += end as number;
    }
    return count;
  }

  /** Asks each peer that holds some of these partitions; the caller, who knows the question, checks the answers. */
  async askHolders(name: string, args: unknown, partitions: readonly number[]): Promise<HoldersTold> {
    const silent = new Set<string>();
    const begun = partitions.filter(partition => this.#claims.of(partition) !== undefined);
    const { peers, unheld } = this.#holdersOf(new Set(begun), silent);
    const told = await scatter(
      this.#engine.connection,
      [...peers],
      { name, args },
      {
        ...{ deadline: DEADLINE, subjectOf: questionSubject },
      },
    );
    for (const peer of told.silent.keys()) this.#leaveAlone(peer, silent);
    return { answers: told.answers, silent: [...silent].sort(), unheld };
  }

  /** Whether a partition is held by this peer. */
  isHeldBy(partition: number, peer: string): boolean {
    return (this.#claims.of(partition)?.peer ?? peer) === peer;
  }

  /** The cluster as it is now. */
  view(): Promise<ClusterView> {
    return viewCluster(this.#engine);
  }

  async figures(): Promise<ReturnType<typeof figuresOf>> {
    return figuresOf(await this.view());
  }

  get shown(): string {
    return this.#engine.shown;
  }

  async close(): Promise<void> {
    await this.#claims[Symbol.asyncDispose]();
    await this.#engine.close();
  }

  /** Who has these, without those who did not answer; and those that are between two peers. */
  #holdersOf(open: ReadonlySet<number>, silent: Set<string>): { peers: Set<string>; unheld: number[] } {
    const peers = new Set<string>();
    const unheld: number[] = [];
    for (const partition of open) {
      const claim = this.#claims.of(partition);
      if (!claim?.peer) unheld.push(partition);
      else if ((this.#silent.get(claim.peer) ?? 0) > performance.now()) silent.add(claim.peer);
      else if (PEER_NAME.test(claim.peer)) peers.add(claim.peer);
    }
    return { peers, unheld };
  }

  #leaveAlone(peer: string, silent: Set<string>): void {
    silent.add(peer);
    this.#silent.set(peer, performance.now() + LEFT_ALONE);
  }

  /** Partitions of a silent peer are not waited for; one that nobody ever had is not missing. */
  #giveUp(open: Set<number>, silent: ReadonlySet<string>): void {
    for (const partition of open) {
      const claim = this.#claims.of(partition);
      if (!claim || (claim.peer && silent.has(claim.peer))) open.delete(partition);
    }
  }
}

/** For people. */
function inMotion(partitions: readonly number[]): string {
  const which = partitions.length === 1 ? `Partition ${partitions[0]} is` : `Partitions ${partitions.join(', ')} are`;
  return `${which} on the way from one peer to another, and what ${partitions.length === 1 ? 'it has' : 'they have'} is missing here.`;
}

function malformed(peer: string, name: string): SkeinError {
  return new SkeinError('refused', `The peer ${peer} sent a malformed answer "${name}".`, 'It may run another Skein.');
}
