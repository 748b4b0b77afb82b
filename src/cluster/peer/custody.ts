/**
 * The partitions that this peer has: takes those that the ring gives it and nobody living holds, hands over those that it
 * gives to others, drops at once what somebody else has claimed. What to do about each is decided anew at every turn from
 * who lives and who holds what; only the compare-and-set of the claims and the fence of the changelogs decide who wins.
 */
import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { SkeinError } from '../../base/errors.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { numberOf, segmentsIn } from '../../ledger/replica/replica.ts';
import { Fenced } from '../changelog/changelog.ts';
import { ChangelogWriter } from '../changelog/changelog-writer.ts';
import { natsChangelog } from '../changelog/nats-changelog.ts';
import { type Claim, type Claims, planClaims } from '../claims.ts';
import type { ClusterEngine } from '../engine.ts';
import type { DeskOrigin } from '../leases/lease-desk.ts';
import type { Liveness } from '../members/detector.ts';
import type { PeerMembers } from '../members/members.ts';
import { assign } from '../ring/assign.ts';
import { natsSnapshots } from '../snapshots/nats-snapshots.ts';
import { archiveIsHere, type Inherited, inherit } from './inherit.ts';
import { Keeper, type KeeperParts } from './keeper.ts';
import { fetchSegments } from './moving-segments.ts';

/** What works on partitions: home and its collection. */
export interface Host {
  directoryOf(partition: number): string;
  /** Opens a partition and works on it; `opened` is called before anything is written to its ledger. */
  adopt(partition: number, opened: (ledger: Ledger) => void, isNew: boolean): Promise<void>;
  /** Ends the work in good order; `last` is called when nothing more will be written, and awaited before it is closed. */
  release(partition: number, last: () => Promise<void>): Promise<void>;
  /** Ends it at once: what was not committed is gone, and nothing is written any more. */
  drop(partition: number): Promise<void>;
  /** Bytes by segment that a store has of those that are not on this disk; throws where the store does not answer. */
  copied(partition: number): Promise<ReadonlyMap<number, number>>;
}

interface CustodyParts {
  readonly engine: ClusterEngine;
  readonly members: PeerMembers;
  readonly claims: Claims;
  readonly host: Host;
  readonly clock: Clock;
  /** Told what people who watch may want to read, a sentence each. */
  readonly say: (text: string) => void;
  /** The engine has more of some partition. */
  readonly reached: () => void;
  /** The turns at addresses that belong to a partition (leases/lease-desk.ts). */
  readonly desks: {
    open(partition: number, origin: DeskOrigin): void;
    close(partition: number): void;
  };
}

interface HeldPartition {
  readonly keeper: Keeper;
  readonly epoch: number;
  readonly ledger: Ledger;
}

/** Milliseconds that the end of a run waits for an engine that is away. */
const LAST = 5000;
/** Takeovers at the same time: each needs memory for a ledger, and the disk. */
const AT_ONCE = 4;
const MINUTE = 60_000;
/** Milliseconds before a partition that could not be taken is tried again. */
const PAUSE = 2000;

export class Custody {
  readonly #parts: CustodyParts;
  readonly #held = new Map<number, HeldPartition>();
  readonly #moving = new Map<number, Promise<void>>();
  /** Ticks. */
  readonly #notBefore = new Map<number, number>();
  /** Closed here; their heirs may want their archives. */
  readonly #handedOver = new Set<number>();
  /** Among these, those that were on their way when the engine forgot everything: what is here is all that there is. */
  readonly #takenBack = new Set<number>();
  /** The claims that this peer took the place of. */
  readonly #before = new Map<number, Claim | undefined>();
  /** Peers that were heard since this one began. */
  readonly #heard = new Set<string>();
  /** Ticks. */
  readonly #began: number;
  readonly #said = new Set<string>();
  /** As of the last turn, and of which peers. */
  #wanted: { readonly key: string; readonly owners: readonly (string | undefined)[] } = { key: '-', owners: [] };
  #leaving = false;

  constructor(parts: CustodyParts) {
    this.#parts = parts;
    this.#began = parts.clock.ticks();
  }

  get held(): ReadonlyMap<number, HeldPartition> {
    return this.#held;
  }

  /** On their way here or from here. */
  get moving(): number[] {
    return [...this.#moving.keys()];
  }

  /** Nothing here works on it: its files may be read by an heir. */
  isLeftover(partition: number): boolean {
    return !this.#held.has(partition) && (this.#handedOver.has(partition) || !this.#moving.has(partition));
  }

  /** Whose each partition should be: with a hundred peers a ring takes tens of milliseconds, so it is made when they change. */
  wanted(): readonly (string | undefined)[] {
    const { members, engine } = this.#parts;
    const ring = members.ringMembers();
    const key = ring.map(({ name, capacity }) => `${name} ${capacity}`).join();
    if (key !== this.#wanted.key) this.#wanted = { key, owners: assign(engine.layout.partitions, ring) };
    return this.#wanted.owners;
  }

  /**
   * Machines that start one after the other after a run find each other's partitions held by peers that are not there yet.
   * Their files are with them, so they get a minute, and not the ten seconds of one that was heard and fell silent.
   */
  #livenessOf(name: string): Liveness {
    const { members, clock } = this.#parts;
    const liveness = members.livenessOf(name);
    if (members.list().some(member => member.name === name)) this.#heard.add(name);
    return liveness === 'dead' && !this.#heard.has(name) && clock.ticks() - this.#began < MINUTE ? 'suspect' : liveness;
  }

  /** Does what is to be done now, without waiting for it. */
  turn(): void {
    const { members, claims } = this.#parts;
    if (!members.mayFetch()) return;
    for (const partition of this.#held.keys()) if (!claims.isMine(partition)) void this.lost(partition);
    const { take, release } = planClaims({
      me: members,
      claims: claims.all(),
      wanted: this.wanted(),
      livenessOf: name => this.#livenessOf(name),
    });
    for (const partition of release) this.#start(partition, () => this.#handOver(partition));
    // A claim of this process that came to nothing is taken up again.
    const orphans = claims.mine().filter(partition => !this.#held.has(partition) && !this.#handedOver.has(partition));
    const back = [...this.#takenBack].filter(partition => !claims.of(partition)?.peer);
    if (!this.#leaving)
      for (const partition of [...back, ...take, ...orphans]) this.#start(partition, () => this.#take(partition));
  }

  /** Hands everything over; resolves when others can take it. */
  async leave(): Promise<void> {
    this.#leaving = true;
    await this.settle();
    while (this.#held.size > 0) {
      for (const partition of this.#held.keys()) this.#start(partition, () => this.#handOver(partition));
      await this.settle();
      await patience(20);
    }
  }

  /** Lets the engine have everything, and closes; this peer keeps its claims. Without the engine it waits only a little. */
  async rest(): Promise<void> {
    this.#leaving = true;
    await this.settle();
    const rest = async ([partition, { keeper }]: [number, HeldPartition]) => {
      await this.#parts.host.release(partition, () => Promise.race([keeper.flush(), patience(LAST)]));
      keeper.close();
      this.#held.delete(partition);
    };
    await Promise.all([...this.#held].map(rest));
  }

  /** Resolves when nothing moves. */
  async settle(): Promise<void> {
    while (this.#moving.size > 0) await Promise.all(this.#moving.values());
  }

  /** Ends the work in one that is somebody else's; resolves when it has ended. */
  async lost(partition: number): Promise<void> {
    this.#start(partition, () => this.#drop(partition), true);
    await this.#moving.get(partition);
  }

  #start(partition: number, work: () => Promise<void>, urgent = false): void {
    if (this.#moving.has(partition)) return;
    if (!urgent && this.#moving.size >= AT_ONCE) return;
    if (!urgent && (this.#notBefore.get(partition) ?? 0) > this.#parts.clock.ticks()) return;
    const done = work()
      .catch((error: unknown) => {
        this.#notBefore.set(partition, this.#parts.clock.ticks() + PAUSE);
        if (!(error instanceof Fenced)) this.#sayOnce(`Partition ${partition}: ${(error as Error).message}`);
      })
      .finally(() => this.#moving.delete(partition));
    this.#moving.set(partition, done);
  }

  #sayOnce(text: string): void {
    if (this.#said.has(text)) return;
    this.#said.add(text);
    this.#parts.say(text);
  }

  async #take(partition: number): Promise<void> {
    const { claims, members, engine, host } = this.#parts;
    // Of an earlier claim, which was lost.
    if (this.#held.has(partition)) await this.#drop(partition);
    const before = claims.of(partition);
    const directory = host.directoryOf(partition);
    const [log, snapshots] = [natsChangelog(engine), natsSnapshots(engine)];
    if (!claims.isMine(partition)) this.#before.set(partition, before);
    const last = await log.last(partition);
    // Whoever hands a partition over has sent all of it: an engine that has nothing of it has forgotten it.
    if (this.#before.get(partition)?.peer === null && numberOf(directory) === undefined && !last) {
      await claims.release(partition);
      throw new SkeinError('no-engine', 'The engine has lost it. The peer that handed it over sends it again.');
    }
    this.#handedOver.delete(partition);
    const epoch = claims.isMine(partition)
      ? claims.of(partition)!.epoch
      : await claims.take(partition, last?.writer.epoch);
    if (epoch === undefined) return;
    this.#takenBack.delete(partition);
    this.#parts.desks.open(partition, this.#originOf(before));
    const writer = { peer: members.name, epoch };
    const inherited = await inherit({ partition, directory, writer, log, snapshots });
    await this.#bringArchive(partition, inherited);
    const copied = await host.copied(partition);
    const opened = (ledger: Ledger) => {
      this.#open(partition, epoch, inherited, ledger);
      this.#lose(partition, ledger, copied);
    };
    await host.adopt(partition, opened, inherited.state === 'new');
    this.#said.clear();
  }

  /** Nothing is written here before: what came is told from what is missing by its length. */
  async #bringArchive(partition: number, { archiveOf }: Inherited): Promise<void> {
    const { engine, host } = this.#parts;
    const directory = host.directoryOf(partition);
    if (archiveOf === undefined || numberOf(directory) === undefined) return;
    await fetchSegments(engine.connection, archiveOf, partition, { directory, wanted: segmentsIn(directory) });
    archiveIsHere(directory);
  }

  #originOf(before: Claim | undefined): DeskOrigin {
    const { members } = this.#parts;
    if (!before) return 'new';
    // Nobody is there who could have a lease.
    if (members.list().every(({ name }) => name === members.name)) return 'new';
    const died = before.peer !== null && before.peer !== members.name;
    return died ? 'inherited' : 'handed-over';
  }

  /** The engine has forgotten what it held: what this peer has is claimed there again, and all of it is sent. */
  async sendAnew(partitions: Iterable<number>): Promise<void> {
    const { claims, host } = this.#parts;
    for (const partition of this.#handedOver)
      if (numberOf(host.directoryOf(partition)) !== undefined) this.#takenBack.add(partition);
    // Also of those that are on their way here.
    await Promise.all(claims.mine().map(partition => claims.restore(partition)));
    // Also of those that are on their way from here: they leave when the engine has them.
    for (const partition of partitions) this.#held.get(partition)?.keeper.sendAnew();
  }

  async #renewed(partition: number, epoch: number, ledger: Ledger): Promise<ChangelogWriter> {
    const { claims, members, engine } = this.#parts;
    const log = natsChangelog(engine);
    const last = await log.last(partition);
    if (!(await claims.restore(partition))) throw new Fenced(partition, last);
    const standing = { writer: { peer: members.name, epoch }, number: ledger.outbox.changes.number };
    const changelog = new ChangelogWriter(log, partition, { ...standing, sequence: last?.sequence ?? 0 });
    await changelog.claim();
    return changelog;
  }

  #keep(partition: number, epoch: number, how: Pick<KeeperParts, 'changelog' | 'ahead'>, ledger: Ledger): void {
    const keeper = new Keeper({
      ...{ partition, ledger, epoch, ...how },
      snapshots: natsSnapshots(this.#parts.engine),
      fenced: () => void this.lost(partition),
      renewed: () => this.#renewed(partition, epoch, ledger),
      reached: this.#parts.reached,
    });
    this.#held.set(partition, { keeper, epoch, ledger });
  }

  #open(partition: number, epoch: number, { changelog, state }: Inherited, ledger: Ledger): void {
    this.#keep(partition, epoch, { changelog, ahead: state === 'ahead' }, ledger);
  }

  #lose(partition: number, ledger: Ledger, copied: ReadonlyMap<number, number>): void {
    const { clock, say } = this.#parts;
    const lost = loseMissing(ledger, clock.now(), copied);
    if (lost > 0)
      say(`Partition ${partition}: ${lost} stored pages were on a machine that is gone; Skein fetches them again.`);
  }

  async #handOver(partition: number): Promise<void> {
    const { host, claims } = this.#parts;
    const held = this.#held.get(partition);
    if (!held) return;
    this.#parts.desks.close(partition);
    await host.release(partition, () => held.keeper.flush());
    held.keeper.close();
    this.#held.delete(partition);
    this.#handedOver.add(partition);
    await claims.release(partition);
  }

  async #drop(partition: number): Promise<void> {
    const held = this.#held.get(partition);
    if (!held) return;
    this.#parts.desks.close(partition);
    held.keeper.close();
    this.#held.delete(partition);
    await this.#parts.host.drop(partition);
    // The other has what the engine knew, and goes on from there.
    rmSync(this.#parts.host.directoryOf(partition), { recursive: true, force: true });
    this.#parts.say(`Partition ${partition} now belongs to another peer.`);
  }
}

const patience = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms).unref());

/** Setting: pages whose copies went with a machine, so far. */
const LOST = 'lostCopies';

/**
 * What the ledger says of segments that are neither here nor copied is taken back. Returns how many pages are to be fetched
 * again.
 */
function loseMissing(ledger: Ledger, now: number, copied: ReadonlyMap<number, number>): number {
  const archive = join(ledger.directory, 'archive');
  const missing = ledger.storage.segments
    .all()
    .filter(({ id, length }) => (copied.get(id) ?? 0) < length && !isThere(archive, id, length));
  if (missing.length === 0) return 0;
  ledger.begin();
  let pages = 0;
  for (const { id } of missing) {
    // The end is that of whole records, wherever the copying was cut off.
    const { pages: lost, end } = ledger.storage.copies.loseSegment(id, now, copied.get(id) ?? 0);
    pages += lost;
    if (end > 0) ledger.storage.segments.setLength(id, end);
    else ledger.storage.segments.remove(id);
  }
  if (pages > 0) ledger.settings.set(LOST, (ledger.settings.get<number>(LOST) ?? 0) + pages);
  ledger.commit();
  return pages;
}

function isThere(archive: string, id: number, length: number): boolean {
  const file = join(archive, `segment-${String(id).padStart(6, '0')}.warc.gz`);
  return existsSync(file) && statSync(file).size >= length;
}
