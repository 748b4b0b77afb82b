/**
 * Brings chunks that came, changed or went to a sink, each once by its id, in order. How far it is stands in a file of the
 * collection (sinks/): what is to be brought next is written down before it leaves, as the stretch of visits that it follows
 * from, so that after any kill the same parts are made again, and leave under the same ids. Where they cannot be, because
 * pages were forgotten or versions dropped meanwhile, the stretch is brought again from its beginning.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { SkeinError } from '../../base/errors.ts';
import { PRIVATE, replaceFile } from '../../base/file.ts';
import { newestCursor, writeChunkChanges } from '../../export/chunk-changes.ts';
import { againAfter } from '../../export/cursor.ts';
import { matcherOf } from '../../export/exporter.ts';
import { readCollection } from '../../ledger/collection/collection.ts';
import { takeLock } from '../../ledger/ledger.ts';
import { NotTaken, type Part, type Sink } from './sink.ts';

interface Delivery {
  readonly data: string;
  /** What the sink is called: it is told apart from others by it. */
  readonly target: string;
  readonly pattern?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface Delivered {
  /** Parts that the sink has taken in this run. */
  readonly parts: number;
  readonly cursor: string;
}

/** How far a sink is. */
interface SinkProgress {
  readonly target: string;
  readonly after: string;
  /** Parts that were taken before this stretch. */
  readonly number: number;
  /** The stretch that is being brought, how many parts of it were taken, and the digest of these. */
  readonly under?: { readonly upTo: string; readonly taken: number; readonly digest?: string | undefined };
}

/** What a part that was taken has in it differs from what is made now. */
class Altered extends Error {}

/** Characters and lines of a part, milliseconds before the first retry, tries, and milliseconds for one. */
const MOST_TEXT = 1 << 20;
const MOST_LINES = 1000;
const FIRST_RETRY = 500;
const TRIES = 6;
const PATIENCE = 60_000;

export async function deliverChunks(delivery: Delivery, sink: Sink): Promise<Delivered> {
  const { data, target, pattern } = delivery;
  const directory = join(data, 'sinks');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lock = takeLock(directory);
  try {
    const name = createHash('sha256')
      .update(`${target}\n${pattern ?? ''}`)
      .digest('hex')
      .slice(0, 16);
    return await deliver(delivery, sink, join(directory, `${name}.json`));
  } finally {
    lock.close();
  }
}

async function deliver({ data, target, pattern, signal }: Delivery, sink: Sink, file: string): Promise<Delivered> {
  let place = readPlace(file) ?? { target, after: '0', number: 0 };
  const keep = (next: SinkProgress) => {
    place = next;
    replaceFile(file, JSON.stringify(next), PRIVATE);
  };
  let parts = 0;
  // What a kill cut short is brought to its end first, then what came since.
  for (let upTo = place.under?.upTo ?? newestCursor(data); upTo !== place.after; upTo = newestCursor(data)) {
    if (!place.under) keep({ ...place, under: { upTo, taken: 0 } });
    const { after, number } = place;
    const { taken, digest = '' } = place.under!;
    let [made, soFar] = [0, ''];
    const bring = async (text: string) => {
      made++;
      soFar = digestOf(`${soFar} ${text}`);
      if (made === taken && digest !== '' && soFar !== digest) throw new Altered();
      if (made <= taken) return;
      const id = digestOf(`${file.split('/').at(-1)} ${after} ${upTo} ${made} ${soFar}`);
      await insist(sink, { id, number: number + made, text }, signal);
      keep({ ...place, under: { upTo, taken: made, digest: soFar } });
      parts++;
    };
    const out = new PartWriter(bring);
    try {
      await out.whole(writeChunkChanges({ data, after, upTo, matches: matcherOf(pattern) }, out));
      if (made < taken) throw new Altered();
      keep({ target, after: upTo, number: number + made });
    } catch (error) {
      if (!(error instanceof Altered)) throw error;
      keep({ target, after: againAfter(after, upTo, readCollection(data).partitions), number: number + taken });
    }
  }
  return { parts, cursor: place.after };
}

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);

function readPlace(file: string): SinkProgress | undefined {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as SinkProgress) : undefined;
}

/** Brings a part again for a while; then says that it waits. */
async function insist(sink: Sink, part: Part, signal: AbortSignal | undefined): Promise<void> {
  for (let tries = 1; ; tries++) {
    signal?.throwIfAborted();
    const limit = AbortSignal.timeout(PATIENCE);
    try {
      return await sink.take(part, signal ? AbortSignal.any([signal, limit]) : limit);
    } catch (error) {
      if (!(error instanceof NotTaken)) throw error;
      if (tries === TRIES)
        throw new SkeinError(
          'refused',
          `Part ${part.number} was not delivered: ${error.message}.`,
          'It waits, with all later parts: run the same command again.',
        );
      await setTimeout(FIRST_RETRY * 2 ** (tries - 1), undefined, signal && { signal });
    }
  }
}

/** Cuts lines into parts, the same ones whenever the lines are the same. */
class PartWriter extends Writable {
  readonly #bring: (text: string) => Promise<void>;
  #held: string[] = [];
  #size = 0;

  constructor(bring: (text: string) => Promise<void>) {
    super({ decodeStrings: false });
    this.#bring = bring;
  }

  /** All that is written was brought. Throws what ended it. */
  async whole(writing: Promise<unknown>): Promise<void> {
    const failed = new Promise<never>((_, reject) => this.once('error', reject));
    await Promise.race([writing, failed]);
    // Node calls back with the error, too, where the last part was not taken.
    const ended = new Promise<void>((resolve, reject) =>
      this.end((error?: Error | null) => (error ? reject(error) : resolve())),
    );
    await Promise.race([ended, failed]);
  }

  override _write(line: string, _encoding: string, done: (error?: Error) => void): void {
    this.#held.push(line);
    this.#size += line.length;
    if (this.#size < MOST_TEXT && this.#held.length < MOST_LINES) done();
    else this.#flush().then(() => done(), done);
  }

  override _final(done: (error?: Error) => void): void {
    this.#flush().then(() => done(), done);
  }

  async #flush(): Promise<void> {
    if (this.#held.length === 0) return;
    const text = this.#held.join('');
    this.#held = [];
    this.#size = 0;
    await this.#bring(text);
  }
}
