/** `skein refresh` and `skein watch`: look again at what is due, within a budget; once, or until stopped. */
import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.ts';
import { currentAim } from '../../engine/budget.ts';
import type { Engine } from '../../engine/engine.ts';
import {
  changeBudget,
  type FreshOptions,
  type FreshSummary,
  keepFresh as keepFreshBy,
  type Opener,
  settledAfter,
} from '../../engine/keep-fresh.ts';
import { requireCollection } from '../../engine/open-ledger.ts';
import type { Extras } from '../../engine/options.ts';
import { type ComingLook, comingLooks } from '../../engine/timetable.ts';
import type { Fresh } from '../../frontier/schedule/freshness-forecast.ts';
import type { Tally } from '../../home/answers/changes.ts';
import type { ControlParts } from '../../home/control.ts';
import { parseThresholds } from '../../revisit/pmcs.ts';
import { parseBudget } from '../options/budget.ts';
import { engineOptions, isClustered, joinCluster } from '../options/engine-options.ts';
import { configuredAs, declare, fetchOptions, type Values, values } from '../options/options.ts';
import { printJson } from '../print/json.ts';
import { freshnessLine, LiveLine } from '../print/live.ts';
import { printSummary } from '../print/summary.ts';
import { fold, harmless, moment, plural, size, table } from '../print/terminal.ts';
import { type Attended, attend, endWorkbench } from '../services.ts';
import { INTERRUPTED, stopOnSignals } from '../signals.ts';

const names = [
  'budget',
  'every',
  'freshness',
  'policy',
  'estimator',
  'secondLook',
  'thresholds',
  'notices',
  'public',
  ...(['engine', 'peer', 'capacity'] as const),
  ...fetchOptions,
] as const;
/** What is one for all machines of a cluster, and remembered. */
const shared = ['budget', 'freshness', 'policy', 'estimator', 'thresholds', 'archive'] as const;

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
    .option('--next [n]', 'only list the next checks, also of a running watch (default 20)')
    .addHelpText(
      'after',
      `
Examples:
  skein watch --budget 200MB
  skein watch --every "example.org/news 5m" \\
    --every "*/prices/* 1h mo-fr 08:00-18:00 200/d"
  skein watch --next`,
    );
  declare(command, names).action((given: Record<string, unknown>) =>
    given['next'] === undefined ? run('watch', given) : tellNext(given),
  );
}

/** Without looking at anything. */
async function tellNext(given: Record<string, unknown>): Promise<void> {
  const { data, every } = await values(given, ['data', 'every']);
  const most = given['next'] === true ? NEXT : Number(given['next']);
  if (!(most >= 1)) throw new SkeinError('bad-option', `--next cannot be "${given['next']}".`, 'Give a number.');
  requireCollection(data);
  const coming = comingLooks(data, most, every && timesOf(every));
  if (given['json']) for (const { due, ...look } of coming) printJson({ ...look, due: new Date(due).toISOString() });
  else printNext(coming);
}

/** Looks that are told. */
const NEXT = 20;
const NEXT_AT_START = 3;

function printNext(coming: readonly ComingLook[]): void {
  const cells = coming.map(({ due, url, rule }) => [moment(due), harmless(url), rule]);
  console.log(
    cells.length === 0 ? 'Nothing is scheduled yet. Run "skein crawl" first.' : table(['next', 'url', 'by'], cells),
  );
}

type FreshKind = 'refresh' | 'watch';
type FreshValues = Pick<Values, (typeof names)[number]>;

async function run(kind: FreshKind, given: Record<string, unknown>): Promise<void> {
  const alone = oneAim(await values(given, names), given);
  if (!isClustered(alone)) requireCollection(alone.data);
  // Rules bring a parser and selectors along, which a run without them does not load.
  if ((await configuredAs(given, 'notify')) !== undefined)
    await (await import('../options/notify-rules.ts')).keepConfiguredRules(given, alone.data);
  const { chosen, open } = isClustered(alone) ? await together(alone) : { chosen: alone, open: undefined };
  const json = given['json'] === true;
  let interrupted = () => false;
  let attended: Attended | undefined;
  const summary = await keepFresh(kind, chosen, { open }, async opened => {
    attended = await attend(opened, {
      ...{ data: chosen.data, keep: chosen.keep, workbench: chosen.workbench, command: kind },
      settled: settledAfter(kind, chosen.secondLook),
      ...(kind === 'watch' && { budget: budgetOf(opened) }),
    });
    if (kind === 'watch' && !json) {
      for (const { due, url, rule } of comingLooks(chosen.data, NEXT_AT_START))
        console.error(`Next: ${moment(Math.max(due, Date.now()))} ${harmless(url)} (${rule})`);
    }
    const live = new LiveLine(opened, json, freshnessLine());
    interrupted = stopOnSignals(() => opened.home.stop());
    return () => {
      live.end();
      return attended!.leave();
    };
  });
  const shown = { ...summary, interrupted: interrupted() };
  // A watch has no end of its own: to stop it is to end it.
  if (shown.interrupted && kind === 'refresh') process.exitCode = INTERRUPTED;
  if (json) printJson(shown);
  else print(shown, chosen.data);
  await endWorkbench(attended!, shown.interrupted);
}

/** One of several machines. */
async function together(chosen: FreshValues): Promise<{ readonly chosen: FreshValues; readonly open: Opener }> {
  const { peer, values: agreed } = await joinCluster(chosen, [], shared);
  // How many pages a crawl may fetch says nothing of a round.
  return { chosen: { ...agreed, maxPages: chosen.maxPages }, open: (options, extras) => peer.open(options, extras) };
}

/** As the engine's, from what the options say. */
export function keepFresh(
  kind: FreshKind,
  chosen: FreshValues,
  extras: Extras & { readonly open?: Opener | undefined } = {},
  begin?: (opened: Engine) => Promise<() => Promise<void>>,
): Promise<FreshSummary> {
  return keepFreshBy(kind, freshOptions(chosen), extras, begin);
}

/** A mistake in it opens nothing. */
function freshOptions(chosen: FreshValues): FreshOptions {
  const { budget, every, freshness, policy, estimator, thresholds, secondLook, notices, public: address } = chosen;
  return {
    ...engineOptions(chosen),
    ...{ freshness, policy, estimator, secondLook, notices: notices !== 'off', public: address },
    ...(budget !== undefined && { budget: parseBudget(budget) }),
    ...(every !== undefined && { every: timesOf(every) }),
    ...(thresholds !== undefined && { thresholds: parseThresholds(thresholds) }),
  };
}

function timesOf(every: readonly string[]): readonly string[] {
  return every.length === 1 && every[0] === 'none' ? [] : every;
}

/** A budget or a freshness: one follows from the other. What stands on the command line wins over the config file. */
function oneAim(chosen: FreshValues, given: Record<string, unknown>): FreshValues {
  if (chosen.budget === undefined || chosen.freshness === undefined) return chosen;
  if ((given['budget'] === undefined) === (given['freshness'] === undefined)) {
    throw new SkeinError('bad-option', '--budget and --freshness cannot be used together.', 'Give one of the two.');
  }
  return { ...chosen, ...(given['budget'] === undefined ? { budget: undefined } : { freshness: undefined }) };
}

/** The budget as it can be seen and changed while a watch goes on. */
function budgetOf(engine: Engine): ControlParts['budget'] & object {
  const { pool } = engine;
  return {
    current() {
      const { share, bytes, freshness } = currentAim(pool);
      if (bytes !== undefined) return size(bytes);
      return freshness === undefined
        ? `${Number(((share ?? 0.1) * 100).toPrecision(3))}%`
        : `${freshness * 100}% fresh`;
    },
    change: amount => changeBudget(engine, parseBudget(amount)),
  };
}

function print(summary: FreshSummary, directory: string): void {
  printSummary(summary, directory, 'Nothing was due.');
  const { avoided, left, since, visitsPerDay, aside, sitemaps } = summary;
  if (since !== undefined) console.log(`\nContinued the round of ${moment(since)}, which was interrupted.`);
  const waits = left > 0 ? ` ${plural(left, 'due page waits', 'due pages wait')} for the next budget.` : '';
  console.log(`\n${fold(`${newsInWords(summary)} Avoided ${size(avoided)} of transfer or storage.${waits}`)}`);
  console.log(fold(freshnessInWords(summary.freshness)));
  if (aside + sitemaps > 0) {
    const looks = [
      ...(aside > 0 ? [`${plural(aside, 'check')} of dead links, redirects and duplicate addresses`] : []),
      ...(sitemaps > 0 ? [plural(sitemaps, 'sitemap')] : []),
    ];
    console.log(fold(`Outside the page budget: ${looks.join(', ')}.`));
  }
  const asked = plural(Math.round(visitsPerDay), 'visit');
  console.log(fold(`The schedule plans ${asked} a day. See "skein changes" and "skein account".`));
}

/** What `changes` lists, and new pages apart from it. */
function newsInWords({ changed, newlyGone, newlyMoved, back, images, new: first }: Tally): string {
  const also = [
    ...(newlyGone > 0 ? [`${plural(newlyGone, 'page is', 'pages are')} gone`] : []),
    ...(newlyMoved > 0 ? [`${plural(newlyMoved, 'page')} moved`] : []),
    ...(images > 0 ? [`${plural(images, 'image')} changed`] : []),
    ...(back > 0 ? [`${plural(back, 'page')} came back`] : []),
    ...(first > 0 ? [`${plural(first, 'page is', 'pages are')} new`] : []),
  ];
  return `${[`${plural(changed, 'change')} found`, ...also].join(', ')}.`;
}

const percent = (share: number): string => `${(share * 100).toFixed(1)}`;

/** What is shown of a freshness: with how far it may be off, and not at all without evidence. */
function freshnessInWords({ expected, low, high, looks }: Omit<Fresh, 'servers'>): string {
  if (looks === 0) return 'Freshness is unknown until pages have been checked twice.';
  return (
    `About ${percent(expected)}% of the pages are up to date (90% interval: ${percent(low)} to ${percent(high)}%), ` +
    `estimated from ${plural(looks, 'check')}.`
  );
}
