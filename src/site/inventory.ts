/**
 * What a site has, kept in step with its sources: everything is looked at once, then what a source tells of, and from time
 * to time all again. Whether a document changed is our own detector's word (src/crawler/), so a build that writes
 * every file anew is no news. What is missing is looked for again after a while before it is told: a build that
 * empties its folder first is no news either.
 */
import { hash } from 'node:crypto';
import { type Clock, systemClock } from '../base/clock.ts';
import { SkeinError, systemWords } from '../base/errors.ts';
import { originOf } from '../base/url.ts';
import { analyse } from '../crawler/analysis/analyse.ts';
import { unpackFacts } from '../errand/facts.ts';
import type { Operation } from '../notices/site/changes.ts';
import { siteLimits } from '../notices/site/discovery.ts';
import type { Bodies } from './journal/bodies.ts';
import type { Journal } from './journal/journal.ts';
import type { JournalPage } from './journal/lines.ts';
import { isText } from './sources/media-types.ts';
import type { SourcePermission } from './sources/permission.ts';
import { HOPELESS, type Item, type SiteSource, type SourceDocument } from './sources/source.ts';
import { Touches } from './touches.ts';

interface InventoryParts {
  readonly site: string;
  readonly now: Clock['now'];
  readonly journal: Journal;
  readonly bodies: Bodies;
  readonly sources: readonly SiteSource[];
  readonly permission: SourcePermission;
  /** Milliseconds of quiet after which touched pages are read. */
  readonly quiet?: number;
  /** Milliseconds that a page must be missing before it is told. */
  readonly goneAfter?: number;
  readonly say?: ((text: string) => void) | undefined;
}

/** How a source does. */
interface SourceState {
  readonly name: string;
  pages: number;
  listed: number;
  problem: string;
  /** What of it cannot be read, while the rest can. */
  unread: string;
}

/** Bytes of a body below which a difference would be as long as the whole. */
const SMALL = 512;
const BATCH = 256;
const AT_ONCE = 8;
/** Milliseconds for which a server that is only just starting is asked again. */
const STARTING = 3000;

type PendingChange = { readonly operation: Operation; readonly page: JournalPage };

export class Inventory {
  readonly #parts: InventoryParts;
  readonly #stamps = new Map<SiteSource, Map<string, string>>();
  /** When a page was first found missing. */
  readonly #missing = new Map<string, number>();
  readonly #confirming = new Map<SiteSource, NodeJS.Timeout>();
  readonly states = new Map<SiteSource, SourceState>();
  readonly #stops: (() => void)[] = [];
  #batch: PendingChange[] = [];
  /** Work is done one piece after another: two at once could write a page's changes in the wrong order. */
  #queue: Promise<void> = Promise.resolve();
  #stopped = false;
  readonly #ended = new AbortController();
  readonly #failures = new Map<SiteSource, number>();

  constructor(parts: InventoryParts) {
    this.#parts = parts;
    for (const source of parts.sources) {
      this.#stamps.set(source, new Map());
      this.states.set(source, { name: source.name, pages: 0, listed: 0, problem: '', unread: '' });
    }
  }

  /** Resolves when everything has been looked at once. */
  async start(): Promise<void> {
    // Watched first: what changes while we list is told, and looked at after.
    for (const source of this.#parts.sources) this.#follow(source);
    await this.#enqueue(async () => {
      const { journal, sources } = this.#parts;
      const begun = journal.begun;
      for (const source of sources) await this.#firstList(source);
      if (!begun && !this.#stopped) {
        journal.begin(this.#batch.map(({ page }) => page));
        this.#batch = [];
      } else this.#dropStrangers();
      this.#flush();
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#ended.abort();
    for (const stop of this.#stops) stop();
    for (const timer of this.#confirming.values()) clearTimeout(timer);
    await this.#queue;
    for (const source of this.#parts.sources) await source.close?.();
  }

  /** These may have changed; with none, anything may have. Resolves when they have been looked at. */
  touched(source: SiteSource, paths: readonly string[]): Promise<void> {
    return this.#enqueue(async () => {
      if (paths.length === 0) await this.#list(source);
      else await this.#lookAt(source, of(paths.map(path => ({ path, stamp: '' }))));
      this.#flush();
    });
  }

  /** Everything once more, as when somebody asks for it. */
  sweep(): Promise<void> {
    return this.#enqueue(async () => {
      for (const source of this.#parts.sources) await this.#list(source);
      this.#flush();
    });
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    const done = this.#queue.then(async () => {
      if (!this.#stopped) await work();
    });
    this.#queue = done.catch(error => this.#parts.say?.(wordsOf(error)));
    return done;
  }

  #follow(source: SiteSource): void {
    const repeat = (every: number, work: () => Promise<void>): void => {
      const timer = setInterval(() => void this.#enqueue(work).catch(() => {}), every); // said by #enqueue
      timer.unref();
      this.#stops.push(() => clearInterval(timer));
    };
    repeat(source.every, async () => {
      await this.#list(source);
      this.#flush();
    });
    const { recent } = source;
    if (recent)
      repeat(recent.every, async () => {
        // One that failed is listed again as a whole.
        if (this.states.get(source)!.problem !== '') return;
        await this.#guarded(source, () => this.#lookAt(source, recent.list()));
        this.#flush();
      });
    const touches = new Touches(this.#parts.quiet ?? 300, paths => void this.touched(source, paths).catch(() => {}));
    this.#stops.push(() => touches.stop());
    const stop = source.watch?.(paths => touches.add(paths));
    if (stop) this.#stops.push(stop);
  }

  /** A server that is only just starting gets a moment. */
  async #firstList(source: SiteSource): Promise<void> {
    for (let wait = 100; ; wait *= 2) {
      await this.#list(source);
      if (this.states.get(source)!.problem === '' || wait > STARTING || this.#stopped) return;
      if (!source.mayStartLate) return;
      await systemClock.sleep(wait, this.#ended.signal);
    }
  }

  /** A source that failed is asked again soon, then later and later. */
  #retry(source: SiteSource): void {
    const failures = (this.#failures.get(source) ?? 0) + 1;
    this.#failures.set(source, failures);
    const wait = Math.min(source.every, 1000 * 2 ** failures);
    const again = async (): Promise<void> => {
      await this.#list(source);
      this.#flush();
    };
    const timer = setTimeout(() => void this.#enqueue(again).catch(() => {}), wait).unref(); // said by #enqueue
    this.#ended.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  }

  async #list(source: SiteSource): Promise<void> {
    await this.#guarded(source, async () => {
      const { permission, journal, sources } = this.#parts;
      // One source's robots.txt counts for all: the site has one.
      if (source.robots && source === sources.find(each => each.robots)) permission.useRobots(await source.robots());
      const unread: string[] = [];
      const seen = await this.#lookAt(source, source.list(), unread);
      if (this.#stopped) return;
      const state = this.states.get(source)!;
      state.listed = this.#parts.now();
      state.pages = seen.size;
      this.#note(source, unread);
      for (const page of journal.pages.values()) {
        if (page.source === source.name && !seen.has(page.path)) this.#miss(source, page.path);
      }
    });
  }

  /** A source that fails keeps its pages, and is asked again. */
  async #guarded(source: SiteSource, work: () => Promise<unknown>): Promise<void> {
    const state = this.states.get(source)!;
    try {
      await work();
      state.problem = '';
      this.#failures.delete(source);
    } catch (error) {
      if (error instanceof SkeinError && (error.code === 'disk-full' || error.code === 'damaged')) throw error;
      const words = wordsOf(error);
      if (state.problem !== words) this.#parts.say?.(`${source.name}: ${words}`);
      state.problem = words;
      if (this.#parts.journal.begun && !this.#stopped) this.#retry(source);
    }
  }

  #note(source: SiteSource, unread: readonly string[]): void {
    const state = this.states.get(source)!;
    const words = unread.length > 1 ? `${unread.length} pages cannot be read, one of them: ${unread[0]}` : unread[0];
    if (words !== undefined && words !== state.unread) this.#parts.say?.(`${source.name}: ${words}`);
    state.unread = words ?? '';
  }

  /** The paths that it named, whatever may be told of them; `unread` gets why some cannot be read. */
  async #lookAt(source: SiteSource, items: AsyncIterable<Item>, unread: string[] = []): Promise<ReadonlySet<string>> {
    const seen = new Set<string>();
    const stamps = this.#stamps.get(source)!;
    const iterator = items[Symbol.asyncIterator]();
    const worker = async (): Promise<void> => {
      for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
        if (this.#stopped || seen.size >= siteLimits.pages) return;
        const { path, stamp, document, problem } = next.value;
        seen.add(path);
        if (problem !== undefined) {
          stamps.delete(path);
          unread.push(problem);
          continue;
        }
        const permitted = this.#parts.permission.permits(path);
        if (stamp !== '' && stamps.get(path) === stamp && permitted) continue;
        await this.#look(source, path, document?.());
        // What may not be told has to be looked at when it may.
        if (!permitted) stamps.delete(path);
        else if (stamp !== '') stamps.set(path, stamp);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return seen;
  }

  async #look(source: SiteSource, path: string, given: SourceDocument | undefined): Promise<void> {
    const { journal, permission } = this.#parts;
    const known = journal.pages.get(path);
    if (known && known.source !== source.name && this.#parts.sources.some(each => each.name === known.source)) return;
    if (!permission.permits(path)) return this.#remove(path);
    const document = given ?? (await source.read(path));
    if (document === undefined) return this.#miss(source, path);
    this.#missing.delete(path);
    const page = this.#pageOf(source, path, document);
    if (page === undefined) return this.#remove(path);
    if (known === undefined) this.#add({ operation: 'create', page });
    else if (known.content !== page.content || known.kind !== page.kind) this.#add({ operation: 'update', page });
    else if (known.body !== page.body) journal.touch({ ...page, time: known.time });
  }

  /** Undefined: a document that only lists could lead to, and that itself says that none is to name it. */
  #pageOf(source: SiteSource, path: string, document: SourceDocument): JournalPage | undefined {
    const { site, bodies, journal, now } = this.#parts;
    const { body, type, modified } = document;
    const headers = new Map([['content-type', type]]);
    const read = analyse({ url: originOf(site) + path, headers, body });
    const isUnlisted = read.noindex || document.unlisted === true;
    if (isUnlisted && document.kind !== 'page') return undefined;
    const kind = isUnlisted ? 'unlisted' : document.kind;
    const content = Buffer.from(unpackFacts(read.facts)!.content).toString('hex');
    const sha256 = hash('sha256', body, 'hex');
    if (isText(type) && body.length >= SMALL) bodies.put(sha256, body);
    // A file that was put back or copied with its date may be older than our last look, which it was not there for.
    const before = Math.max(journal.pages.get(path)?.time ?? 0, this.states.get(source)!.listed);
    const time = modified !== undefined && modified > before ? Math.min(modified, now()) : now();
    const title = document.title ?? read.title;
    const whole = Math.floor(time / 1000) * 1000;
    return { path, source: source.name, kind, type, title, content, body: sha256, bytes: body.length, time: whole };
  }

  #miss(source: SiteSource, path: string): void {
    this.#stamps.get(source)!.delete(path);
    if (!this.#parts.journal.pages.has(path) || this.#missing.has(path)) return;
    this.#missing.set(path, systemClock.ticks());
    if (!this.#confirming.has(source)) this.#confirmLater(source);
  }

  #confirmLater(source: SiteSource): void {
    const confirm = (): void => {
      this.#confirming.delete(source);
      void this.#enqueue(() => this.#confirm(source)).catch(() => {}); // said by #enqueue
    };
    this.#confirming.set(source, setTimeout(confirm, (this.#parts.goneAfter ?? 5000) + 50).unref());
  }

  /** Pages that have been missing long enough are looked for once more. */
  async #confirm(source: SiteSource): Promise<void> {
    const before = systemClock.ticks() - (this.#parts.goneAfter ?? 5000);
    await this.#guarded(source, async () => {
      let failed = 0;
      for (const [path, since] of this.#missing) {
        if (this.#parts.journal.pages.get(path)?.source !== source.name) continue;
        if (since > before) {
          if (!this.#confirming.has(source)) this.#confirmLater(source);
          continue;
        }
        try {
          if ((await source.read(path)) === undefined) this.#remove(path);
          else await this.#look(source, path, undefined);
          failed = 0;
        } catch (error) {
          // One that cannot be read is kept, and keeps no other from going.
          if (++failed === HOPELESS) throw error;
        }
        this.#missing.delete(path);
      }
    });
    this.#flush();
  }

  #remove(path: string): void {
    const page = this.#parts.journal.pages.get(path);
    if (page) this.#add({ operation: 'delete', page });
  }

  /** Pages of sources that the owner no longer has. */
  #dropStrangers(): void {
    const names = new Set(this.#parts.sources.map(({ name }) => name));
    for (const page of this.#parts.journal.pages.values()) if (!names.has(page.source)) this.#remove(page.path);
  }

  #add(change: PendingChange): void {
    this.#batch.push(change);
    if (this.#batch.length >= BATCH && this.#parts.journal.begun) this.#flush();
  }

  #flush(): void {
    const { journal, bodies } = this.#parts;
    if (!journal.begun) return;
    // A page that two sources named at once, or that was looked at twice, is told once.
    const byPath = new Map(this.#batch.map(change => [change.page.path, change]));
    // Emptied when it is written: on a full disk it waits for the next time.
    this.#batch = [...byPath.values()].flatMap(change => newsIn(journal, change));
    journal.append(this.#batch);
    this.#batch = [];
    bodies.tidy(() => new Set([...journal.pages.values()].map(({ body }) => body)));
  }
}

function newsIn(journal: Journal, change: PendingChange): readonly PendingChange[] {
  const { operation, page } = change;
  const known = journal.pages.get(page.path);
  if (operation === 'delete') return known === undefined ? [] : [change];
  if (known === undefined) return [change];
  // For those who read lists a page that is no longer listed is gone, and one that is listed from now on is new.
  if (known.kind !== page.kind)
    return [
      { operation: 'delete', page: known },
      { operation: 'create', page },
    ];
  return known.content === page.content ? [] : [change];
}

async function* of<T>(items: readonly T[]): AsyncIterable<T> {
  yield* items;
}

function wordsOf(error: unknown): string {
  return error instanceof SkeinError ? error.message : systemWords(error);
}
