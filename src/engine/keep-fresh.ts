/** Looks again at what is due, within a budget: one round of it, or until it is stopped. */
import { AGENT_TOKEN } from '../errand/agent.ts';
import type { ScheduleSettings } from '../frontier/schedule/settings.ts';
import { type Tally, tallyOf } from '../home/answers/changes.ts';
import { Images } from '../home/images/images.ts';
import { withInference } from '../home/judging/infer-round.ts';
import { SecondLooks, withSecondLooks } from '../home/judging/second-looks.ts';
import type { Pool, PoolMember, PoolPage } from '../home/partitions/pool.ts';
import { type PoolFreshness, poolFreshness } from '../home/partitions/pool-freshness.ts';
import { RefreshSupply } from '../home/refresh/refresh-supply.ts';
import { WatchSupply } from '../home/refresh/watch-supply.ts';
import { beginRound, endRound, joinRound, type Round } from '../home/round.ts';
import type { Supply } from '../home/supply.ts';
import { type Timetable, withTimetable } from '../home/timetable/timetable.ts';
import type { Thresholds } from '../revisit/pmcs.ts';
import { parseTimed } from '../revisit/timetable.ts';
import { roomForNew } from './bounds.ts';
import { type Aim, aim, aimOf, allowanceOf, allowedBy, type Budget, currentAim, partOf } from './budget.ts';
import { type Engine, openEngine } from './engine.ts';
import { type Notices, openNotices } from './notices.ts';
import type { EngineOptions, Extras } from './options.ts';
import { type Summary, summaryOf } from './summary.ts';
import { timetableOf } from './timetable.ts';

type FreshMode = 'refresh' | 'watch';

export interface FreshSummary extends Summary, Tally {
  /** Bytes that were not spent because nothing was asked for or sent. */
  readonly avoided: number;
  /** Due, but beyond the budget of this round. */
  readonly left: number;
  /** It went on with the round that an earlier run began then and did not end; milliseconds since 1970. */
  readonly since: number | undefined;
  /** That the schedule wants now. */
  readonly visitsPerDay: number;
  readonly freshness: PoolFreshness;
}

export interface FreshOptions extends EngineOptions {
  /** What may be looked at again a day; remembered, and 10% of the collection where nothing is. */
  readonly budget?: Budget | undefined;
  /** Share of the collection to keep fresh with the smallest budget that does; instead of a budget. */
  readonly freshness?: number | undefined;
  readonly policy?: string | undefined;
  readonly estimator?: string | undefined;
  readonly thresholds?: Thresholds | undefined;
  /** False: sites are not asked what has changed. */
  readonly notices?: boolean | undefined;
  /** The address by which hubs reach the public door, as `https://home.example:7790`. */
  readonly public?: string | undefined;
  /** Pages that are looked at by times of their own, as `example.org/prices 5m mo-fr 08:00-18:00 200/d`; remembered; [] lifts it. */
  readonly every?: readonly string[] | undefined;
  /** Seconds until a second look at what may be noise; 0 = none. */
  readonly secondLook?: number | undefined;
}

/** How a collection is opened, where that is not this machine's alone. */
export type Opener = (options: FreshOptions, extras: Extras) => Promise<Engine>;

/** Opens the collection, refreshes it and closes it. `begin` is told when it is open; what it returns is called last. */
export async function keepFresh(
  kind: FreshMode,
  options: FreshOptions,
  { open, ...extras }: Extras & { readonly open?: Opener | undefined } = {},
  begin: (engine: Engine) => Promise<() => Promise<void>> = async () => async () => {},
): Promise<FreshSummary> {
  options.every?.map(parseTimed); // a mistake in it opens nothing
  const opened: Opener = open ?? ((given, more) => openEngine(given, [], more));
  const engine = await opened(options, { ...extras, mode: kind, schedule: settingsOf(options) });
  const { pool, clock } = engine;
  const started = clock.now();
  const timetable = engine.cluster ? undefined : aimHere(engine, options);
  const end = await begin(engine);
  let work: FreshWork | undefined;
  try {
    if (!engine.cluster) work = new FreshWork(kind, engine, options, timetable);
    const supply = work?.supply ?? untilGathered(engine, () => (work = new FreshWork(kind, engine, options)));
    await engine.ready();
    await engine.run(supply);
    work?.timetable?.end();
    const round = work?.round;
    conclude(engine, round !== undefined);
    return {
      ...summaryOf(engine, false),
      full: roomForNew(engine.settings, pool.live) === 0,
      ...(work?.tally() ?? noTally),
      avoided: sumOf(pool, ({ ledger }) => ledger.servers.account.avoided),
      left: supply.left,
      since: round && round.begun < started ? round.begun : undefined,
      visitsPerDay: sumOf(pool, ({ frontier }) => frontier.schedule.visitsPerDay),
      freshness: poolFreshness(pool, clock.now(), TOLD_SERVERS),
    };
  } finally {
    await work?.close();
    await end();
    await engine.close();
  }
}

/** Makes the schedules of all partitions here fit the budget, and then the times that people set, which come before it. */
function aimHere(engine: Engine, options: FreshOptions): Timetable | undefined {
  aim(engine.pool, aimIn(engine, options), engine.clock.now());
  const timetable = timetableOf(engine, options.every);
  engine.collection.commit();
  return timetable;
}

const noTally: Tally = {
  ...{ changed: 0, newlyGone: 0, newlyMoved: 0, back: 0, images: 0, new: 0 },
  ...{ aside: 0, sitemaps: 0 },
};

/** Several machines begin together: when every partition is held by one of them. */
function untilGathered({ cluster }: Engine, begin: () => FreshWork): Supply {
  let work: FreshWork | undefined;
  return {
    fill() {
      if (!work && cluster?.terms()) work = begin();
      work?.supply.fill();
    },
    worthWaiting: () => work?.supply.worthWaiting() ?? true,
    get left() {
      return work?.supply.left ?? 0;
    },
  };
}

/** What is done in a round or a watch, and what is counted on the way. */
class FreshWork {
  readonly supply: Supply;
  readonly round: Round | undefined;
  readonly timetable: Timetable | undefined;
  readonly #engine: Engine;
  readonly #options: FreshOptions;
  readonly #images: Images;
  readonly #notices: Notices;
  /** Of each partition, the first visit that counts; those that come later are added. */
  readonly #first = new Map<number, number>();

  constructor(kind: FreshMode, engine: Engine, options: FreshOptions, made?: Timetable) {
    this.#engine = engine;
    this.#options = options;
    const { home, pool, settings, clock, cluster } = engine;
    const terms = cluster?.terms();
    const timetable = cluster ? aimHere(engine, options) : made;
    const spent = () => home.progress.bytesDown + home.progress.bytesUp;
    this.#images = new Images({ pool, clock, agentToken: AGENT_TOKEN });
    const room = roomForNew(settings, terms?.live ?? pool.live);
    const newPages = terms ? Math.floor(room * partHere(pool, terms.live)) : room;
    const purse = options.freshness === undefined ? cluster?.[kind === 'refresh' ? 'round' : 'daily'] : undefined;
    this.timetable = timetable;
    const timed = timetable && ((page: PoolPage) => timetable.has(page));
    const named = () => this.#notices.named();
    const parts = { pool, clock, images: this.#images, newPages, purse, timed, named };
    for (const { id, ledger } of pool) this.#first.set(id, ledger.visits.last + 1);
    if (terms) joinRound(pool, terms);
    this.round = kind === 'refresh' ? (terms ?? beginRound(pool, clock.now())) : undefined;
    this.#notices = openNotices(engine, options);
    const allowance = () =>
      terms && purse ? allowedBy(cluster?.budget ?? options.budget ?? {}, terms.live) : allowanceOf(pool);
    const plain = this.round
      ? new RefreshSupply(parts, this.round, allowance(), spent)
      : new WatchSupply(parts, allowance, spent);
    const looks = looking(withTimetable(plain, timetable), kind, engine, options.secondLook);
    const looked = withInference(looks, engine, kind);
    this.supply = this.#welcoming(this.#notices.beside(looked, kind));
  }

  /** Partitions that come from another machine take part from then on. */
  #welcoming(supply: Supply): Supply {
    const { pool, cluster } = this.#engine;
    if (!cluster) return supply;
    return {
      fill: () => {
        const fresh = [...pool].filter(({ id }) => !this.#first.has(id));
        for (const { id, ledger } of fresh) this.#first.set(id, ledger.visits.last + 1);
        if (fresh.length > 0) {
          aimHere(this.#engine, this.#options);
          if (this.round) joinRound(fresh, this.round);
        }
        supply.fill();
      },
      worthWaiting: () => supply.worthWaiting(),
      get left() {
        return supply.left;
      },
    };
  }

  tally(): Tally {
    const of = ({ id, ledger }: PoolMember) => tallyOf(ledger, this.#first.get(id) ?? ledger.visits.last + 1);
    return [...this.#engine.pool].map(of).reduce(added, noTally);
  }

  async close(): Promise<void> {
    await this.#images.close();
    await this.#notices.close();
  }
}

/** Of all pages of a cluster that can be kept fresh, the part that is here. */
function partHere(pool: Pool, live: number): number {
  return Math.min(1, pool.live / Math.max(1, live));
}

/** Writes down that the round came to its end, and how fresh the collection is. */
function conclude({ home, pool, clock }: Engine, round: boolean): void {
  if (round && !home.stopped) endRound(pool);
  for (const { ledger, frontier } of pool) {
    ledger.begin();
    if (!round) ledger.settings.set('refreshed', clock.now());
    frontier.schedule.noteFreshness(clock.now());
    ledger.commit();
  }
}

function added(all: Tally, one: Tally): Tally {
  return Object.fromEntries(
    Object.entries(all).map(([name, n]) => [name, n + one[name as keyof Tally]]),
  ) as unknown as Tally;
}

function sumOf(pool: Pool, count: (member: PoolMember) => number): number {
  return [...pool].reduce((sum, member) => sum + count(member), 0);
}

/** Servers of which the freshness is told one by one. */
const TOLD_SERVERS = 100;

const MINUTE = 60_000;
/** Milliseconds between two looks: a round must not wait long; a watch has time, and clocks and caches move by then. */
const SECOND_LOOK = { refresh: 3000, watch: 90_000 } as const;

const secondLookOf = (kind: FreshMode, seconds: number | undefined) =>
  seconds === undefined ? SECOND_LOOK[kind] : seconds * 1000;

/** Milliseconds for the second look itself, when its time has come. */
const LOOKING = 20_000;

/** Milliseconds until it is known what of a visit is noise: a round looks at its end, a watch once what is in doubt was gathered. */
export function settledAfter(kind: FreshMode, seconds: number | undefined): number {
  const wait = secondLookOf(kind, seconds);
  if (wait === 0) return 0;
  return kind === 'refresh' ? Number.POSITIVE_INFINITY : Math.max(wait, MINUTE) + LOOKING;
}

function looking(supply: Supply, kind: FreshMode, { home, clock }: Engine, seconds: number | undefined): Supply {
  const wait = secondLookOf(kind, seconds);
  if (wait === 0) return supply;
  const { partitions, progress } = home;
  return withSecondLooks(supply, new SecondLooks({ partitions, progress, clock }, wait), kind);
}

function settingsOf(options: FreshOptions): Partial<ScheduleSettings> {
  const { policy, estimator, thresholds } = options;
  return {
    ...(policy && { policy }),
    ...(estimator && { estimator }),
    ...(thresholds && { thresholds }),
  };
}

/** The budget or freshness that was given, else what is remembered, else the default. */
function aimIn(
  { pool, cluster }: Engine,
  { freshness, budget: given }: Pick<FreshOptions, 'budget' | 'freshness'>,
): Aim {
  const budget = cluster?.budget ?? given;
  const live = cluster?.terms()?.live;
  if (budget !== undefined) return aimOf(pool, live === undefined ? budget : partOf(budget, partHere(pool, live)));
  return freshness === undefined ? currentAim(pool) : { freshness };
}

/** A watch has another budget from now on; of several machines it is all of theirs together. */
export function changeBudget(engine: Engine, budget: Budget): void {
  const { pool, clock, cluster } = engine;
  if (cluster) cluster.budget = budget;
  aim(pool, aimIn(engine, { budget }), clock.now());
}
