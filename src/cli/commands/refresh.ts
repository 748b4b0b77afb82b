/** `skein refresh` and `skein watch`: look again at what is due, within a budget; once, or until stopped. */
import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.ts';
import { AGENT_TOKEN } from '../../errand/agent.ts';
import type { Fresh } from '../../frontier/schedule/freshness-forecast.ts';
import type { ScheduleSettings } from '../../frontier/schedule/settings.ts';
import { type Tally, tallyOf } from '../../home/answers/changes.ts';
import type { ControlParts } from '../../home/control.ts';
import { Images } from '../../home/images/images.ts';
import { withInference } from '../../home/judging/infer-round.ts';
import { SecondLooks, withSecondLooks } from '../../home/judging/second-looks.ts';
import { beginRound, endRound } from '../../home/round.ts';
import { refreshSupply, type Supply, watchSupply } from '../../home/supply.ts';
import { parseThresholds } from '../../revisit/pmcs.ts';
import { type Extras, type Opened, openHome } from '../compose.ts';
import { openLedger } from '../open-ledger.ts';
import { roomForNew } from '../options/bounds.ts';
import { aimOf, allowanceOf, parseBudget } from '../options/budget.ts';
import { declare, fetchOptions, type Values, values } from '../options/options.ts';
import { freshnessLine, LiveLine } from '../print/live.ts';
import { printSummary, type Summary, summaryOf } from '../print/summary.ts';
import { fold, moment, plural, size } from '../print/terminal.ts';
import { attend } from '../services.ts';
import { INTERRUPTED, stopOnSignals } from '../signals.ts';

const names = ['budget', 'freshness', 'policy', 'estimator', 'secondLook', 'thresholds', ...fetchOptions] as const;

export function addRefreshCommand(program: Command): void {
  const command = program
    .command('refresh')
    .option('--json', 'print one JSON object as the last line of standard output')
    .addHelpText(
      'after',
      `
A budget is a share of the collection a day (10%), pages a day (500) or bytes a
day (50MB); it is remembered.

Examples:
  skein refresh --budget 10%
  skein refresh --freshness 0.95
  skein refresh --budget 20MB --set policy=uniform`,
    );
  declare(command, names).action((given: Record<string, unknown>) => run('refresh', given));
}

export function addWatchCommand(program: Command): void {
  const command = program
    .command('watch')
    .option('--json', 'print one JSON object as the last line of standard output')
    .addHelpText('after', '\nExample:\n  skein watch --budget 200MB');
  declare(command, names).action((given: Record<string, unknown>) => run('watch', given));
}

type Kind = 'refresh' | 'watch';
type Chosen = Pick<Values, (typeof names)[number]>;

async function run(kind: Kind, given: Record<string, unknown>): Promise<void> {
  const chosen = oneAim(await values(given, names), given);
  openLedger(chosen.data).close(); // there must be something to refresh
  const json = given['json'] === true;
  let interrupted = () => false;
  const summary = await keepFresh(kind, chosen, {}, async opened => {
    const attended = await attend(opened, {
      ...{ data: chosen.data, keep: chosen.keep, workbench: chosen.workbench, command: kind },
      ...(kind === 'watch' && { budget: budgetOf(opened) }),
    });
    const live = new LiveLine(opened, json, freshnessLine());
    interrupted = stopOnSignals(() => opened.home.stop());
    return () => {
      live.end();
      return attended.leave();
    };
  });
  const shown = { ...summary, interrupted: interrupted() };
  // A watch has no end of its own: to stop it is to end it.
  if (shown.interrupted && kind === 'refresh') process.exitCode = INTERRUPTED;
  if (json) console.log(JSON.stringify(shown));
  else print(shown, chosen.data);
}

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

/** Opens the collection, refreshes it and closes it. `begin` is told when it is open; what it returns is called last. */
export async function keepFresh(
  kind: Kind,
  chosen: Chosen,
  extras: Extras,
  begin: (opened: Opened) => Promise<() => Promise<void>> = async () => async () => {},
): Promise<FreshSummary> {
  if (chosen.budget !== undefined) parseBudget(chosen.budget); // a mistake in it must open nothing
  const opened = await openHome(chosen, [], { ...extras, mode: 'refresh', schedule: settingsOf(chosen) });
  const { home, ledger, frontier, clock } = opened;
  const { schedule } = frontier;
  schedule.continuous = kind === 'watch';
  aim(opened, chosen);
  const end = await begin(opened);
  const spent = () => home.progress.bytesDown + home.progress.bytesUp;
  const allowance = () => allowanceOf(ledger, schedule.settings, schedule.balance);
  const started = clock.now();
  const images = new Images({ ...opened, agentToken: AGENT_TOKEN });
  const parts = { ...opened, images, newPages: roomForNew(ledger) };
  const first = ledger.visits.last + 1;
  const round = kind === 'refresh' ? beginRound(ledger, started) : undefined;
  try {
    const plain = round ? refreshSupply(parts, round, allowance(), spent) : watchSupply(parts, allowance, spent);
    const supply = withInference(looking(plain, kind, opened, chosen.secondLook), opened, kind);
    await opened.ready();
    await home.run(supply);
    ledger.begin();
    if (!round) ledger.set('refreshed', clock.now());
    else if (!home.stopped) endRound(ledger);
    schedule.noteFreshness(clock.now());
    ledger.commit();
    return {
      ...summaryOf(opened, false),
      ...tallyOf(ledger, first),
      avoided: ledger.account.avoided,
      left: supply.left,
      since: round && round.begun < started ? round.begun : undefined,
      visitsPerDay: schedule.visitsPerDay,
      freshness: shownFreshness(opened),
    };
  } finally {
    await images.close();
    await end();
    await opened.close();
  }
}

/** Share of the pages that is as last seen, nine times in ten between `low` and `high`. */
interface ShownFreshness extends Omit<Fresh, 'servers'> {
  readonly servers: readonly (Omit<Fresh['servers'][number], 'server'> & { readonly origin: string })[];
}

/** Servers of which the freshness is told one by one. */
const TOLD_SERVERS = 100;

function shownFreshness({ ledger, frontier, clock }: Opened): ShownFreshness {
  const { servers, ...all } = frontier.schedule.freshness(clock.now(), TOLD_SERVERS);
  const named = ({ server, ...rest }: (typeof servers)[number]) => ({
    ...rest,
    origin: ledger.servers.byId(server).origin,
  });
  return { ...all, servers: servers.map(named) };
}

/** Milliseconds between two looks: a round must not wait long; a watch has time, and clocks and caches move by then. */
const SECOND_LOOK = { refresh: 3000, watch: 90_000 } as const;

function looking(supply: Supply, kind: Kind, { home, ...opened }: Opened, seconds: number | undefined): Supply {
  if (seconds === 0) return supply;
  const wait = seconds === undefined ? SECOND_LOOK[kind] : seconds * 1000;
  const { verdicts, progress } = home;
  return withSecondLooks(supply, new SecondLooks({ ...opened, verdicts, progress }, wait), kind);
}

/** A budget or a freshness: one follows from the other. What stands on the command line wins over the config file. */
function oneAim(chosen: Chosen, given: Record<string, unknown>): Chosen {
  if (chosen.budget === undefined || chosen.freshness === undefined) return chosen;
  if ((given['budget'] === undefined) === (given['freshness'] === undefined)) {
    throw new SkeinError('bad-option', 'A budget and a freshness cannot both be kept to.', 'Give one of the two.');
  }
  return { ...chosen, ...(given['budget'] === undefined ? { budget: undefined } : { freshness: undefined }) };
}

function settingsOf(chosen: Chosen): Partial<ScheduleSettings> {
  const { policy, estimator, thresholds } = chosen;
  return {
    ...(policy && { policy }),
    ...(estimator && { estimator }),
    ...(thresholds !== undefined && { thresholds: parseThresholds(thresholds) }),
  };
}

/** The budget as it can be seen and changed while a watch goes on. */
function budgetOf({ ledger, frontier, clock }: Opened): ControlParts['budget'] & object {
  const { schedule } = frontier;
  return {
    current() {
      const { share, bytes, freshness } = schedule.settings;
      if (bytes !== undefined) return size(bytes);
      return freshness === undefined
        ? `${Number(((share ?? 0.1) * 100).toPrecision(3))}%`
        : `${freshness * 100}% fresh`;
    },
    change: amount => schedule.aim(aimOf(ledger, parseBudget(amount)), clock.now()),
  };
}

/** The budget or freshness that was given, else what is remembered, else the default. */
function aim({ ledger, frontier, clock }: Opened, chosen: Chosen): void {
  const { schedule } = frontier;
  const { share, bytes, freshness } = schedule.settings;
  ledger.begin();
  if (chosen.budget !== undefined) schedule.aim(aimOf(ledger, parseBudget(chosen.budget)), clock.now());
  else if (chosen.freshness !== undefined) schedule.aim({ freshness: chosen.freshness }, clock.now());
  else schedule.aim({ share, bytes, freshness }, clock.now());
  ledger.commit();
}

function print(summary: FreshSummary, directory: string): void {
  printSummary(summary, directory, 'Nothing was due.');
  const { avoided, left, since, visitsPerDay, aside, sitemaps } = summary;
  if (since !== undefined) console.log(`\nIt went on with the round of ${moment(since)}, which had not ended.`);
  const waits = left > 0 ? `; ${left.toLocaleString('en')} pages that are due wait for the next budget` : '';
  console.log(`\n${fold(`${newsInWords(summary)} ${size(avoided)} were not sent or not stored again${waits}.`)}`);
  console.log(fold(freshnessInWords(summary.freshness)));
  if (aside + sitemaps > 0) {
    const looks = `${plural(aside, 'look')} at dead links, redirects and second addresses, ${plural(sitemaps, 'sitemap')}`;
    console.log(fold(`Beside the budget of pages: ${looks}.`));
  }
  const asked = `${Math.round(visitsPerDay).toLocaleString('en')} visits`;
  console.log(fold(`The schedule asks for ${asked} a day. See "skein changes" and "skein account".`));
}

/** What `changes` lists, and new pages apart from it. */
function newsInWords({ changed, back, images, new: first }: Tally): string {
  const also = [
    ...(images > 0 ? [`${plural(images, 'image')} changed`] : []),
    ...(back > 0 ? [`${plural(back, 'page')} came back`] : []),
    ...(first > 0 ? [`${plural(first, 'page is', 'pages are')} new`] : []),
  ];
  return `${[`${plural(changed, 'page')} changed`, ...also].join(', ')};`;
}

const percent = (share: number): string => `${(share * 100).toFixed(1)}`;

/** What is shown of a freshness: with how far it may be off, and not at all without evidence. */
export function freshnessInWords({ expected, low, high, looks }: Omit<Fresh, 'servers'>): string {
  if (looks === 0) return 'How fresh the pages are is not known yet: none was looked at twice.';
  return (
    `${percent(expected)}% of the pages are expected to be as last seen (nine times in ten ${percent(low)} to ` +
    `${percent(high)}%), by what ${plural(looks, 'look')} found.`
  );
}
