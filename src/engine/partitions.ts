/** Opens the partitions of a collection to work in them: ledger, archive and frontier of each, as the last run left them. */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { openArchive } from '../archive/archive.ts';
import type { Clock } from '../base/clock.ts';
import { SkeinError } from '../base/errors.ts';
import { refuseForeignDirectory } from '../base/file.ts';
import { partitionOfUrl } from '../base/partition.ts';
import { originOf } from '../base/url.ts';
import { version } from '../base/version.ts';
import { usesImageCodes } from '../crawler/detect/compare.ts';
import { decodeErrand } from '../errand/codec/errand-codec.ts';
import type { Errand } from '../errand/errand.ts';
import { matcherOf } from '../errand/scope/forgotten.ts';
import { keepAll } from '../errand/scope/keep.ts';
import { parseScope } from '../errand/scope/scope.ts';
import { excludedIn, forgottenIn, homesOf, outsideOf, takeIn } from '../frontier/admission/crawl-bounds.ts';
import { PageBudget } from '../frontier/errands/page-budget.ts';
import { Frontier, type FrontierOptions } from '../frontier/frontier.ts';
import { Schedule } from '../frontier/schedule/schedule.ts';
import { noteSealed } from '../home/checks/repair.ts';
import type { Home } from '../home/home.ts';
import { diskBytes, isKeeping, rememberRetention, retain, retentionIn } from '../home/house/retention.ts';
import { committing, deleteReplaced, lastEnd } from '../home/house/stored-records.ts';
import { interestIn } from '../home/indexing/indexing.ts';
import { offsiteOf } from '../home/offsite/offsite.ts';
import type { OpenPartition } from '../home/partitions/partition.ts';
import { type Collection, makeCollection, makePartition, readCollection } from '../ledger/collection/collection.ts';
import { SharedSettings } from '../ledger/collection/shared-settings.ts';
import { Ledger, lockCollection } from '../ledger/ledger.ts';
import { type Bounds, boundsOf, rememberMostPages } from './bounds.ts';
import { closeToOthers } from './close-to-others.ts';
import { rememberedContact } from './contact.ts';
import { refuseOrphans } from './open-ledger.ts';
import { type EngineOptions, type Extras, engineDefaults as usual } from './options.ts';
import { threadsOf } from './threads/threads.ts';

const LEASE = 10 * 60_000;

/** What every partition of a run is opened with. */
interface PartitionInputs {
  readonly options: EngineOptions;
  readonly extras: Extras;
  readonly clock: Clock;
  /** Seeds that are new to the ledgers. */
  readonly seeds: readonly string[];
}

/** A partition, and errands of it that outposts of an earlier run may still be at. */
interface Opened extends OpenPartition {
  readonly out: readonly ErrandOut[];
}

interface OpenedStore extends Pick<OpenPartition, 'id' | 'ledger' | 'archive'> {}

export class OpenPartitions {
  readonly collection: Collection;
  readonly settings: SharedSettings;
  readonly bounds: Bounds;
  readonly contact: string | undefined;
  readonly #run: PartitionInputs;
  readonly #lock: { close(): void } | undefined;
  readonly #terms: FrontierOptions;
  /** Opened and not closed; the partitions of a home are among them. */
  readonly #open = new Map<number, Opened>();

  /** Opens those partitions that the run asks for, all unless it says which. */
  constructor(run: PartitionInputs) {
    const { data, partitions } = run.options;
    this.#run = run;
    refuseForeignDirectory(data);
    const several = (partitions ?? 1) > 1 || readCollection(data).partitions > 1;
    this.#lock = several ? lockCollection(data) : undefined;
    this.collection = makeCollection(data, partitions);
    const wanted = run.extras.partitions ?? Array.from({ length: this.collection.partitions }, (_, id) => id);
    const stored = wanted.map(id => this.#store(id));
    closeToOthers(data);
    this.settings = new SharedSettings(stored.map(({ ledger }) => ledger));
    this.#refuseForgotten(stored, run.seeds);
    for (const { ledger } of stored) ledger.begin();
    this.bounds = boundsOf(run.options, this.settings, run.seeds);
    if ((run.extras.mode ?? 'crawl') === 'crawl') rememberMostPages(this.settings, run.options.maxPages);
    this.contact = rememberedContact(this.settings, run.options.agent);
    const { keepVersions, keepDays, maxDisk } = run.options;
    rememberRetention(this.settings, { keepVersions, keepDays, maxDisk });
    if (several) this.settings.addSeeded(run.seeds.map(originOf));
    this.#terms = frontierOptions({ ...run.options, ...this.bounds }, run.seeds, this.settings, run.extras.mode);
    for (const each of stored) this.#fill(each);
  }

  /** A seed that was forgotten comes back only when its tombstone is lifted. */
  #refuseForgotten(stored: readonly OpenedStore[], seeds: readonly string[]): void {
    const isForgotten = matcherOf(forgottenIn(this.settings).map(text => ({ text })));
    const forgotten = seeds.find(isForgotten);
    if (forgotten === undefined) return;
    for (const { ledger } of stored) ledger.close();
    this.#lock?.close();
    throw new SkeinError(
      'bad-option',
      `${forgotten} was forgotten, and Skein does not fetch it again.`,
      `Allow it first: skein forget --allow '${forgotten}' ("skein forget" lists what is blocked).`,
    );
  }

  get partitions(): readonly Opened[] {
    return [...this.#open.values()];
  }

  /** Opens one more, with the same terms. */
  open(id: number): Opened {
    const stored = this.#store(id);
    this.settings.join(stored.ledger);
    const opened = this.#fill(stored);
    stored.ledger.commit();
    return opened;
  }

  /** Takes seeds in, each in its partition; returns how many were new. */
  seed(urls: readonly string[]): number {
    const { partitions } = this.collection;
    if (partitions > 1) this.settings.addSeeded(urls.map(originOf));
    return this.partitions.reduce((added, { id, frontier }) => {
      const own = partitions === 1 ? urls : urls.filter(url => partitionOfUrl(url, partitions) === id);
      return added + frontier.seed(own);
    }, 0);
  }

  commit(): void {
    for (const { ledger } of this.partitions) ledger.commit();
  }

  /** Drops what retention does not keep. Not while a home works in the partitions. */
  async keepHouse(): Promise<void> {
    await this.dropOld(({ ledger, archive }) => committing(ledger, archive));
    for (const { ledger } of this.partitions)
      if (ledger.state !== 'abandoned') deleteReplaced(ledger, ledger.directory);
  }

  /** Like keepHouse, but the files of replaced segments stay. `commitOf`: how a partition commits what is written. */
  async dropOld(commitOf: (partition: Opened) => () => void): Promise<void> {
    const retention = retentionIn(this.settings);
    if (!isKeeping(retention)) return;
    const bytes = this.partitions.map(({ ledger }) => diskBytes(ledger.directory));
    const all = bytes.reduce((sum, each) => sum + each, 0);
    const now = this.#run.clock.now();
    for (const [i, opened] of this.partitions.entries()) {
      const { ledger, archive } = opened;
      if (ledger.state === 'abandoned') continue;
      if (offsiteOf(ledger)) await (await import('../home/offsite/bring.ts')).bringAll(ledger);
      await retain({ ledger, archive, commit: commitOf(opened) }, retention, now, bytes[i]! / all);
    }
  }

  /** Seeds of one partition, out of all of them. In a transaction. */
  seedOne(id: number, urls: readonly string[]): void {
    const { partitions } = this.collection;
    this.#open.get(id)?.frontier.seed(urls.filter(url => partitionOfUrl(url, partitions) === id));
  }

  /** Closes one that its home has released, or whose home has ended. `last` is awaited once everything is written. */
  async close(id: number, last?: () => Promise<void>): Promise<void> {
    const { ledger, archive, frontier } = this.#open.get(id)!;
    this.#open.delete(id);
    this.settings.leave(ledger);
    try {
      await archive.close();
      if (ledger.state !== 'abandoned') frontier.close();
      await last?.();
    } finally {
      ledger.close();
    }
  }

  async closeAll(): Promise<void> {
    const closed = await Promise.allSettled(this.partitions.map(({ id }) => this.close(id)));
    this.#lock?.close();
    for (const each of closed) if (each.status === 'rejected') throw each.reason;
  }

  #store(id: number): OpenedStore {
    const { directory } = makePartition(this.collection, id);
    refuseOrphans(directory);
    const ledger = new Ledger(directory, 'write');
    this.#run.extras.opened?.(id, ledger);
    const archive = openArchive(join(directory, 'archive'), {
      software: `Skein/${version}`,
      ...this.#run.extras.archive,
    });
    deleteReplaced(ledger, directory);
    // An inherited segment may lie in the store only.
    archive.recover(lastEnd(ledger), this.#run.extras.shared && offsiteOf(ledger) !== undefined);
    ledger.begin();
    noteSealed(ledger);
    return { id, ledger, archive };
  }

  /** The frontier as the last run left it. */
  #fill({ id, ledger, archive }: OpenedStore): Opened {
    const { options, extras, clock } = this.#run;
    const { partitions } = this.collection;
    const searches = interestIn(ledger.directory, clock.now);
    const frontier = new Frontier(
      ledger,
      {
        ...this.#terms,
        ...(partitions > 1 && { partition: { id, of: partitions }, moved: this.#moved }),
        ...(extras.shared && { askedUntil: clock.now() }),
      },
      clock,
      new Schedule(ledger, extras.schedule, { searches, continuous: extras.mode === 'watch' }),
    );
    const out = errandsOut(ledger, options);
    frontier.restore(out, options.reading?.(ledger.pages.size));
    const opened = { id, ledger, archive, frontier, out };
    this.#open.set(id, opened);
    return opened;
  }

  /** The site of a seed has moved: the crawl follows, in every partition. */
  readonly #moved = (url: string): void => {
    takeIn(this.settings, url);
    for (const { frontier } of this.partitions) frontier.widen(outsideOf(this.settings, frontier.options.scope));
  };
}

/** Partitions that a home has get what outposts of an earlier run still bring. */
export function adoptAll(home: Home, opened: Iterable<Opened>): void {
  for (const { out, ...partition } of opened) {
    home.adopt(partition);
    for (const { errand, outpost, sequence } of out) home.dispatch.expect(outpost, errand, sequence);
  }
}

interface ErrandOut {
  readonly errand: Errand;
  readonly outpost: string;
  readonly issued: number;
  readonly sequence: number;
}

/** Errands that outposts of an earlier run may still work on; those that cannot come back are dropped. */
function errandsOut(ledger: Ledger, { listen, outposts = [] }: EngineOptions): ErrandOut[] {
  const out: ErrandOut[] = [];
  for (const { id, outpost, bytes, issued, sequence } of ledger.outbox.errands.all()) {
    const reachable = listen !== undefined || outposts.some(({ url }) => url === outpost);
    try {
      if (!reachable) throw new SkeinError('not-found', 'its outpost is not part of this run');
      out.push({ errand: decodeErrand(bytes), outpost, issued, sequence });
    } catch {
      ledger.outbox.errands.remove(id); // its pages wait like all others
    }
  }
  return out;
}

/** What the frontiers of all partitions are told; in a transaction of each. */
function frontierOptions(
  options: EngineOptions & Bounds,
  seeds: readonly string[],
  settings: SharedSettings,
  mode: Extras['mode'] = 'crawl',
): FrontierOptions {
  const {
    pace = usual.pace,
    connections = usual.connections,
    bodyBytes = usual.bodyBytes,
    images: wanted = usual.images,
    maxPages = Number.POSITIVE_INFINITY,
  } = options;
  const { domains, decider } = options;
  const hosts = [...new Set(homesOf(settings, seeds).map(originOf))].sort();
  const parsed = parseScope(options.scope);
  const detector = rememberedDetector(settings, options.detector);
  // An image code is computed from pixels, so comparing codes needs the images.
  const images = wanted === 'watch' && usesImageCodes(detector) ? 'store' : wanted;
  const scope = { ...parsed, focus: options.focus, images: images === 'store', keep: { ...keepAll, ...options.keep } };
  return {
    mode: mode === 'crawl' ? 'explore' : 'refresh',
    order: options.order,
    pvalue: options.pvalue,
    images,
    scope,
    outside: outsideOf(settings, scope, seeds),
    bounds: JSON.stringify([parsed, parsed.domains.length > 0 || hosts, [...domains], excludedIn(settings)]),
    domains,
    maxPages,
    budget: new PageBudget(maxPages),
    pagesPerServer: options.perServer,
    depth: options.depth,
    bodyBytes,
    pace: pace * 1000,
    connections,
    outposts: Math.max(1, threadsOf(options)),
    allowPrivate: options.allowPrivate ?? false,
    detector,
    ...(decider && { code: digestOf(decider) }),
    lease: LEASE,
  };
}

/** As errands name code. */
export const digestOf = (code: Uint8Array): string => hash('sha256', code);

/** The detector chosen now, or else the last one. In a transaction. */
function rememberedDetector(settings: SharedSettings, given: string | undefined): string {
  if (given !== undefined) settings.set('detector', given);
  return given ?? settings.get<string>('detector') ?? 'content';
}
