/**
 * A bucket of the engine that this peer follows: every key's newest value is here, and a key changes only by
 * compare-and-set on the revision that the writer saw. Reading costs nothing; a value may be some milliseconds old, and
 * the compare-and-set is what makes that harmless.
 *
 * The client's watch ends silently when the engine forgets the bucket, so a guard compares how far it has come with what
 * the server says, and begins again.
 */
import type { KV, KvWatchEntry } from '@nats-io/kv';
import type { QueuedIterator } from '@nats-io/transport-node';
import { isConflict } from './connection/errors.ts';
import { untilItPasses } from './connection/retry.ts';

interface Watched {
  readonly text: string;
  readonly revision: number;
}

/** Milliseconds between two looks of the guard. */
const GUARD = 10_000;

export class WatchedBucket implements AsyncDisposable {
  readonly #bucket: KV;
  readonly #values = new Map<string, Watched>();
  readonly #changed: (key: string) => void;
  #watch: QueuedIterator<KvWatchEntry> | undefined;
  #newest = 0;
  /** When the bucket was made, as the server says it: another one of its name has another time. */
  #made = '';
  #closed = false;
  #guard: NodeJS.Timeout | undefined;

  private constructor(bucket: KV, changed: (key: string) => void) {
    this.#bucket = bucket;
    this.#changed = changed;
  }

  /** Resolves when every key has been read. `changed` hears of every key that is new or different, from then on too. */
  static async open(bucket: KV, changed: (key: string) => void = () => {}): Promise<WatchedBucket> {
    const watched = new WatchedBucket(bucket, changed);
    await watched.#start();
    watched.#guard = setInterval(() => void watched.check(), GUARD).unref();
    return watched;
  }

  get(key: string): Watched | undefined {
    return this.#values.get(key);
  }

  keys(): string[] {
    return [...this.#values.keys()];
  }

  /** The value as the engine has it now. */
  async read(key: string): Promise<Watched | undefined> {
    const entry = await untilItPasses(() => this.#bucket.get(key));
    if (entry?.operation !== 'PUT') return undefined;
    this.#take(key, entry.string(), entry.revision);
    return this.#values.get(key);
  }

  /**
   * Writes if the key still has this revision (0 = there is none). False when somebody else was first. A text that is
   * written twice must be the same: it is what tells a lost answer from a lost race.
   */
  async write(key: string, text: string, revision: number): Promise<boolean> {
    try {
      const written = await untilItPasses(() =>
        revision === 0 ? this.#bucket.create(key, text) : this.#bucket.update(key, text, revision),
      );
      this.#take(key, text, written);
      return true;
    } catch (error) {
      if (!isConflict(error)) throw error;
      const now = await this.read(key);
      return now !== undefined && now.text === text && now.revision > revision;
    }
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#guard);
    this.#watch?.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  async #start(): Promise<void> {
    this.#watch?.stop();
    const { values, streamInfo } = await untilItPasses(() => this.#bucket.status());
    this.#made = String(streamInfo.created);
    const watch = await untilItPasses(() => this.#bucket.watch());
    this.#watch = watch;
    // A bucket without a key says nothing at all: there is nothing to wait for.
    const read = Promise.withResolvers<void>();
    if (values === 0) read.resolve();
    void (async () => {
      for await (const entry of watch) {
        this.#newest = Math.max(this.#newest, entry.revision);
        if (entry.operation === 'PUT') this.#take(entry.key, entry.string(), entry.revision);
        if (entry.delta === 0) read.resolve();
      }
      read.resolve();
    })().catch(() => read.resolve());
    await read.promise;
  }

  #take(key: string, text: string, revision: number): void {
    const before = this.#values.get(key);
    if (before && before.revision >= revision) return;
    this.#values.set(key, { text, revision });
    if (before?.text !== text) this.#changed(key);
  }

  /** Begins again where the watch has stalled, or where the engine's bucket is not the one that was watched. The guard
   * calls it, and so does whoever knows that the engine was away. */
  async check(): Promise<void> {
    const before = this.#newest;
    try {
      const { streamInfo } = await this.#bucket.status();
      const last = streamInfo.state.last_seq;
      const forgotten = last < before || String(streamInfo.created) !== this.#made;
      if (!forgotten && (last === before || this.#newest !== before)) return;
      if (this.#closed) return;
      if (forgotten) this.#forget();
      await this.#start();
    } catch {
      // The engine is away, or has no such bucket yet; the next look tries again.
    }
  }

  /** Writes again what the engine has forgotten: whoever is first with a key, as it was known last. */
  async restore(): Promise<void> {
    await this.check();
    for (const [key, { text, revision }] of this.#values) if (revision === 0) await this.write(key, text, 0);
  }

  /** Revisions begin anew in a bucket that was made again; what it says now counts. */
  #forget(): void {
    this.#newest = 0;
    for (const [key, { text }] of this.#values) this.#values.set(key, { text, revision: 0 });
  }
}
