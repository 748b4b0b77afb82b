/** `skein refresh` and `skein watch`: look again at what is due, within a budget; once, or until stopped. */
import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.ts';
import { aimOf } from '../../engine/budget.ts';
import type { Engine } from '../../engine/engine.ts';
import { type FreshOptions, type FreshSummary, keepFresh as keepFreshBy } from '../../engine/keep-fresh.ts';
import { openLedger } from '../../engine/open-ledger.ts';
import type { Extras } from '../../engine/options.ts';
import type { Fresh } from '../../frontier/schedule/freshness-forecast.ts';
import type { Tally } from '../../home/answers/changes.ts';
import type { ControlParts } from '../../home/control.ts';
import { parseThresholds } from '../../revisit/pmcs.ts';
import { parseBudget } from '../options/budget.ts';
import { engineOptions } from '../options/engine-options.ts';
import { declare, fetchOptions, type Values, values } from '../options/options.ts';
import { printJson } from '../print/json.ts';
import { freshnessLine, LiveLine } from '../print/live.ts';
import { printSummary } from '../print/summary.ts';
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
  if (json) printJson(shown);
  else print(shown, chosen.data);
}

/** As the engine's, from what the options say. */
export function keepFresh(
  kind: Kind,
  chosen: Chosen,
  extras: Extras = {},
  begin?: (opened: Engine) => Promise<() => Promise<void>>,
): Promise<FreshSummary> {
  return keepFreshBy(kind, freshOptions(chosen), extras, begin);
}

/** A mistake in it opens nothing. */
function freshOptions(chosen: Chosen): FreshOptions {
  const { budget, freshness, policy, estimator, thresholds, secondLook } = chosen;
  return {
    ...engineOptions(chosen),
    ...{ freshness, policy, estimator, secondLook },
    ...(budget !== undefined && { budget: parseBudget(budget) }),
    ...(thresholds !== undefined && { thresholds: parseThresholds(thresholds) }),
  };
}

/** A budget or a freshness: one follows from the other. What stands on the command line wins over the config file. */
function oneAim(chosen: Chosen, given: Record<string, unknown>): Chosen {
  if (chosen.budget === undefined || chosen.freshness === undefined) return chosen;
  if ((given['budget'] === undefined) === (given['freshness'] === undefined)) {
    throw new SkeinError('bad-option', 'A budget and a freshness cannot both be kept to.', 'Give one of the two.');
  }
  return { ...chosen, ...(given['budget'] === undefined ? { budget: undefined } : { freshness: undefined }) };
}

/** The budget as it can be seen and changed while a watch goes on. */
function budgetOf({ ledger, frontier, clock }: Engine): ControlParts['budget'] & object {
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

function print(summary: FreshSummary, directory: string): void {
  printSummary(summary, directory, 'Nothing was due.');
  const { avoided, left, since, visitsPerDay, aside, sitemaps } = summary;
  if (since !== undefined) console.log(`\nIt went on with the round of ${moment(since)}, which had not ended.`);
  const waits =
    left > 0 ? `; ${plural(left, 'page that is due waits', 'pages that are due wait')} for the next budget` : '';
  console.log(`\n${fold(`${newsInWords(summary)} ${size(avoided)} were not sent or not stored again${waits}.`)}`);
  console.log(fold(freshnessInWords(summary.freshness)));
  if (aside + sitemaps > 0) {
    const looks = `${plural(aside, 'look')} at dead links, redirects and second addresses, ${plural(sitemaps, 'sitemap')}`;
    console.log(fold(`Beside the budget of pages: ${looks}.`));
  }
  const asked = plural(Math.round(visitsPerDay), 'visit');
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
