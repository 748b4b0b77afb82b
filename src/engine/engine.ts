/**
 * Builds a home from plain values: ledger, archive, frontier, threads. Nothing else constructs these. It prints nothing,
 * ends no process, and keeps nothing outside of what it returns, so that one process can have several at once.
 */
import { type Clock, clockOf } from '../base/clock.ts';
import { SkeinError } from '../base/errors.ts';
import { version } from '../base/version.ts';
import { makeSlots } from '../crawler/pace/address-slots.ts';
import { AGENT_TOKEN, userAgent } from '../errand/agent.ts';
import { parseScope } from '../errand/scope/scope.ts';
import type { Frontier } from '../frontier/frontier.ts';
import { domainOf, leavesOut } from '../frontier/lanes/director.ts';
import { Home } from '../home/home.ts';
import type { Outposts } from '../home/machines/outposts.ts';
import type { SteerOrder } from '../home/orders.ts';
import { Pool } from '../home/partitions/pool.ts';
import type { Round } from '../home/round.ts';
import type { Purse, Supply } from '../home/supply.ts';
import type { LineSums } from '../ledger/account.ts';
import type { Settings } from '../ledger/collection/settings.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { tryDecider } from '../outpost/cages/deciders.ts';
import type { OutpostOptions } from '../outpost/workers/tools.ts';
import { depthOf, pruned } from '../transfer/ssh/machine-tree.ts';
import { dismissEarly } from '../transfer/thread.ts';
import type { Bounds } from './bounds.ts';
import type { Budget } from './budget.ts';
import { HouseChores } from './house/chores.ts';
import { copyElsewhere, prepareOffsite } from './offsite.ts';
import { type EngineOptions, type Extras, engineDefaults as usual } from './options.ts';
import { adoptAll, digestOf, OpenPartitions } from './partitions.ts';
import { withHooks } from './threads/hooks.ts';
import { isFar, startThread, type ThreadTools, threadPlan, threadsOf } from './threads/threads.ts';

/** How long a crawl waits for a busy server or a retry when all else is done. */
export const PATIENCE = 60_000;

export interface Engine {
  readonly home: Home;
  /** The partitions that home has, as one. */
  readonly pool: Pool;
  /** Settings of all partitions. */
  readonly settings: Settings;
  /** Opens and closes partitions while home runs: for those that come from another machine, or go there. */
  readonly collection: OpenPartitions;
  /** Of the first partition that was opened. */
  readonly ledger: Ledger;
  readonly frontier: Frontier;
  readonly clock: Clock;
  readonly bounds: Bounds;
  /** Number of new seeds. */
  readonly added: number;
  /** Options that the threads of this run start with. */
  readonly threadData: OutpostOptions;
  /** The machines beyond this one; undefined = none were asked for. */
  readonly outposts: Outposts | undefined;
  /** In a cluster: what its machines agree on. */
  readonly cluster?: ClusterTerms | undefined;
  /** Reaches the machines; throws when one of them cannot be used. */
  ready(): Promise<void>;
  /** Runs home until the supply is empty or home is stopped. */
  run(supply: Supply): Promise<void>;
  close(): Promise<void>;
}

export interface ClusterTerms {
  /** Of the round that all are in; undefined until every partition is held by somebody. */
  readonly terms: () => (Round & { readonly live: number }) | undefined;
  /** What is spent by all together: in a round, and a day. */
  readonly round: Purse;
  readonly daily: Purse;
  /** Ordered while they work, instead of the one that they began with. */
  budget?: Budget | undefined;
  /** What this machine holds is its own, as it knows. */
  readonly mayAsk: () => boolean;
  /** Orders that hold on all machines. */
  readonly steering: {
    share(order: SteerOrder): Promise<void>;
    /** An order about a page goes to the machine that has it; returns what that one says. Undefined = it is for this one. */
    forward(order: SteerOrder): Promise<string | undefined>;
    /** `apply` returns what is different now, or throws why the order makes no sense there. */
    attach(apply: (order: SteerOrder) => Promise<string>): void;
  };
}

export async function openEngine(
  given: EngineOptions,
  seeds: readonly string[] = [],
  extras: Extras = {},
): Promise<Engine> {
  const options = withHooks(given);
  const { signal } = options;
  signal?.throwIfAborted();
  refuseMistakes(options, seeds);
  const threads = threadsOf(options);
  const clock = clockOf(extras);
  await prepareOffsite(options, extras);
  const collection = new OpenPartitions({ options, extras, clock, seeds });
  const { settings, bounds, contact } = collection;
  const added = collection.seed(seeds);
  collection.commit();
  const copying = await copyElsewhere(collection, options, extras);
  const tools = { userAgent: userAgent(version, contact), slots: makeSlots() };
  const plan = threadPlan(options, extras, tools);
  const levels = options.levels ?? Math.max(1, depthOf(options.outposts ?? []));
  const spare = (home: Home) => startThread('trial', home, plan, 0);
  const home = new Home({ clock, levels, spare });
  adoptAll(home, collection.partitions);
  const { ledger, frontier } = collection.partitions[0]!;
  const outposts = isFar(options)
    ? await makeOutposts({ home, ledger, clock, contact, absence: extras.absence, tools }, options)
    : undefined;
  for (let i = 1; i <= threads; i++) home.dispatch.join(startThread(`thread-${i}`, home, plan));
  dismissEarly();
  const stop = () => home.stop();
  signal?.addEventListener('abort', stop);
  if (signal?.aborted) stop();
  // Partitions that move between machines keep house where they stop.
  const chores = extras.mode === 'watch' && !extras.shared ? new HouseChores({ home, collection, clock }) : undefined;
  return {
    ...{ home, pool: new Pool(home.partitions), settings, collection, ledger, frontier, clock },
    ...{ bounds, added, outposts, threadData: plan.data },
    async ready() {
      if (options.decider) await tryDecider(options.decider, { own: !options.cagedHooks });
      await outposts?.open(pruned(options.outposts ?? [], levels), options.listen);
    },
    run: supply => home.run(outposts ? untilChecked(supply, outposts) : supply, chores),
    async close() {
      signal?.removeEventListener('abort', stop);
      try {
        await outposts?.close();
        await home.dispatch.posts.close();
        await collection.keepHouse();
      } finally {
        await collection.closeAll();
        await copying?.end();
      }
    },
  };
}

/** A run does not end while home still checks pages from other machines. */
function untilChecked(supply: Supply, outposts: Outposts): Supply {
  return {
    fill: () => supply.fill(),
    worthWaiting: () => supply.worthWaiting() || outposts.doubts(),
    get left() {
      return supply.left;
    },
  };
}

/** Checks options before anything is created: a mistake must not leave a new collection behind. */
export function refuseMistakes(options: EngineOptions, seeds: readonly string[]): void {
  const { scope, domains, bodyBytes, order, focus, decider, hooks } = options;
  if (order === 'focused' && !focus?.length && decider === undefined && hooks === undefined) {
    throw new SkeinError(
      'bad-option',
      'The order "focused" needs keywords.',
      'Give them with --focus, or rate links with --decider or --hooks.',
    );
  }
  parseScope(scope ?? []);
  refuseLeftOut(domains ?? new Map(), seeds);
  if (bodyBytes !== undefined && !(bodyBytes >= 1))
    throw new SkeinError('bad-option', 'A body-limit of 0 would store nothing.', 'Write it as 500kB or 16MB.');
}

/** A seed is visited whatever the scope says, but not if the weight of its domain is 0: it would never be fetched. */
function refuseLeftOut(weights: ReadonlyMap<string, number>, seeds: readonly string[]): void {
  const left = seeds.find(url => leavesOut(weights, domainOf(weights, new URL(url).hostname)));
  if (left === undefined) return;
  throw new SkeinError(
    'bad-option',
    `${left} would never be visited: --domains gives its domain the weight 0.`,
    'Remove the seed, or give its domain a weight above 0.',
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

/** Loaded only when needed: the code for other machines is a sixth of home's. */
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
    crossed: (line: LineSums) => ledger.servers.account.addLine(clock.now(), line),
    ...(decider && { decider: { digest: digestOf(decider), bytes: decider } }),
    ...(absence !== undefined && { lease: absence }),
  });
}
