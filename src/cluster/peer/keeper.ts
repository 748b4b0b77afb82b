/**
 * Keeps the engine informed of one partition that this peer owns: what its ledger commits goes to the changelog about once a
 * second, one message on its way at a time, and a snapshot follows when the changelog since the last one has grown large.
 *
 * Commits go on whatever the engine does. What it does not take is given again; in the meantime the session in the ledger
 * holds what changed, each row once, so that a long absence costs memory for the rows that were touched and no more.
 */
import type { Ledger } from '../../ledger/ledger.ts';
import type { Changeset } from '../../ledger/replica/changes.ts';
import { type Snapshot, takeSnapshot } from '../../ledger/replica/snapshot.ts';
import { Fenced, Forgotten } from '../changelog/changelog.ts';
import type { ChangelogWriter } from '../changelog/changelog-writer.ts';
import type { Snapshots } from '../snapshots/snapshots.ts';

export interface KeeperParts {
  readonly partition: number;
  readonly ledger: Ledger;
  readonly changelog: ChangelogWriter;
  readonly epoch: number;
  readonly snapshots: Snapshots;
  /** The engine lacks some of what is in the ledger: it gets a snapshot before anything else. */
  readonly ahead: boolean;
  /** Another peer owns the partition by now. */
  readonly fenced: (error: Fenced) => void;
  /** The engine has forgotten the changelog: claims the partition there again, and begins another one. Throws `Fenced`. */
  readonly renewed: () => Promise<ChangelogWriter>;
  /** The engine has more of it than before. */
  readonly reached?: () => void;
}

/** Milliseconds between two looks for changes. */
const EVERY = 500;
/** Where somebody waits for it they leave sooner, but not one by one: each time costs a commit and a message. Milliseconds. */
const GATHER = 200;
/** After the engine refused something. */
const PAUSE = 1000;
/** A changelog smaller than this is read faster than a snapshot is made. Bytes, compressed. */
const LEAST_LOG = 2_000_000;
/** Changes that are older are in a snapshot, so that the changelog can be cut. Milliseconds. */
const OLD = 24 * 3_600_000;

export class Keeper {
  readonly #parts: KeeperParts;
  #changelog: ChangelogWriter;
  /** The engine has forgotten it. */
  #forgotten = false;
  /** Of the last snapshot; the time by performance.now(). */
  #note: { readonly bytes: number; readonly at: number };
  #wanted: boolean;
  /** Bytes of the changelog when the last snapshot was made. */
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  /** When changes were last taken, by performance.now(). */
  #looked = 0;
  #work: Promise<void> | undefined;
  #held: Changeset | undefined;
  #closed = false;
  #movesUp = false;
  #neededFrom = 0;
  /** When the engine last had everything, by performance.now(). */
  #reached = performance.now();
  /** Batches for other partitions that the engine knows of: the number of the last one, by partition. */
  #sent: ReadonlyMap<number, number> = new Map();
  /** Those who wait until the engine has changes up to some number. */
  #waiting: { number: number; resolve: () => void; reject: (error: Error) => void }[] = [];
  /** The last error of the engine, undefined = it answers. */
  trouble: unknown;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    this.#changelog = parts.changelog;
    this.#wanted = parts.ahead;
    this.#note = { bytes: 0, at: performance.now() };
    parts.ledger.outbox.changes.start();
    parts.ledger.outbox.changes.committed = () => this.#committed();
    if (!parts.ahead) this.#sent = parts.ledger.outbox.border.sent;
    this.#timer = setInterval(() => this.look(), EVERY);
  }

  /** Changes up to this number have reached the engine, and may have effects elsewhere. */
  get acknowledged(): number {
    return this.#changelog.acknowledged;
  }

  /** The number of the last batch for another partition that may leave: what the engine knows of is never found again otherwise. */
  sentTo(partition: number): number {
    return this.#sent.get(partition) ?? 0;
  }

  /** Resolves when the engine has all that is committed by now, and what was taken in and is about to be; rejects if that does not come to pass any more. */
  async durable(): Promise<void> {
    const { changes, border } = this.#parts.ledger.outbox;
    const number = border.unsaved ? changes.next : changes.number;
    if (number <= this.acknowledged && !this.#wanted) return;
    if (this.#closed) throw new Error('the partition is gone');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ number, resolve, reject });
    this.#lookSoon();
    await promise;
  }

  /** Everything that is committed has reached it. */
  get settled(): boolean {
    const { ledger } = this.#parts;
    return this.#work === undefined && !this.#wanted && ledger.state !== 'batch' && !ledger.outbox.changes.waiting;
  }

  /** Milliseconds for which the engine has not had all of it. */
  get lag(): number {
    return this.settled ? 0 : performance.now() - this.#reached;
  }

  /** Takes what was committed, if nothing is on its way; between two batches. */
  look(): void {
    const { ledger } = this.#parts;
    if (this.#closed || this.#work || ledger.state !== 'idle') return;
    if (!ledger.outbox.changes.waiting && !this.#snapshotDue() && !this.#movesUp) {
      this.#reached = performance.now();
      return;
    }
    clearTimeout(this.#soon);
    this.#soon = undefined;
    this.#looked = performance.now();
    const changes = ledger.outbox.changes.take();
    // At this very moment, so that it holds these changes and nothing of the next.
    const snapshot = this.#snapshotDue() ? takeSnapshot(ledger.directory) : undefined;
    snapshot?.catch(() => undefined); // said where it is waited for
    const { sent } = ledger.outbox.border;
    this.#held = changes;
    this.#work = this.#send(snapshot).then(done => {
      this.#work = undefined;
      if (done) this.#reach(sent);
    });
  }

  /** Resolves when the engine has all that was committed, or refuses to take it. */
  async flush(): Promise<void> {
    for (this.look(); this.#work; this.look()) await this.#work;
  }

  /** Of the newest message that the engine has of this keeper; 0 = it has none that counts. */
  get sequence(): number {
    return this.#forgotten ? 0 : this.#changelog.sequence;
  }

  /** The sequence from which on the changelog is needed: what is before it is in a snapshot. */
  get neededFrom(): number {
    return this.#neededFrom;
  }

  /**
   * The changelog is to be cut, and this partition holds it up: a snapshot is made if something came after the last one,
   * and an entry that says nothing goes to the end, since the last one of a partition has to stay.
   */
  moveUp(): void {
    this.#movesUp = true;
    this.look();
  }

  /** The engine has forgotten what it had of this partition: it gets all of it, before anything else. */
  sendAnew(): void {
    this.#forgotten = true;
    this.#wanted = true;
    this.look();
  }

  /** Nothing more leaves. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    for (const { reject } of this.#waiting.splice(0)) reject(new Error('the partition is gone'));
  }

  #snapshotDue(): boolean {
    const log = this.#changelog.bytes - this.#bytes;
    const old = log > 0 && performance.now() - this.#note.at > OLD;
    return (
      this.#wanted ||
      old ||
      (this.#movesUp && (log > 0 || this.#neededFrom === 0)) ||
      log > Math.max(LEAST_LOG, this.#note.bytes / 2)
    );
  }

  #reach(sent: ReadonlyMap<number, number>): void {
    this.#sent = sent;
    this.#reached = performance.now();
    const { acknowledged } = this;
    for (const { number, resolve } of this.#waiting) if (number <= acknowledged) resolve();
    this.#waiting = this.#waiting.filter(({ number }) => number > acknowledged);
    this.#parts.reached?.();
    if (this.#waiting.length > 0) this.#lookSoon();
  }

  /** Where a ledger is written to all the time, only this moment is between two batches. */
  #committed(): void {
    const age = performance.now() - this.#looked;
    if (age >= EVERY || (this.#waiting.length > 0 && age >= GATHER)) this.look();
  }

  #lookSoon(): void {
    const wait = this.#looked + GATHER - performance.now();
    if (wait <= 0) this.look();
    else this.#soon ??= setTimeout(() => this.look(), wait);
  }

  /** True when the engine has it. */
  async #send(snapshot: Promise<Snapshot> | undefined): Promise<boolean> {
    for (let made = snapshot; !this.#closed; made = undefined) {
      try {
        await this.#publish(made);
        this.trouble = undefined;
        return true;
      } catch (error) {
        if (error instanceof Fenced) this.#drop(error);
        if (error instanceof Forgotten) this.#forgotten = this.#wanted = true;
        this.trouble = error;
        if (!this.#closed) await new Promise(resolve => setTimeout(resolve, PAUSE));
        if (this.#wanted) return false; // with a new snapshot, which holds all of this
      }
    }
    return false;
  }

  #drop(error: Fenced): void {
    if (this.#closed) return; // another one is in its place: the engine had forgotten
    this.close();
    this.#parts.fenced(error);
  }

  async #publish(snapshot: Promise<Snapshot> | undefined): Promise<void> {
    if (this.#forgotten) await this.#renew();
    if (!this.#wanted && this.#held) await this.#changelog.append(this.#held);
    this.#held = undefined;
    if (snapshot) await this.#keep(await snapshot);
    if (!this.#movesUp) return;
    await this.#changelog.claim();
    this.#movesUp = false;
    // Nothing came after the snapshot: only the entry that says so has to stay.
    if (this.#bytes === this.#changelog.bytes) this.#neededFrom = this.#changelog.sequence;
  }

  async #renew(): Promise<void> {
    // Whoever says so while this is under way says it of the next one.
    this.#forgotten = false;
    try {
      this.#changelog = await this.#parts.renewed();
      this.#bytes = 0;
    } catch (error) {
      this.#forgotten = true;
      throw error;
    }
  }

  async #keep(snapshot: Snapshot): Promise<void> {
    const { partition, snapshots, epoch } = this.#parts;
    const changelog = this.#changelog;
    const { number, schema } = snapshot;
    const at = performance.now();
    let bytes = 0;
    async function* counted() {
      for await (const chunk of snapshot.chunks()) {
        bytes += chunk.length;
        yield chunk;
      }
    }
    try {
      await snapshots.put(
        partition,
        { number, sequence: changelog.sequence, epoch, schema, time: Date.now() },
        counted(),
      );
    } finally {
      snapshot.remove();
    }
    changelog.covered(number);
    this.#neededFrom = changelog.sequence;
    // It may have been forgotten again meanwhile.
    this.#wanted = this.#forgotten;
    this.#bytes = changelog.bytes;
    this.#note = { bytes, at };
  }
}
