/**
 * One of several homes that crawl as one: joins the cluster, keeps the partitions that the ring gives it, and works on them
 * like any home. Without the engine it finishes what is under way, keeps it, stops fetching, and goes on when it is back.
 */
import { rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';
import { SkeinError } from '../../base/errors.ts';
import { cutChangelogs } from '../../cluster/changelog/cutting.ts';
import { Claims } from '../../cluster/claims.ts';
import type { ClusterEngine } from '../../cluster/engine.ts';
import { diskOf, partOfCapacity } from '../../cluster/members/capacity.ts';
import { idle, type PeerLoad } from '../../cluster/members/heartbeat.ts';
import { PeerMembers } from '../../cluster/members/members.ts';
import { Custody } from '../../cluster/peer/custody.ts';
import { serveSegments } from '../../cluster/peer/moving-segments.ts';
import { Recollection } from '../../cluster/peer/recollection.ts';
import { SharedRecord } from '../../cluster/shared-record.ts';
import { peerNameOf } from '../../cluster/topology/layout.ts';
import { WatchedBucket } from '../../cluster/watched-bucket.ts';
import { requestsTo } from '../../crawler/pace/address-slots.ts';
import { newRound } from '../../home/round.ts';
import type { Supply } from '../../home/supply.ts';
import { type ClusterTerms, type Engine, openEngine } from '../engine.ts';
import type { EngineOptions, Extras } from '../options.ts';
import { type Answering, startAnswering } from './answering.ts';
import { Contact } from './contact.ts';
import { Ending } from './ending.ts';
import {
  aborted,
  agreedOn,
  archiveOf,
  beginHere,
  type ClusterCrawl,
  crawlForm,
  openFor,
  type PeerOptions,
  withDecider,
} from './joining.ts';
import { PeerLeave } from './leave.ts';
import { LinkExchange } from './link-exchange.ts';
import { PartitionHost } from './partition-host.ts';
import { livePages, type RunKind, Runs } from './runs.ts';
import { Slices } from './slices.ts';
import { Steering } from './steering.ts';

/** Milliseconds. */
const TURN = 250;
/** To hear who is there before the first partitions are taken: longer than a heartbeat. */
const LISTEN = 1500;
/** Between two looks whether changelogs can be cut. */
const CUT = 60_000;
/** For others to hear that it is over before this one says goodbye. */
const FAREWELL = 1500;
/** For heirs to fetch what they need of a partition that was handed over. */
const HANDING_OVER = 60_000;

export class Peer {
  readonly #options: PeerOptions;
  readonly #engine: ClusterEngine;
  readonly #clock: Clock;
  readonly #members: PeerMembers;
  readonly #claims: Claims;
  readonly #meta: WatchedBucket;
  readonly #crawl: SharedRecord<ClusterCrawl>;
  readonly #runs: Runs;
  readonly #slices: Slices;
  readonly #host: PartitionHost;
  readonly #custody: Custody;
  readonly #ending: Ending;
  readonly #leave: PeerLeave;
  readonly #contact: Contact;
  readonly #recollection: Recollection;
  #cutting: NodeJS.Timeout | undefined;
  #home: Engine | undefined;
  #exchange: LinkExchange | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Ticks at which home last had nothing to do. */
  #idleAt = Number.NEGATIVE_INFINITY;
  #over = false;
  #mode: RunKind = 'crawl';
  /** All were told to stop: each keeps what it has. */
  #rests = false;
  readonly #steering: Steering;
  #part = 1;
  /** In which the threads count their requests. */
  #slots: SharedArrayBuffer | undefined;
  readonly #leftovers = new Set<number>();

  private constructor(
    options: PeerOptions,
    parts: { engine: ClusterEngine; members: PeerMembers; claims: Claims; meta: WatchedBucket },
  ) {
    const { engine, members, claims, meta } = parts;
    this.#options = options;
    [this.#engine, this.#clock] = [engine, engine.time.clock];
    this.#members = members;
    this.#claims = claims;
    this.#meta = meta;
    this.#crawl = new SharedRecord(meta, 'crawl', crawlForm);
    this.#runs = new Runs(meta);
    const holderOf = (partition: number) => claims.of(partition)?.peer ?? undefined;
    this.#steering = new Steering({
      ...{ meta, engine, crawl: this.#crawl, me: members.name, run: () => this.#runs.number, holderOf },
    });
    this.#slices = new Slices({
      ...{ meta, me: members, run: () => this.#runs.number, now: () => this.#clock.now() },
      living: () => this.#members.ringMembers().map(({ name }) => name),
    });
    this.#host = new PartitionHost(options.data, () => this.crawl.seeds);
    this.#leave = new PeerLeave({
      ...{ connection: engine.connection, me: members.name, clock: this.#clock, holderOf },
      partitions: engine.layout.partitions,
      isBusy: address => this.#slots !== undefined && requestsTo(this.#slots, address) > 0,
    });
    const [{ leases }, { say }] = [this.#leave, options];
    this.#custody = new Custody({
      ...{ engine, members, claims, say, host: this.#host, clock: this.#clock },
      reached: () => this.#exchange?.soon(),
      desks: { open: (partition, origin) => leases.openDesk(partition, origin), close: each => leases.closeDesk(each) },
    });
    this.#recollection = new Recollection({ engine, members, claims, custody: this.#custody, meta, say });
    const lookAgain = async () => {
      await this.#recollection.check();
      await Promise.all([claims.check(), meta.check()]);
    };
    this.#contact = new Contact({ members, claims, custody: this.#custody, leave: this.#leave, lookAgain, say });
    this.#ending = new Ending(members);
  }

  /** Joins the cluster of an engine; `crawl`: begins one there, or adds seeds to it. Throws a sentence where it cannot. */
  static async join(options: PeerOptions, crawl: ClusterCrawl, changed: ClusterCrawl['values'] = {}): Promise<Peer> {
    const name = options.peer ?? peerNameOf(hostname());
    const engine = await openFor(options, name, crawl.seeds.length > 0);
    let members: PeerMembers | undefined;
    try {
      let joined: Peer | undefined;
      const load = (): PeerLoad => (joined ? joined.#load() : { ...idle, capacity: options.capacity ?? 1 });
      const leave = () => (joined ? joined.#leaveNow() : false);
      const obey = (order: unknown) => (joined ? joined.#steering.obey(order) : null);
      members = await PeerMembers.join({ engine, name, clock: engine.time.clock, load, answerers: { leave, obey } });
      const claims = await Claims.open(engine.buckets.owner, members, engine.layout.partitions);
      const meta = await WatchedBucket.open(engine.buckets.meta);
      joined = new Peer(options, { engine, members, claims, meta });
      const deciding = { given: options.decider, othersWork: joined.#othersWork() };
      await joined.#crawl.change(now => withDecider(agreedOn(now, crawl, changed), deciding));
      return joined;
    } catch (error) {
      await members?.leave();
      await engine.close();
      throw error;
    }
  }

  get name(): string {
    return this.#members.name;
  }

  /** As all peers have it. */
  get crawl(): ClusterCrawl {
    return this.#crawl.value!;
  }

  /** Opens home with the first partitions that this peer gets, and takes the others as they come. */
  async open(options: EngineOptions, extras: Extras = {}): Promise<Engine> {
    try {
      return await this.#open(options, extras);
    } catch (error) {
      await this.#depart();
      throw error;
    }
  }

  async #open(options: EngineOptions, extras: Extras): Promise<Engine> {
    const { say, data } = this.#options;
    this.#mode = extras.mode ?? 'crawl';
    this.#host.archive = await archiveOf(this.crawl, this.#engine.collection.id, this.#options.archive);
    const others = this.#othersWork();
    await this.#runs.begin(this.#mode, this.#clock.now(), others);
    await this.#steering.begin(others);
    beginHere(this.#options, this.#engine, this.name);
    const serving = serveSegments(this.#engine.connection, this.name, {
      directoryOf: partition => (this.#custody.isLeftover(partition) ? this.#host.directoryOf(partition) : undefined),
      done: partition => this.#forget(partition),
    });
    this.#dropStale();
    const answering = this.#answer();
    this.#members.start();
    await wait(LISTEN);
    await this.#recollection.start();
    this.#timer = setInterval(() => this.#turn(), TURN);
    const parts = { engine: this.#engine, members: this.#members, custody: this.#custody };
    this.#cutting = setInterval(() => void cutChangelogs(parts).catch(() => undefined), CUT).unref(); // tried again
    this.#turn();
    const begun = await Promise.race([this.#host.first, aborted(options.signal)]);
    const home = await openEngine({ ...options, data, archive: undefined }, this.crawl.seeds, {
      ...{ ahead: this.#engine.time.ahead, ...extras, partitions: begun, shared: true, leave: this.#leave },
      opened: this.#host.opened,
      copying: { until: () => this.#contact.safeUntil, isMine: partition => this.#claims.isMine(partition) },
    });
    this.#slots = home.threadData.slots;
    home.home.partitions.carriesLinks = false;
    this.#home = home;
    this.#exchange = new LinkExchange({
      connection: this.#engine.connection,
      home: home.home,
      partitions: this.#engine.layout.partitions,
      keeperOf: partition => this.#custody.held.get(partition)?.keeper,
      holderOf: partition => this.#claims.of(partition)?.peer ?? undefined,
    });
    this.#host.run(home, begun);
    this.#slices.limit(home.frontier.options.budget);
    say(`This is ${this.name}, a peer of ${this.#engine.shown}.`);
    return {
      ...home,
      cluster: this.#terms(),
      run: supply => home.run(this.#untilOver(supply)),
      close: () => this.#close(home, serving, answering),
    };
  }

  /** What a round goes by here, from the moment on at which nothing of this peer is on its way. */
  #terms(): ClusterTerms {
    const terms = () => (this.#custody.moving.length === 0 && this.#isComplete() ? this.#runs.terms : undefined);
    const { round, daily } = this.#slices;
    const steering = this.#steering.port(() => {
      this.#rests = true;
    });
    const mayAsk = () => this.#clock.ticks() < this.#contact.asksUntil;
    return { terms, round, daily, steering, mayAsk };
  }

  /** A round has no terms yet. A crawl has none: each page of it is looked at once. */
  get #gathers(): boolean {
    return this.#mode !== 'crawl' && this.#runs.terms === undefined;
  }

  /** Every partition is held, and everybody has said how many pages it has: then the terms of the round are agreed on. */
  #agreeOnTerms(home: Engine): void {
    const live = livePages(this.#members, this.#engine.layout.partitions);
    if (live === undefined || this.#custody.moving.length > 0 || !this.#isComplete()) return;
    this.#runs.agree(() => ({ ...newRound(home.pool, this.#clock.now()), live }));
  }

  #othersWork(): boolean {
    return this.#members.ringMembers().some(({ name }) => name !== this.name);
  }

  #load(): PeerLoad {
    const home = this.#home?.home;
    if (!home) return { ...idle, capacity: this.#capacity() };
    const { partitions, progress } = home;
    const keepers = [...this.#custody.held.values()].map(({ keeper }) => keeper);
    return {
      capacity: this.#capacity(),
      pages: partitions.sum(({ ledger }) => ledger.pages.own),
      servers: partitions.sum(({ ledger }) => ledger.servers.size),
      ...(this.#gathers && { live: this.#home!.pool.live }),
      rate: progress.rate(),
      partitions: partitions.size,
      moving: this.#custody.moving,
      changelogLag: keepers.filter(({ settled }) => !settled).length,
      exchangeLag: this.#exchange?.lag ?? 0,
      exchanged: this.#exchange?.sums(this.name) ?? [],
      ...(this.#isQuiet(keepers) && { quiet: this.#done() }),
    };
  }

  #capacity(): number {
    this.#part = partOfCapacity(diskOf(this.#options.data), this.#part);
    return (this.#options.capacity ?? 1) * this.#part;
  }

  /** A number that grows with whatever this peer does. */
  #done(): number {
    const { outcomes } = this.#home!.home.progress;
    return Object.values(outcomes).reduce((sum, n) => sum + n, 0) + this.#exchange!.taken;
  }

  #isQuiet(keepers: readonly { readonly settled: boolean }[]): boolean {
    const rests = this.#clock.ticks() - this.#idleAt < 4 * TURN;
    return (
      rests && this.#exchange!.empty && this.#custody.moving.length === 0 && keepers.every(({ settled }) => settled)
    );
  }

  /** Home goes on until all peers have nothing left. */
  #untilOver(supply: Supply): Supply {
    return {
      fill: () => supply.fill(),
      worthWaiting: () => {
        const now = this.#clock.ticks();
        // Not in each of home's turns: it asks the ledger of every partition.
        if (now - this.#idleAt >= TURN && !supply.worthWaiting() && !this.#slices.mayGrow) this.#idleAt = now;
        return !this.#over;
      },
      get left() {
        return supply.left;
      },
    };
  }

  #turn(): void {
    if (this.#members.isFenced) {
      this.#fail();
      return;
    }
    this.#contact.turn(this.#home?.home);
    void this.#leave.turn();
    if (this.#over || this.#home?.home.stopped) return;
    this.#custody.turn();
    this.#exchange?.turn();
    if (this.#home) {
      this.#slices.limit(this.#home.frontier.options.budget);
      this.#steering.turn(this.#home.home.partitions);
    }
    this.#slices.turn();
    if (this.#home && this.#gathers) this.#agreeOnTerms(this.#home);
    if (this.#runs.isOver && this.#home) this.#over = true;
    else if (this.#ending.isOver(this.#clock.ticks(), this.#isComplete())) this.#runs.end();
  }

  #fail(): void {
    const text = `Another process now runs as ${this.name} and has taken over the partitions of this one.`;
    this.#home?.home.fail(new SkeinError('data-in-use', text, 'Give each peer a name of its own with --peer.'));
  }

  /** Every partition is held by one who lives. */
  #isComplete(): boolean {
    return this.#claims.all().every(claim => claim?.peer != null && this.#members.livenessOf(claim.peer) === 'living');
  }

  /** Files of partitions that others took while this peer was away. */
  #dropStale(): void {
    this.#host.dropAll(id => ![undefined, null, this.name].includes(this.#claims.of(id)?.peer));
  }

  #forget(partition: number): void {
    if (!this.#custody.isLeftover(partition)) return;
    this.#leftovers.delete(partition);
    rmSync(this.#host.directoryOf(partition), { recursive: true, force: true });
  }

  /** Somebody asks this peer to hand over and end. */
  #leaveNow(): true {
    this.#options.say('Leaving: handing over all partitions to the other peers.');
    this.#home?.home.stop();
    return true;
  }

  /** Others may ask about what this peer has, from its first partition on. */
  #answer(): Answering {
    const [{ engine, data }, { connection, layout }] = [this.#options, this.#engine];
    const held = () => [...this.#custody.held].map(([partition, { epoch }]) => [partition, epoch] as const);
    return startAnswering({ connection, peer: this.name, engine, data, partitions: layout.partitions, held });
  }

  async #close(home: Engine, serving: Disposable, answering: Answering): Promise<void> {
    this.#rest();
    const { held } = this.#custody;
    try {
      if (!this.#over && !this.#rests && this.#othersWork() && this.#members.mayFetch()) {
        for (const partition of held.keys()) this.#leftovers.add(partition);
        this.#members.startLeaving();
        await this.#custody.leave();
        const start = performance.now();
        while (this.#leftovers.size > 0 && this.#othersWork() && performance.now() - start < HANDING_OVER)
          await wait(50);
      } else {
        // Each keeps what it has: whoever starts again finds it where it was.
        if (this.#over) await wait(FAREWELL);
        await this.#custody.rest();
      }
    } finally {
      this.#exchange?.close();
      this.#leave.close();
      await this.#slices.close();
      await home.close();
      this.#dropStale();
      serving[Symbol.dispose]();
      await answering.close();
      await this.#depart();
    }
  }

  #rest(): void {
    clearInterval(this.#timer);
    clearInterval(this.#cutting);
    this.#recollection[Symbol.dispose]();
  }

  async #depart(): Promise<void> {
    this.#rest();
    await this.#members.leave();
    await this.#claims[Symbol.asyncDispose]();
    this.#meta.close();
    await this.#engine.close();
  }
}
