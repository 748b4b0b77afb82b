/** `skein refresh` and `skein watch`: look again at what is due, within a budget; once, or until stopped. */
import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.ts';
import { AGENT_TOKEN } from '../../errand/agent.ts';
import type { ScheduleSettings } from '../../frontier/schedule-settings.ts';
import type { ControlParts } from '../../home/control.ts';
import { Images } from '../../home/images.ts';
import { beginRound, endRound } from '../../home/round.ts';
import { refreshSupply, watchSupply } from '../../home/supply.ts';
import { parseThresholds } from '../../revisit/pmcs.ts';
import { attend } from '../attend.ts';
import { aimOf, allowanceOf, parseBudget } from '../budget.ts';
import { type Extras, type Opened, openHome } from '../compose.ts';
import { freshnessLine, LiveLine } from '../live.ts';
import { openLedger } from '../look.ts';
import { declare, fetchOptions, type Values, values } from '../options.ts';
import { INTERRUPTED, stopOnSignals } from '../signals.ts';
import { printSummary, type Summary, summaryOf } from '../summary.ts';
import { fold, moment, plural, size } from '../terminal.ts';

const names = ['budget', 'freshness', 'policy', 'estimator', 'thresholds', ...fetchOptions] as const;

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

export interface FreshSummary extends Summary {
  /** Pages that changed, and bytes that were not spent because nothing was asked for or sent. */
  readonly changed: number;
  readonly avoided: number;
  /** Due, but beyond the budget of this round. */
  readonly left: number;
  /** It went on with the round that an earlier run began then and did not end; milliseconds since 1970. */
  readonly since: number | undefined;
  /** That the schedule wants now. */
  readonly visitsPerDay: number;
  readonly expectedFreshness: number;
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
  aim(opened, chosen);
  const end = await begin(opened);
  const spent = () => home.progress.bytesDown + home.progress.bytesUp;
  const allowance = () => allowanceOf(ledger, schedule.settings, schedule.balance);
  const started = clock.now();
  const images = new Images({ ...opened, agentToken: AGENT_TOKEN });
  const parts = { ...opened, images };
  const round = kind === 'refresh' ? beginRound(ledger, started) : undefined;
  try {
    const supply = round ? refreshSupply(parts, round, allowance(), spent) : watchSupply(parts, allowance, spent);
    await opened.ready();
    await home.run(supply);
    ledger.begin();
    if (!round) ledger.set('refreshed', clock.now());
    else if (!home.stopped) endRound(ledger);
    schedule.noteFreshness(clock.now());
    ledger.commit();
    return {
      ...summaryOf(opened, false),
      changed: home.progress.outcomes.fetched,
      avoided: ledger.account.avoided,
      left: supply.left,
      since: round && round.begun < started ? round.begun : undefined,
      visitsPerDay: schedule.visitsPerDay,
      expectedFreshness: schedule.expectedFreshness(clock.now()),
    };
  } finally {
    await images.close();
    await end();
    await opened.close();
  }
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
  const { changed, avoided, left, since, expectedFreshness, visitsPerDay } = summary;
  if (since !== undefined) console.log(`\nIt went on with the round of ${moment(since)}, which had not ended.`);
  const asked = `${Math.round(visitsPerDay).toLocaleString('en')} visits`;
  const told =
    `${plural(changed, 'page')} changed; ${size(avoided)} were not sent or not stored again. ` +
    `${(expectedFreshness * 100).toFixed(1)} % of the collection is expected to be as last seen` +
    `${left > 0 ? `; ${left.toLocaleString('en')} pages that are due wait for the next budget` : ''}.`;
  console.log(`\n${fold(told)}`);
  console.log(fold(`The schedule asks for ${asked} a day. See "skein changes" and "skein account".`));
}
