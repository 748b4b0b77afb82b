/**
 * The peers of a cluster as this one sees them: sends its heartbeat, hears those of others, says who lives. The ring is
 * computed from `ringMembers`; whether this peer may fetch at all is `mayFetch`.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Subscription } from '@nats-io/transport-node';
import type { Clock } from '../../base/clock.ts';
import { version } from '../../base/version.ts';
import type { ClusterEngine } from '../engine.ts';
import type { RingMember } from '../ring/ring.ts';
import { answerQuestions, type PeerAnswerer } from '../rpc/answering.ts';
import { scatter } from '../rpc/scatter.ts';
import { PROTOCOL } from '../topology/collection.ts';
import { heartbeatSubject } from '../topology/layout.ts';
import { Detector, type Liveness } from './detector.ts';
import {
  BEAT,
  decodeHeartbeat,
  encodeHeartbeat,
  FULL_BEAT_EVERY,
  type Heartbeat,
  type PeerLoad,
  type Phase,
  readHeartbeat,
} from './heartbeat.ts';
import { giveUpName, presentNames, readHolder, restoreName, takeName } from './name.ts';

interface ClusterMember {
  readonly name: string;
  readonly liveness: Liveness;
  /** The last one, with the counts by peer of the last that had them. */
  readonly heartbeat: Heartbeat;
  /** Milliseconds since it was heard. */
  readonly silent: number;
}

/** What a peer may rely on, as far as it knows. */
export interface EngineContact {
  /** Grows whenever contact was lost for so long that claims must be asked for again (`Claims.isStillMine`) before fetching. */
  readonly lapses: number;
  /** Ticks until which what this peer holds is its own if it is now: silence counts for others from then on. */
  readonly safeUntil: number;
  /** Ticks until which its threads may ask servers: what they fetch reaches the engine soon. */
  readonly asksUntil: number;
}

interface MembersOptions {
  readonly engine: ClusterEngine;
  readonly name: string;
  readonly clock: Clock;
  /** Asked before each heartbeat. */
  readonly load: () => PeerLoad;
  /** What other peers may ask this one, by name; `heartbeat` is answered by itself. */
  readonly answerers?: Readonly<Record<string, PeerAnswerer>>;
}

/** Milliseconds for those who are there to answer one who joins. */
const GREETING = 1000;
/** Milliseconds between two questions whether the engine is there, and how many may wait for their answers. */
const ASK = 250;
const MOST_ASKED = 8;
/** More members than a cluster can have: beyond it, new names are not remembered. */
const MOST_MEMBERS = 1024;

export class PeerMembers implements AsyncDisposable {
  readonly name: string;
  readonly session: string = randomBytes(8).toString('hex');
  readonly #engine: ClusterEngine;
  readonly #clock: Clock;
  readonly #load: () => PeerLoad;
  readonly #detector: Detector;
  readonly #last = new Map<string, { heartbeat: Heartbeat; at: number }>();
  #phase: Phase = 'joining';
  #beats = 0;
  /** Ticks at which each of the last heartbeats was sent, by number modulo their count. */
  readonly #sent = new Float64Array(64);
  #fenced = false;
  /** As its last heartbeat had it. */
  #capacity = 0;
  #timer: NodeJS.Timeout | undefined;
  #asking: NodeJS.Timeout | undefined;
  /** Questions on their way; those of a line that ended are answered by its end. */
  #asked = 0;
  #subscription: Subscription | undefined;
  #answering: Disposable | undefined;

  private constructor({ engine, name, clock, load }: MembersOptions) {
    this.name = name;
    this.#engine = engine;
    this.#clock = clock;
    this.#load = load;
    this.#detector = new Detector(clock.ticks());
  }

  /** Takes the name, and hears who is there. Throws when another process has the name. */
  static async join(options: MembersOptions): Promise<PeerMembers> {
    const members = new PeerMembers(options);
    await takeName(members.#engine, members.name, members.#holder(false));
    const { connection } = members.#engine;
    members.#subscription = connection.subscribe(heartbeatSubject('*'), {
      callback: (error, message) => {
        if (!error) members.#hear(message.data);
      },
    });
    members.#answering = answerQuestions(connection, members.name, {
      ...options.answerers,
      heartbeat: () => members.#heartbeat(true),
    });
    members.#beat();
    members.#timer = setInterval(() => members.#beat(), BEAT);
    members.#asking = setInterval(() => void members.#ask(), ASK);
    try {
      await members.#greet();
      return members;
    } catch (error) {
      await members.leave();
      throw error;
    }
  }

  /** Asks those who are there, so that what this peer does first does not depend on whose heartbeat has come by then. */
  async #greet(): Promise<void> {
    const names = (await presentNames(this.#engine.buckets.peers)).filter(name => name !== this.name);
    const question = { name: 'heartbeat', args: null };
    const { answers } = await scatter(this.#engine.connection, names, question, { deadline: GREETING });
    for (const answer of answers.values()) {
      const heartbeat = readHeartbeat(answer);
      if (heartbeat) this.#note(heartbeat);
    }
  }

  /** Called once the peer has what it needs to take partitions: others now count on it. */
  start(): void {
    this.#phase = 'working';
    this.#beat();
  }

  /** Others take this peer's partitions over, while it hands them out; then `leave`. */
  startLeaving(): void {
    this.#phase = 'leaving';
    this.#beat();
  }

  /** The engine may have forgotten whose the name is. */
  restoreName(): Promise<void> {
    return restoreName(this.#engine.buckets.peers, this.name, this.#holder(false));
  }

  /** Says goodbye, so that nobody waits for it. */
  async leave(): Promise<void> {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    clearInterval(this.#asking);
    this.#timer = undefined;
    this.#phase = 'bye';
    if (!this.#fenced && !this.#engine.connection.isClosed()) {
      this.#beat();
      // Without the engine nobody hears it; the name is free again after some seconds of silence anyway.
      await giveUpName(this.#engine.buckets.peers, this.name, this.#holder(true)).catch(() => {});
    }
    this.#subscription?.unsubscribe();
    this.#answering?.[Symbol.dispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.leave();
  }

  /** Another process has this peer's name: whatever this one holds is no longer its own. */
  get isFenced(): boolean {
    return this.#fenced;
  }

  /** False as long as this peer cannot know that what it holds is still its own. */
  mayFetch(): boolean {
    return !this.#fenced && this.#phase !== 'bye' && !this.#detector.cutOff(this.#clock.ticks());
  }

  get contact(): EngineContact {
    const { lapses, safeUntil, asksUntil } = this.#detector;
    if (this.#fenced || this.#phase === 'bye')
      return { lapses, safeUntil: Number.NEGATIVE_INFINITY, asksUntil: Number.NEGATIVE_INFINITY };
    return { lapses, safeUntil, asksUntil };
  }

  /** One of whom nothing is known yet (it holds a claim, say) is suspect, and dead only if it stays silent. */
  livenessOf(name: string): Liveness {
    if (name === this.name) return 'living';
    this.#detector.expect(name, this.#clock.ticks());
    return this.#detector.of(name);
  }

  /** Everybody who was heard and is not gone, this peer too; by name. */
  list(): ClusterMember[] {
    const now = this.#clock.ticks();
    return [...this.#last]
      .map(([name, { heartbeat, at }]) => ({ name, heartbeat, liveness: this.livenessOf(name), silent: now - at }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Those between whom partitions are divided: not the dead, nor those who come or go. */
  ringMembers(): RingMember[] {
    const others = this.list().filter(
      ({ name, liveness, heartbeat }) => name !== this.name && liveness !== 'dead' && heartbeat.phase === 'working',
    );
    const members = others.map(({ name, heartbeat }) => ({ name, capacity: heartbeat.capacity }));
    // As it was told to the others, who reckon with it.
    if (this.#phase === 'working') members.push({ name: this.name, capacity: this.#capacity });
    return members;
  }

  #beat(): void {
    if (this.#engine.connection.isClosed()) return;
    const beat = this.#beats++;
    this.#sent[beat % this.#sent.length] = this.#clock.ticks();
    const full = beat % FULL_BEAT_EVERY === 0 || this.#phase === 'bye';
    this.#engine.connection.publish(heartbeatSubject(this.name), encodeHeartbeat(this.#heartbeat(full)));
  }

  /** A heartbeat says who lives, and is told to all; this is between a peer and the engine, so it may be often. */
  async #ask(): Promise<void> {
    if (this.#asked >= MOST_ASKED || this.#engine.connection.isClosed()) return;
    const sent = this.#clock.ticks();
    this.#asked++;
    try {
      await this.#engine.connection.flush();
      this.#detector.answered(sent);
    } catch {
      // The line has just ended: the next one asks again.
    } finally {
      this.#asked--;
    }
  }

  #heartbeat(full: boolean): Heartbeat {
    const { exchanged, ...load } = this.#load();
    this.#capacity = load.capacity;
    return {
      ...load,
      ...(full && exchanged ? { exchanged } : {}),
      name: this.name,
      session: this.session,
      beat: Math.max(0, this.#beats - 1),
      protocol: PROTOCOL,
      skein: version,
      phase: this.#phase,
    };
  }

  #hear(data: Uint8Array): void {
    const heartbeat = decodeHeartbeat(data);
    if (heartbeat) this.#note(heartbeat);
  }

  #note(heartbeat: Heartbeat): void {
    const { name } = heartbeat;
    const ticks = this.#clock.ticks();
    if (name === this.name && heartbeat.session !== this.session) return void this.#askWhoIsMe();
    if (heartbeat.phase === 'bye') {
      this.#last.delete(name);
      this.#detector.left(name);
      return;
    }
    const before = this.#last.get(name);
    if (!before && this.#last.size >= MOST_MEMBERS) return;
    const exchanged = heartbeat.exchanged ?? before?.heartbeat.exchanged;
    this.#last.set(name, { heartbeat: { ...heartbeat, ...(exchanged && { exchanged }) }, at: ticks });
    if (name === this.name) this.#echo(heartbeat.beat, ticks);
    else this.#detector.heard(name, ticks);
  }

  /** One so old that its time is forgotten says nothing. */
  #echo(beat: number, ticks: number): void {
    const { length } = this.#sent;
    if (beat < this.#beats && beat >= this.#beats - length) this.#detector.echoed(this.#sent[beat % length]!, ticks);
  }

  /** Somebody speaks under this peer's name; the bucket says who has it. */
  async #askWhoIsMe(): Promise<void> {
    try {
      const { holder } = await readHolder(this.#engine.buckets.peers, this.name);
      if (holder && holder.session !== this.session) this.#fenced = true;
    } catch {
      // The engine is away; the next heartbeat asks again.
    }
  }

  #holder(left: boolean) {
    return { session: this.session, host: hostname().slice(0, 255), left };
  }
}
