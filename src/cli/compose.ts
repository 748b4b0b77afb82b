/** Builds a home from plain values: ledger, archive, frontier, threads. Nothing else constructs these. */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type ArchiveOptions, openArchive } from '../archive/archive.ts';
import { type Clock, shiftedClock, systemClock } from '../base/clock.ts';
import { SkeinError } from '../base/errors.ts';
import { originOf } from '../base/url.ts';
import { usesImageCodes } from '../crawler/detect/compare.ts';
import { makeSlots } from '../crawler/pace/address-slots.ts';
import { AGENT_TOKEN, userAgent } from '../errand/agent.ts';
import { decodeErrand } from '../errand/codec/errand-codec.ts';
import type { Errand } from '../errand/errand.ts';
import { parseKeep, parseScope } from '../errand/scope/scope.ts';
import { excludedIn, homesOf, outsideOf } from '../frontier/admission/crawl-bounds.ts';
import { Frontier, type FrontierOptions } from '../frontier/frontier.ts';
import { domainOf, leavesOut, parseDomainWeights } from '../frontier/lanes/director.ts';
import { parsePvalue } from '../frontier/orders/pvalue-terms.ts';
import { Schedule } from '../frontier/schedule/schedule.ts';
import type { ScheduleSettings } from '../frontier/schedule/settings.ts';
import { noteSealed } from '../home/checks/repair.ts';
import { Home } from '../home/home.ts';
import { interestIn } from '../home/indexing/indexing.ts';
import type { Outposts, OutpostsOptions } from '../home/machines/outposts.ts';
import type { LineSums } from '../ledger/account.ts';
import { Ledger } from '../ledger/ledger.ts';
import { tryDecider } from '../outpost/cages/deciders.ts';
import type { OutpostOptions } from '../outpost/workers/tools.ts';
import { type Branch, depthOf, pruned, readTrees } from '../transfer/ssh/machine-tree.ts';
import { dismissEarly, ThreadCarrier } from '../transfer/thread.ts';
import { socketsFor } from './open-files.ts';
import { refuseOrphans } from './open-ledger.ts';
import { type Bounds, boundsOf, rememberMostPages } from './options/bounds.ts';
import { closeToOthers } from './options/close-to-others.ts';
import { rememberedContact } from './options/contact.ts';
import { type DeciderFile, readDecider } from './options/decider-file.ts';
import { parseAddress, parseSize, type Values } from './options/options.ts';
import { threadModule } from './prestart.ts';
import { readingOf } from './print/opening.ts';
import { version } from './version.ts';

/**
 * Pages a thread may have under way, or requests a second of paced servers: enough that it never waits for home, few
 * enough to stop quickly.
 */
const THREAD_ROOM = 512;
const LEASE = 10 * 60_000;
/** How long a crawl waits for a busy server or a retry when all else is done. */
export const PATIENCE = 60_000;

export type CrawlValues = Omit<
  Values,
  | 'config'
  | 'seeds'
  | 'budget'
  | 'freshness'
  | 'policy'
  | 'estimator'
  | 'thresholds'
  | 'secondLook'
  | 'images'
  | 'workbench'
  | Far
> &
  Partial<Pick<Values, 'images' | Far>>;
/** Options about other machines, and about code that may travel there. */
type Far = 'outpost' | 'listen' | 'levels' | 'decider';

export interface Opened {
  readonly home: Home;
  readonly ledger: Ledger;
  readonly frontier: Frontier;
  readonly clock: Clock;
  readonly bounds: Bounds;
  /** Seeds that were new. */
  readonly added: number;
  /** The machines beyond this one; undefined = none were asked for. */
  readonly outposts: Outposts | undefined;
  /** Reaches the machines; throws when one of them cannot be used. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

export interface Extras {
  readonly mode?: Errand['kind'];
  readonly schedule?: Partial<ScheduleSettings>;
  /** Replaces sockets in the threads. */
  readonly fetcher?: OutpostOptions['fetcher'];
  readonly timeouts?: OutpostOptions['timeouts'];
  /** Tests roll segments early. */
  readonly archive?: ArchiveOptions;
  /** Simulations move time by it, at home and in the threads: see shiftedClock. */
  readonly clockShift?: SharedArrayBuffer;
  /** Milliseconds that a vanished machine may take to come back. */
  readonly absence?: number;
}

export async function openHome(values: CrawlValues, seeds: readonly string[], extras: Extras = {}): Promise<Opened> {
  const clock = extras.clockShift ? shiftedClock(extras.clockShift) : systemClock;
  refuseMistakes(values, seeds);
  const trees = readTrees(values.outpost ?? []);
  const decider = readDecider(values.decider);
  const ledger = openToWrite(values.data);
  const archive = openArchive(join(values.data, 'archive'), { software: `Skein/${version}`, ...extras.archive });
  archive.recover(lastEnd(ledger));
  const threads = threadsOf(values);
  ledger.begin();
  noteSealed(ledger, values.data);
  const bounds = boundsOf(values, ledger, seeds);
  if (extras.mode !== 'refresh') rememberMostPages(ledger, values.maxPages);
  const contact = rememberedContact(ledger, values.agent);
  const agent = userAgent(version, contact);
  const frontier = new Frontier(
    ledger,
    { ...frontierOptions({ ...values, ...bounds }, seeds, ledger, extras), ...(decider && { code: decider.digest }) },
    clock,
    new Schedule(ledger, extras.schedule, interestIn(values.data, clock.now)),
  );
  const out = errandsOut(ledger, values, trees);
  frontier.restore(out, readingOf(ledger.pages.size));
  const added = frontier.seed(seeds);
  ledger.commit();
  const home: Home = new Home({
    ...{ ledger, archive, frontier, clock },
    spare: () => startThread('trial', home, thread, 0),
  });
  home.dispatch.levels = values.levels ?? Math.max(1, depthOf(trees));
  for (const { errand, outpost, sequence } of out) home.dispatch.expect(outpost, errand, sequence);
  const crossed = (line: LineSums) => ledger.account.addLine(clock.now(), line);
  const slots = makeSlots(); // audits keep the pace, too
  const far = { ...extras, agent, contact, decider, crossed, slots };
  const outposts = isFar(values) ? await makeOutposts(home, values, clock, far) : undefined;
  const thread = { ...outpostOf(agent, extras, { threads, slots }), ...(decider && { decider: decider.bytes }) };
  for (let i = 1; i <= threads; i++) home.dispatch.join(startThread(`thread-${i}`, home, thread));
  dismissEarly();
  return {
    ...{ home, ledger, frontier, clock, bounds, added, outposts },
    async ready() {
      if (decider) await tryDecider(decider.bytes, { own: true });
      await outposts?.open(
        pruned(trees, home.dispatch.levels),
        values.listen ? parseAddress(values.listen) : undefined,
      );
    },
    async close() {
      try {
        await outposts?.close();
        await home.dispatch.close();
        await archive.close();
        if (!ledger.abandoned) frontier.close();
      } finally {
        ledger.close();
      }
    },
  };
}

function openToWrite(directory: string): Ledger {
  refuseOrphans(directory);
  const ledger = new Ledger(directory, 'write');
  closeToOthers(directory);
  return ledger;
}

/** Before anything is made: a collection that begins with a mistake would be one all the same. */
function refuseMistakes(values: CrawlValues, seeds: readonly string[]): void {
  const { scope, keep, pvalue, domains, bodyLimit, order, focus, listen, decider } = values;
  if (order === 'focused' && !focus?.length && decider === undefined) {
    throw new SkeinError(
      'bad-option',
      'The order focused needs words to look for.',
      'Give them with --focus, or a --decider that says what links promise.',
    );
  }
  parseScope(scope ?? []);
  parseKeep(keep);
  parsePvalue(pvalue ?? '');
  refuseLeftOut(parseDomainWeights(domains ?? ''), seeds);
  if (parseSize(bodyLimit) < 1)
    throw new SkeinError('bad-option', 'A body-limit of nothing would store nothing.', 'Write it as 500kB or 16MB.');
  if (listen !== undefined) parseAddress(listen);
}

/** A seed is visited whatever the scope says, but not where its domain has no turn: nothing would ever come of it. */
function refuseLeftOut(weights: ReadonlyMap<string, number>, seeds: readonly string[]): void {
  const left = seeds.find(url => leavesOut(weights, domainOf(weights, new URL(url).hostname)));
  if (left === undefined) return;
  throw new SkeinError(
    'bad-option',
    `${left} would never be visited: --domains gives its domain the weight 0.`,
    'Leave the seed out, or give its domain a weight of its own.',
  );
}

function outpostOf(
  agent: string,
  extras: Extras,
  { threads, slots }: { threads: number; slots: SharedArrayBuffer },
): OutpostOptions {
  return {
    ...socketsOf(threads),
    userAgent: agent,
    agentToken: AGENT_TOKEN,
    slots,
    ...(extras.fetcher && { fetcher: extras.fetcher }),
    ...(extras.timeouts && { timeouts: extras.timeouts }),
    ...(extras.clockShift && { clockShift: extras.clockShift }),
  };
}

function socketsOf(threads: number): Pick<OutpostOptions, 'sockets'> {
  const sockets = socketsFor(threads);
  return sockets === undefined ? {} : { sockets };
}

/** A thread that dies is replaced: home knows when that is of no use. One without room waits for what home sends it. */
function startThread(name: string, home: Home, data: OutpostOptions, room = THREAD_ROOM): ThreadCarrier {
  return new ThreadCarrier(
    { name, room, module: threadModule, data },
    {
      parcel: (from, parcel) => home.parcel(from, parcel),
      // Only the decider can keep a thread from its work, and no other thread would fare better.
      gaveUp: (_, __, why) => home.fail(new SkeinError('refused', why)),
      trouble: (_, text) => console.error(text),
      changed: from => home.changed(from),
      lost(from, why) {
        if (room > 0) home.dispatch.join(startThread(name, home, data));
        home.lost(from, why);
      },
    },
  );
}

/** Where errands travel, home stays out of it unless it is asked to take part: its line is what is to be spared. */
function threadsOf(values: CrawlValues): number {
  const threads = values.threads ?? (values.outpost?.length ? 0 : availableParallelism());
  if (threads === 0 && !isFar(values)) {
    throw new SkeinError('bad-option', 'Without threads there is nobody to fetch.', 'Name a machine with --outpost.');
  }
  return threads;
}

function isFar(values: CrawlValues): boolean {
  return (values.outpost?.length ?? 0) > 0 || values.listen !== undefined;
}

interface FarExtras extends Pick<Extras, 'absence'>, Required<Pick<OutpostsOptions, 'crossed'>> {
  readonly agent: string;
  readonly contact: string | undefined;
  readonly decider: DeciderFile | undefined;
  readonly slots: SharedArrayBuffer;
}

/** Loaded by those who need it: what speaks to other machines is a sixth of what home consists of. */
async function makeOutposts(
  home: Home,
  values: CrawlValues,
  clock: Clock,
  { absence, agent, contact, decider, crossed, slots }: FarExtras,
): Promise<Outposts> {
  const { Outposts } = await import('../home/machines/outposts.ts');
  return new Outposts(home, {
    directory: values.data,
    software: version,
    userAgent: agent,
    contact,
    agentToken: AGENT_TOKEN,
    clock,
    say: text => console.error(text),
    auditShare: values.audit,
    crossed,
    slots,
    ...(decider && { decider }),
    ...(absence !== undefined && { lease: absence }),
  });
}

interface ErrandOut {
  readonly errand: Errand;
  readonly outpost: string;
  readonly issued: number;
  readonly sequence: number;
}

/** Errands that outposts of an earlier run may still be at; those that nobody can come back with are dropped. */
function errandsOut(ledger: Ledger, values: CrawlValues, trees: readonly Branch[]): ErrandOut[] {
  const out: ErrandOut[] = [];
  for (const { id, outpost, bytes, issued, sequence } of ledger.errands.all()) {
    const reachable = values.listen !== undefined || trees.some(({ url }) => url === outpost);
    try {
      if (!reachable) throw new SkeinError('not-found', 'its outpost is not part of this run');
      out.push({ errand: decodeErrand(bytes), outpost, issued, sequence });
    } catch {
      ledger.errands.remove(id); // its pages wait like all others
    }
  }
  return out;
}

function frontierOptions(
  values: CrawlValues & Bounds,
  seeds: readonly string[],
  ledger: Ledger,
  extras: Extras,
): FrontierOptions {
  const hosts = [...new Set(homesOf(ledger, seeds).map(originOf))].sort();
  const parsed = parseScope(values.scope);
  const detector = rememberedDetector(ledger, values.detector);
  const wanted = values.images ?? 'watch';
  // A code is made of an image's pixels: who compares codes needs the images.
  const images = wanted === 'watch' && usesImageCodes(detector) ? 'store' : wanted;
  const scope = { ...parsed, focus: values.focus, images: images === 'store', keep: parseKeep(values.keep) };
  return {
    mode: extras.mode ?? 'explore',
    order: values.order,
    pvalue: parsePvalue(values.pvalue),
    images,
    scope,
    outside: outsideOf(ledger, scope, seeds),
    bounds: JSON.stringify([parsed, parsed.domains.length > 0 || hosts, values.domains, excludedIn(ledger)]),
    domains: parseDomainWeights(values.domains),
    maxPages: values.maxPages ?? Number.POSITIVE_INFINITY,
    pagesPerServer: values.perServer,
    depth: values.depth,
    bodyBytes: parseSize(values.bodyLimit),
    pace: values.pace * 1000,
    connections: values.connections,
    outposts: Math.max(1, threadsOf(values)),
    allowPrivate: values.allowPrivate,
    detector,
    lease: LEASE,
  };
}

/** The detector that was chosen now, else the one chosen last. In a transaction. */
function rememberedDetector(ledger: Ledger, given: string | undefined): string {
  if (given !== undefined) ledger.set('detector', given);
  return given ?? ledger.setting<string>('detector') ?? 'content';
}

function lastEnd(ledger: Ledger): { segment: number; length: number } {
  const last = ledger.segments().at(-1);
  return last ? { segment: last.id, length: last.length } : { segment: 0, length: 0 };
}
