/**
 * A record that all peers share and any of them may change: the crawl's settings (scope, pace, limits, seeds), and how
 * it is steered (paused, or not). Kept in the bucket `meta`, followed by everybody, changed by compare-and-set.
 */
import type { z } from 'zod';
import { SkeinError } from '../base/errors.ts';
import type { WatchedBucket } from './watched-bucket.ts';

/** Bytes of JSON: settings and seeds, never a list that grows with the crawl. */
const MOST_BYTES = 512_000;
const MOST_TRIES = 50;

export class SharedRecord<T> {
  readonly #bucket: WatchedBucket;
  readonly #key: string;
  readonly #form: z.ZodType<T>;
  /** The newest text that could be read, and what it says. */
  #read: { readonly text: string; readonly value: T } | undefined;

  constructor(bucket: WatchedBucket, key: string, form: z.ZodType<T>) {
    this.#bucket = bucket;
    this.#key = key;
    this.#form = form;
  }

  get key(): string {
    return this.#key;
  }

  /**
   * As last seen; undefined as long as nobody wrote it. What cannot be read leaves it as it was, so that nobody ends a peer
   * at work by writing garbage; throws only where nothing was ever readable.
   */
  get value(): T | undefined {
    const text = this.#bucket.get(this.#key)?.text;
    return text === undefined ? this.#read?.value : this.#known(text);
  }

  #known(text: string): T {
    if (text === this.#read?.text) return this.#read.value;
    try {
      return this.#decode(text);
    } catch (error) {
      if (!this.#read) throw error;
      return this.#read.value;
    }
  }

  /**
   * Changes it from what it is now, and returns what it is then. `change` may be called several times, when others
   * change it too; returning what it got changes nothing. What cannot be read is written over with what was known.
   */
  async change(change: (value: T | undefined) => T): Promise<T> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const before = tries === 0 ? this.#bucket.get(this.#key) : await this.#bucket.read(this.#key);
      const old = before && this.#known(before.text);
      const next = change(old);
      if (old !== undefined && next === old) return old;
      const text = JSON.stringify(this.#form.parse(next));
      if (text.length > MOST_BYTES)
        throw new SkeinError(
          'bad-option',
          `The crawl's ${this.#key} are longer than ${MOST_BYTES} bytes.`,
          'Shorten them.',
        );
      if (text === before?.text || (await this.#bucket.write(this.#key, text, before?.revision ?? 0))) return next;
    }
    throw new SkeinError('no-engine', `Other peers keep changing the crawl's ${this.#key}.`, 'Try again.');
  }

  #decode(text: string): T {
    let why = 'no JSON';
    try {
      const read = this.#form.safeParse(JSON.parse(text));
      if (read.success) {
        this.#read = { text, value: read.data };
        return read.data;
      }
      why = read.error.issues[0]?.message ?? why;
    } catch {
      // No JSON, or nested deeper than anybody writes it: said below.
    }
    throw new SkeinError(
      'damaged',
      `The crawl's ${this.#key} in the engine cannot be read (${why}).`,
      'Another version of Skein may have written them: run the same on each peer.',
    );
  }
}
