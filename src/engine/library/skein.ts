/**
 * Skein as a library: `import { open } from 'skein'`. It prints nothing, ends no process, and one process may have
 * several collections open. Pages are handed out as the ledger has them, after they are committed: a reader that is slow
 * holds nobody up, and what it has not read waits on the disk and not in memory.
 */
import { SkeinError } from '../../base/errors.ts';
import { seedUrl } from '../../base/url.ts';
import { type Change, type ChangesWanted, changesIn } from '../../home/answers/changes.ts';
import { freshnessNow } from '../../home/answers/why.ts';
import { freshIndex } from '../../home/indexing/indexing.ts';
import { crawlSupply } from '../../home/supply.ts';
import type { QueryOptions, Results } from '../../search/index.ts';
import { openEngine, PATIENCE } from '../engine.ts';
import { type FreshOptions, type FreshSummary, keepFresh } from '../keep-fresh.ts';
import { openLedger } from '../open-ledger.ts';
import type { EngineOptions } from '../options.ts';
import { type Summary, summaryOf } from '../summary.ts';
import { CollectionReader, type CrawledPage } from './reader.ts';
import { Run, type RunWork } from './run.ts';

export { SkeinError } from '../../base/errors.ts';
export type { Change, ChangesWanted } from '../../home/answers/changes.ts';
export type { Hit, QueryOptions, Results } from '../../search/index.ts';
export type { Budget } from '../budget.ts';
export type { FreshOptions, FreshSummary } from '../keep-fresh.ts';
export type { BoundOptions, EngineOptions } from '../options.ts';
export type { Summary } from '../summary.ts';
export type { CrawledPage, PageLink } from './reader.ts';
export type { Run } from './run.ts';

/** What a run may be told besides what the collection was opened with. */
export type CrawlOptions = Partial<Omit<EngineOptions, 'data'>>;
export type RefreshOptions = Partial<Omit<FreshOptions, 'data'>>;

export class Skein {
  readonly #options: EngineOptions;
  readonly #closing = new AbortController();
  readonly #reader: CollectionReader;
  readonly #runs = new Set<Promise<unknown>>();

  /** Use open(). */
  constructor(options: EngineOptions) {
    this.#options = options;
    this.#reader = new CollectionReader(options.data);
  }

  /**
   * Collects from these URLs, or goes on where the last crawl stopped. The pages come one by one, each when it was
   * visited; whoever leaves the loop stops the crawl, and a later one goes on with it.
   */
  crawl(seeds: string | readonly string[] = [], more: CrawlOptions = {}): Run<Summary> {
    const urls = [seeds].flat().map(seedUrl);
    return this.#run({ ...this.#options, ...more }, async (options, began) => {
      if (urls.length === 0) openLedger(options.data).close(); // there must be something to go on with
      const engine = await openEngine(options, urls);
      try {
        began(engine.ledger.visits.last);
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
    return this.#run<FreshSummary, FreshOptions>({ ...this.#options, ...more }, (options, began) => {
      openLedger(options.data).close();
      return keepFresh(kind, options, {}, async engine => {
        began(engine.ledger.visits.last);
        return async () => {};
      });
    });
  }

  #run<S, O extends EngineOptions>(options: O, work: RunWork<S, O>): Run<S> {
    if (this.#closing.signal.aborted) throw new SkeinError('refused', 'This collection was closed.');
    return new Run(options, work, {
      closing: this.#closing.signal,
      after: visit => this.#reader.after(visit),
      started: run => {
        this.#runs.add(run);
        const over = () => this.#runs.delete(run);
        run.then(over, over);
      },
    });
  }

  /** A page that was visited before; undefined = it was not. */
  page(url: string): CrawledPage | undefined {
    return this.#reader.page(seedUrl(url));
  }

  /** Finds pages by what they say; what came since the last time is read into the index first. */
  async search(query: string, options: QueryOptions = {}): Promise<Results> {
    const ledger = this.#reader.ledger;
    const { search } = await freshIndex(this.#options.data, () => {});
    try {
      return search.query(query, { freshness: freshnessNow(ledger, Date.now()), ...options });
    } finally {
      search.close();
    }
  }

  /** What changed, newest first. */
  changes({ limit = 1000, ...wanted }: Partial<ChangesWanted> = {}): Change[] {
    return changesIn(this.#reader.ledger, { ...wanted, limit });
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

/** Opens the collection in the directory `data`; the first crawl makes it. */
export async function open(options: EngineOptions): Promise<Skein> {
  if (typeof options?.data !== 'string' || options.data === '') {
    throw new SkeinError('bad-option', 'A collection needs a directory.', "Name one: open({ data: './collection' }).");
  }
  options.signal?.throwIfAborted();
  return new Skein(options);
}
