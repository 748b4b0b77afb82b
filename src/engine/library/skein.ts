/**
 * Skein as a library: `import { open } from 'skein'`. It prints nothing, ends no process, and one process may have
 * several collections open. Pages are handed out as the ledger has them, after they are committed: a reader that is slow
 * holds nobody up, and what it has not read waits on the disk and not in memory.
 */
import type { Writable } from 'node:stream';
import { SkeinError } from '../../base/errors.ts';
import { seedUrl } from '../../base/url.ts';
import type { ChunksTold } from '../../export/chunk-changes.ts';
import type { RowsWritten } from '../../export/rows.ts';
import type { FieldsFile } from '../../extract/fields.ts';
import type { ChangesWanted, FoundChange } from '../../home/answers/changes.ts';
import type { ForgottenPages as Forgotten } from '../../home/house/forget.ts';
import { crawlSupply } from '../../home/supply.ts';
import type { QueryOptions, Results } from '../../search/index.ts';
import { openEngine, PATIENCE } from '../engine.ts';
import { type FreshOptions, type FreshSummary, keepFresh } from '../keep-fresh.ts';
import { askCollection } from '../open-collection.ts';
import type { EngineOptions, Extras } from '../options.ts';
import { type Summary, summaryOf } from '../summary.ts';
import type { ChunkOptions, ExportOptions, ExtractOptions } from './data-out.ts';
import { findCache, lean } from './lean.ts';
import { checkOptions, textsOf } from './option-checks.ts';
import { inOwnWords } from './own-words.ts';
import { CollectionReader, type CrawledPage } from './reader.ts';
import { Run, type RunWork } from './run.ts';

export { SkeinError } from '../../base/errors.ts';
export {
  type AddedUrl,
  defineHooks,
  type HookLink,
  type HookPage,
  type HookRequest,
  type Hooks,
  type PageWish,
  type RequestWish,
} from '../../crawler/hooks.ts';
export type { Answer, Ask, Failure, Fetcher, Response, Wire } from '../../crawler/stages.ts';
export type { PartExchange } from '../../errand/warc/part-records.ts';
export type { ChunksTold } from '../../export/chunk-changes.ts';
export { type ExportedPage, type Exporter, pageExporter } from '../../export/page-exporter.ts';
export type { RowsWritten } from '../../export/rows.ts';
export type { Chunk } from '../../extract/chunks.ts';
export type { FieldsFile, Row, RowOf, Value } from '../../extract/fields.ts';
export type { RowSchema } from '../../extract/row-schema.ts';
export type { ChangesWanted, FoundChange } from '../../home/answers/changes.ts';
export type { PageDifference } from '../../home/copies/difference.ts';
export type { ForgottenPages as Forgotten } from '../../home/house/forget.ts';
export type { Hit, QueryOptions, Results } from '../../search/index.ts';
export type { Budget } from '../budget.ts';
export type { FreshOptions, FreshSummary } from '../keep-fresh.ts';
export type { BoundOptions, EngineOptions, OwnFetcher } from '../options.ts';
export type { Summary } from '../summary.ts';
export type { ChunkOptions, ExportOptions, ExtractOptions } from './data-out.ts';
export type { CrawledPage, PageLink } from './reader.ts';
export type { Run, RunEvents, RunProgress } from './run.ts';

/** What a run may be told besides what the collection was opened with. */
export type CrawlOptions = Partial<Omit<EngineOptions, 'data'>>;
export type SearchOptions = QueryOptions & { readonly signal?: AbortSignal | undefined };
export type RefreshOptions = Partial<Omit<FreshOptions, 'data'>>;

export interface OpenOptions extends EngineOptions {
  /** False: flags of V8 are left alone; else a run sets two of them, for the whole process, until it ends. */
  readonly tuned?: boolean | undefined;
}

export class Skein {
  readonly #options: EngineOptions;
  readonly #tuned: boolean;
  readonly #extras: Extras;
  readonly #closing = new AbortController();
  readonly #reader: CollectionReader;
  readonly #runs = new Set<Promise<unknown>>();

  /** Use open(). */
  constructor({ tuned = true, ...options }: OpenOptions, extras: Extras = {}) {
    this.#options = options;
    this.#tuned = tuned;
    this.#extras = extras;
    this.#reader = new CollectionReader(options.data);
  }

  /**
   * Collects from these URLs, or goes on where the last crawl stopped. The pages come one by one, each when it was
   * visited; whoever leaves the loop stops the crawl, and a later one goes on with it.
   */
  crawl(seeds: string | readonly string[] = [], more: CrawlOptions = {}): Run<Summary> {
    this.#checkOpen();
    const urls = textsOf(seeds, 'crawl').map(seedUrl);
    checkOptions('crawl', more);
    return this.#run({ ...this.#options, ...more }, async (options, began) => {
      if (urls.length === 0) askCollection(options.data).close(); // there must be something to go on with
      const engine = await openEngine(options, urls, this.#extras);
      try {
        began(engine);
        await engine.ready();
        await engine.run(crawlSupply(engine, PATIENCE));
        return summaryOf(engine, engine.home.stopped);
      } finally {
        await engine.close();
      }
    });
  }

  /** Looks again at what is due, within a budget; gives the pages that it looked at. */
  refresh(more: RefreshOptions = {}): Run<FreshSummary> {
    return this.#keepFresh('refresh', more);
  }

  /** The same until it is stopped: by leaving the loop, by a signal, or by close(). */
  watch(more: RefreshOptions = {}): Run<FreshSummary> {
    return this.#keepFresh('watch', more);
  }

  #keepFresh(kind: 'refresh' | 'watch', more: RefreshOptions): Run<FreshSummary> {
    this.#checkOpen();
    checkOptions(kind, more);
    return this.#run<FreshSummary, FreshOptions>({ ...this.#options, ...more }, (options, began) => {
      askCollection(options.data).close();
      return keepFresh(kind, options, this.#extras, async engine => {
        began(engine);
        return async () => {};
      });
    });
  }

  #run<S extends Summary, O extends EngineOptions>(options: O, work: RunWork<S, O>): Run<S> {
    this.#checkOpen();
    const follower = this.#reader.follow();
    const followed: RunWork<S, O> = async (given, began) => {
      using _ = this.#tuned ? lean() : undefined;
      return await inOwnWords(() =>
        work(given, engine => {
          follower.begin();
          began(engine);
        }),
      );
    };
    return new Run(options, followed, {
      closing: this.#closing.signal,
      after: visit => follower.next(visit),
      started: run => {
        this.#runs.add(run);
        const over = () => this.#runs.delete(run);
        run.then(over, over);
      },
    });
  }

  #checkOpen(): void {
    if (this.#closing.signal.aborted)
      throw new SkeinError('refused', 'This collection was closed.', 'Open it again with open().');
  }

  /** A page that was visited before; undefined = it was not. */
  page(url: string): CrawledPage | undefined {
    this.#checkOpen();
    return this.#reader.page(seedUrl(textsOf(url, 'page')[0]!));
  }

  /** Finds pages by what they say; what came since the last time is read into the index first. */
  async search(query: string, { signal, ...options }: SearchOptions = {}): Promise<Results> {
    this.#checkOpen();
    const [text = ''] = textsOf(query, 'search');
    checkOptions('search', { ...options, signal });
    signal?.throwIfAborted();
    const { searchCollection } = await import('../../questions/search/searching.ts');
    signal?.throwIfAborted();
    const searching = inOwnWords(async () => {
      const collection = askCollection(this.#options.data);
      return searchCollection(collection, text, options).finally(() => collection.close());
    });
    return signal ? unlessAborted(searching, signal) : searching;
  }

  /** Writes copies or contents to a stream and leaves it open; returns how many. Default format: WARC. */
  async export(out: Writable, options: ExportOptions = {}): Promise<number> {
    this.#checkOpen();
    checkOptions('export', options);
    const { exportTo } = await import('./data-out.ts'); // formats are many, and few programs write any
    return inOwnWords(() => exportTo(this.#options.data, out, options));
  }

  /** Fields of all stored pages as rows, to a stream that it leaves open; nothing is fetched. */
  async extract(schema: FieldsFile, out: Writable, options: ExtractOptions = {}): Promise<RowsWritten> {
    this.#checkOpen();
    checkOptions('extract', options);
    const { extractTo } = await import('./data-out.ts');
    const { fieldsIn } = await import('../../extract/extract.ts');
    return inOwnWords(() => extractTo(this.#options.data, fieldsIn(schema), out, options));
  }

  /** Chunks that came, changed or went since a cursor, a line of JSON each; the last line has the next cursor. */
  async chunks(out: Writable, options: ChunkOptions = {}): Promise<ChunksTold> {
    this.#checkOpen();
    checkOptions('chunks', options);
    const { chunksTo } = await import('./data-out.ts');
    return inOwnWords(() => chunksTo(this.#options.data, out, options));
  }

  /**
   * Takes pages out for good: URLs, patterns with *, or servers; the next crawl does not bring them back. Nothing else may
   * work in the collection meanwhile.
   */
  async forget(
    targets: string | readonly string[],
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<Forgotten> {
    this.#checkOpen();
    const names = textsOf(targets, 'forget');
    checkOptions('forget', { signal });
    const { forgetIn } = await import('../house/forget.ts');
    signal?.throwIfAborted();
    if (this.#runs.size > 0)
      throw new SkeinError(
        'data-in-use',
        'A run is already working in this collection.',
        'Wait for it to end, or stop it.',
      );
    this.#reader.close(); // what it has looked up will lie elsewhere
    // Between any two steps it may end: what is half forgotten is forgotten by the next call.
    return inOwnWords(() => forgetIn(this.#options.data, names, () => signal?.throwIfAborted()));
  }

  /** What changed, newest first. */
  changes({ limit = 1000, ...wanted }: Partial<ChangesWanted> = {}): FoundChange[] {
    this.#checkOpen();
    checkOptions('changes', { ...wanted, limit });
    return this.#reader.changes({ ...wanted, limit });
  }

  /** Ends what is under way in good order, and gives the collection back. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#runs);
    this.#reader.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** What goes on behind the scenes comes to its end, and nobody waits for it. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const aborted = () => reject(signal.reason);
  signal.addEventListener('abort', aborted);
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', aborted);
  }
}

/** Opens the collection in the directory `data`; the first crawl makes it. */
export async function open(options: OpenOptions): Promise<Skein> {
  if (typeof options?.data !== 'string' || options.data === '') {
    throw new SkeinError('bad-option', 'A collection needs a directory.', "Name one: open({ data: './collection' }).");
  }
  checkOptions('open', options);
  options.signal?.throwIfAborted();
  if (options.tuned !== false) await findCache();
  return new Skein(options);
}
