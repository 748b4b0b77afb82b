/**
 * Builds a home from plain values: ledger, archive, frontier, threads. Nothing else constructs these. It prints nothing,
 * ends no process, and keeps nothing outside of what it returns, so that one process can have several at once.
 */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { openArchive } from '../archive/archive.ts';
import { type Clock, shiftedClock, systemClock } from '../base/clock.ts';
import { SkeinError } from '../base/errors.ts';
import { originOf } from '../base/url.ts';
import { version } from '../base/version.ts';
import { usesImageCodes } from '../crawler/detect/compare.ts';
import { makeSlots } from '../crawler/pace/address-slots.ts';
import { AGENT_TOKEN, userAgent } from '../errand/agent.ts';
import { decodeErrand } from '../errand/codec/errand-codec.ts';
import type { Errand } from '../errand/errand.ts';
import { keepAll } from '../errand/scope/keep.ts';
import { parseScope } from '../errand/scope/scope.ts';
import { excludedIn, homesOf, outsideOf } from '../frontier/admission/crawl-bounds.ts';
import { Frontier, type FrontierOptions } from '../frontier/frontier.ts';
import { domainOf, leavesOut } from '../frontier/lanes/director.ts';
import { Schedule } from '../frontier/schedule/schedule.ts';
import { noteSealed } from '../home/checks/repair.ts';
import { Home } from '../home/home.ts';
import { interestIn } from '../home/indexing/indexing.ts';
import type { Outposts } from '../home/machines/outposts.ts';
import type { Supply } from '../home/supply.ts';
import type { LineSums } from '../ledger/account.ts';
import { Ledger } from '../ledger/ledger.ts';
import { tryDecider } from '../outpost/cages/deciders.ts';
import { depthOf, pruned } from '../transfer/ssh/machine-tree.ts';
import { dismissEarly } from '../transfer/thread.ts';
import { type Bounds, boundsOf, rememberMostPages } from './bounds.ts';
import { closeToOthers } from './close-to-others.ts';
import { rememberedContact } from './contact.ts';
import { refuseOrphans } from './open-ledger.ts';
import { type EngineOptions, type Extras, engineDefaults as usual } from './options.ts';
import { isFar, startThread, type ThreadTools, threadPlan, threadsOf } from './threads.ts';

const LEASE = 10 * 60_000;
/** How long a crawl waits for a busy server or a retry when all else is done. */
export const PATIENCE = 60_000;

export interface Engine {
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
  /** Lets home work until the supply has no more, or it is stopped. */
  run(supply: Supply): Promise<void>;
  close(): Promise<void>;
}

export async function openEngine(
  options: EngineOptions,
  seeds: readonly string[] = [],
  extras: Extras = {},
): Promise<Engine> {
  const { data, signal } = options;
  signal?.throwIfAborted();
  refuseMistakes(options, seeds);
  const threads = threadsOf(options);
  const clock = extras.clockShift ? shiftedClock(extras.clockShift) : systemClock;
  const ledger = openToWrite(data);
  const archive = openArchive(join(data, 'archive'), { software: `Skein/${version}`, ...extras.archive });
  archive.recover(lastEnd(ledger));
  ledger.begin();
  noteSealed(ledger, data);
  const { bounds, contact, frontier, out, added } = fillFrontier({ options, seeds, extras, ledger, clock });
  ledger.commit();
  const tools = { userAgent: userAgent(version, contact), slots: makeSlots() };
  const plan = threadPlan(options, extras, tools);
  const levels = options.levels ?? Math.max(1, depthOf(options.outposts ?? []));
  const spare = (home: Home) => startThread('trial', home, plan, 0);
  const home = new Home({ ledger, archive, frontier, clock, levels, spare });
  for (const { errand, outpost, sequence } of out) home.dispatch.expect(outpost, errand, sequence);
  const outposts = isFar(options)
    ? await makeOutposts({ home, ledger, clock, contact, absence: extras.absence, tools }, options)
    : undefined;
  for (let i = 1; i <= threads; i++) home.dispatch.join(startThread(`thread-${i}`, home, plan));
  dismissEarly();
  const stop = () => home.stop();
  signal?.addEventListener('abort', stop);
  if (signal?.aborted) stop();
  return {
    ...{ home, ledger, frontier, clock, bounds, added, outposts },
    async ready() {
      if (options.decider) await tryDecider(options.decider, { own: true });
      await outposts?.open(pruned(options.outposts ?? [], levels), options.listen);
    },
    run: supply => home.run(outposts ? untilChecked(supply, outposts) : supply),
    async close() {
      signal?.removeEventListener('abort', stop);
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

/** A run does not end while something that other machines brought is still being checked. */
function untilChecked(supply: Supply, outposts: Outposts): Supply {
  return {
    fill: () => supply.fill(),
    worthWaiting: () => supply.worthWaiting() || outposts.doubts(),
    get left() {
      return supply.left;
    },
  };
}

interface Filling {
  readonly options: EngineOptions;
  readonly seeds: readonly string[];
  readonly extras: Extras;
  readonly ledger: Ledger;
  readonly clock: Clock;
}

/** The frontier as the last run left it, with the seeds of this one. In a transaction. */
function fillFrontier({ options, seeds, extras, ledger, clock }: Filling) {
  const bounds = boundsOf(options, ledger, seeds);
  const { mode = 'crawl' } = extras;
  if (mode === 'crawl') rememberMostPages(ledger, options.maxPages);
  const contact = rememberedContact(ledger, options.agent);
  const searches = interestIn(options.data, clock.now);
  const frontier = new Frontier(
    ledger,
    frontierOptions({ ...options, ...bounds }, seeds, ledger, mode),
    clock,
    new Schedule(ledger, extras.schedule, { searches, continuous: mode === 'watch' }),
  );
  const out = errandsOut(ledger, options);
  frontier.restore(out, options.reading?.(ledger.pages.size));
  return { bounds, contact, frontier, out, added: frontier.seed(seeds) };
}

function openToWrite(directory: string): Ledger {
  refuseOrphans(directory);
  const ledger = new Ledger(directory, 'write');
  closeToOthers(directory);
  return ledger;
}

/** Before anything is made: a collection that begins with a mistake would be one all the same. */
function refuseMistakes(options: EngineOptions, seeds: readonly string[]): void {
  const { scope, domains, bodyBytes, order, focus, decider } = options;
  if (order === 'focused' && !focus?.length && decider === undefined) {
    throw new SkeinError(
      'bad-option',
      'The order focused needs words to look for.',
      'Give them with --focus, or a --decider that says what links promise.',
    );
  }
  parseScope(scope ?? []);
  refuseLeftOut(domains ?? new Map(), seeds);
  if (bodyBytes !== undefined && !(bodyBytes >= 1))
    throw new SkeinError('bad-option', 'A body-limit of nothing would store nothing.', 'Write it as 500kB or 16MB.');
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

interface FarParts {
  readonly home: Home;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly contact: string | undefined;
  readonly absence: number | undefined;
  readonly tools: ThreadTools;
}

/** Loaded by those who need it: what speaks to other machines is a sixth of what home consists of. */
async function makeOutposts(
  { home, ledger, clock, contact, absence, tools }: FarParts,
  options: EngineOptions,
): Promise<Outposts> {
  const { Outposts } = await import('../home/machines/outposts.ts');
  const { data, decider, audit = usual.audit, say = () => {} } = options;
  return new Outposts(home, {
    directory: data,
    software: version,
    ...tools,
    contact,
    agentToken: AGENT_TOKEN,
    clock,
    say,
    auditShare: audit,
    crossed: (line: LineSums) => ledger.account.addLine(clock.now(), line),
    ...(decider && { decider: { digest: digestOf(decider), bytes: decider } }),
    ...(absence !== undefined && { lease: absence }),
  });
}

/** As errands name code. */
const digestOf = (code: Uint8Array): string => hash('sha256', code);

interface ErrandOut {
  readonly errand: Errand;
  readonly outpost: string;
  readonly issued: number;
  readonly sequence: number;
}

/** Errands that outposts of an earlier run may still be at; those that nobody can come back with are dropped. */
function errandsOut(ledger: Ledger, { listen, outposts = [] }: EngineOptions): ErrandOut[] {
  const out: ErrandOut[] = [];
  for (const { id, outpost, bytes, issued, sequence } of ledger.errands.all()) {
    const reachable = listen !== undefined || outposts.some(({ url }) => url === outpost);
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
  options: EngineOptions & Bounds,
  seeds: readonly string[],
  ledger: Ledger,
  mode: NonNullable<Extras['mode']>,
): FrontierOptions {
  const {
    pace = usual.pace,
    connections = usual.connections,
    bodyBytes = usual.bodyBytes,
    images: wanted = usual.images,
  } = options;
  const { domains, decider } = options;
  const hosts = [...new Set(homesOf(ledger, seeds).map(originOf))].sort();
  const parsed = parseScope(options.scope);
  const detector = rememberedDetector(ledger, options.detector);
  // A code is made of an image's pixels: who compares codes needs the images.
  const images = wanted === 'watch' && usesImageCodes(detector) ? 'store' : wanted;
  const scope = { ...parsed, focus: options.focus, images: images === 'store', keep: { ...keepAll, ...options.keep } };
  return {
    mode: mode === 'crawl' ? 'explore' : 'refresh',
    order: options.order,
    pvalue: options.pvalue,
    images,
    scope,
    outside: outsideOf(ledger, scope, seeds),
    bounds: JSON.stringify([parsed, parsed.domains.length > 0 || hosts, [...domains], excludedIn(ledger)]),
    domains,
    maxPages: options.maxPages ?? Number.POSITIVE_INFINITY,
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

/** The detector that was chosen now, else the one chosen last. In a transaction. */
function rememberedDetector(ledger: Ledger, given: string | undefined): string {
  if (given !== undefined) ledger.set('detector', given);
  return given ?? ledger.setting<string>('detector') ?? 'content';
}

function lastEnd(ledger: Ledger): { segment: number; length: number } {
  const last = ledger.segments().at(-1);
  return last ? { segment: last.id, length: last.length } : { segment: 0, length: 0 };
}
