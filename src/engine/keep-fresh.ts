/** Looks again at what is due, within a budget: one round of it, or until it is stopped. */
import { AGENT_TOKEN } from '../errand/agent.ts';
import type { Fresh } from '../frontier/schedule/freshness-forecast.ts';
import type { ScheduleSettings } from '../frontier/schedule/settings.ts';
import { type Tally, tallyOf } from '../home/answers/changes.ts';
import { Images } from '../home/images/images.ts';
import { withInference } from '../home/judging/infer-round.ts';
import { SecondLooks, withSecondLooks } from '../home/judging/second-looks.ts';
import { beginRound, endRound } from '../home/round.ts';
import { refreshSupply, type Supply, watchSupply } from '../home/supply.ts';
import type { Thresholds } from '../revisit/pmcs.ts';
import { roomForNew } from './bounds.ts';
import { aimOf, allowanceOf, type Budget } from './budget.ts';
import { type Engine, openEngine } from './engine.ts';
import type { EngineOptions, Extras } from './options.ts';
import { type Summary, summaryOf } from './summary.ts';

type Kind = 'refresh' | 'watch';

export interface FreshSummary extends Summary, Tally {
  /** Bytes that were not spent because nothing was asked for or sent. */
  readonly avoided: number;
  /** Due, but beyond the budget of this round. */
  readonly left: number;
  /** It went on with the round that an earlier run began then and did not end; milliseconds since 1970. */
  readonly since: number | undefined;
  /** That the schedule wants now. */
  readonly visitsPerDay: number;
  readonly freshness: ShownFreshness;
}

export interface FreshOptions extends EngineOptions {
  /** What may be looked at again a day; remembered, and 10% of the collection where nothing is. */
  readonly budget?: Budget | undefined;
  /** Share of the collection to keep fresh with the smallest budget that does; instead of a budget. */
  readonly freshness?: number | undefined;
  readonly policy?: string | undefined;
  readonly estimator?: string | undefined;
  readonly thresholds?: Thresholds | undefined;
  /** Seconds until a second look at what may be noise; 0 = none. */
  readonly secondLook?: number | undefined;
}

/** Opens the collection, refreshes it and closes it. `begin` is told when it is open; what it returns is called last. */
export async function keepFresh(
  kind: Kind,
  options: FreshOptions,
  extras: Extras = {},
  begin: (engine: Engine) => Promise<() => Promise<void>> = async () => async () => {},
): Promise<FreshSummary> {
  const engine = await openEngine(options, [], { ...extras, mode: kind, schedule: settingsOf(options) });
  const { home, ledger, frontier, clock } = engine;
  const { schedule } = frontier;
  aim(engine, options);
  const end = await begin(engine);
  const spent = () => home.progress.bytesDown + home.progress.bytesUp;
  const allowance = () => allowanceOf(ledger, schedule.settings, schedule.balance);
  const started = clock.now();
  const images = new Images({ ...engine, agentToken: AGENT_TOKEN });
  const parts = { ...engine, images, newPages: roomForNew(ledger) };
  const first = ledger.visits.last + 1;
  const round = kind === 'refresh' ? beginRound(ledger, started) : undefined;
  try {
    const plain = round ? refreshSupply(parts, round, allowance(), spent) : watchSupply(parts, allowance, spent);
    const supply = withInference(looking(plain, kind, engine, options.secondLook), engine, kind);
    await engine.ready();
    await engine.run(supply);
    ledger.begin();
    if (!round) ledger.set('refreshed', clock.now());
    else if (!home.stopped) endRound(ledger);
    schedule.noteFreshness(clock.now());
    ledger.commit();
    return {
      ...summaryOf(engine, false),
      ...tallyOf(ledger, first),
      avoided: ledger.account.avoided,
      left: supply.left,
      since: round && round.begun < started ? round.begun : undefined,
      visitsPerDay: schedule.visitsPerDay,
      freshness: shownFreshness(engine),
    };
  } finally {
    await images.close();
    await end();
    await engine.close();
  }
}

/** Share of the pages that is as last seen, nine times in ten between `low` and `high`. */
interface ShownFreshness extends Omit<Fresh, 'servers'> {
  readonly servers: readonly (Omit<Fresh['servers'][number], 'server'> & { readonly origin: string })[];
}

/** Servers of which the freshness is told one by one. */
const TOLD_SERVERS = 100;

function shownFreshness({ ledger, frontier, clock }: Engine): ShownFreshness {
  const { servers, ...all } = frontier.schedule.freshness(clock.now(), TOLD_SERVERS);
  const named = ({ server, ...rest }: (typeof servers)[number]) => ({
    ...rest,
    origin: ledger.servers.byId(server).origin,
  });
  return { ...all, servers: servers.map(named) };
}

/** Milliseconds between two looks: a round must not wait long; a watch has time, and clocks and caches move by then. */
const SECOND_LOOK = { refresh: 3000, watch: 90_000 } as const;

function looking(supply: Supply, kind: Kind, { home, ...engine }: Engine, seconds: number | undefined): Supply {
  if (seconds === 0) return supply;
  const wait = seconds === undefined ? SECOND_LOOK[kind] : seconds * 1000;
  const { verdicts, progress } = home;
  return withSecondLooks(supply, new SecondLooks({ ...engine, verdicts, progress }, wait), kind);
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
function aim({ ledger, frontier, clock }: Engine, options: FreshOptions): void {
  const { schedule } = frontier;
  const { share, bytes, freshness } = schedule.settings;
  ledger.begin();
  if (options.budget !== undefined) schedule.aim(aimOf(ledger, options.budget), clock.now());
  else if (options.freshness !== undefined) schedule.aim({ freshness: options.freshness }, clock.now());
  else schedule.aim({ share, bytes, freshness }, clock.now());
  ledger.commit();
}
