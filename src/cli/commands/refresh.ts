/** `skein refresh` and `skein watch`: look again at what is due, within a budget; once, or until stopped. */
import type { Command } from 'commander';
import type { ScheduleSettings } from '../../frontier/schedule.ts';
import { refreshSupply, watchSupply } from '../../home/supply.ts';
import { allowanceOf, type Budget, parseBudget, shareOf } from '../budget.ts';
import { type Opened, openHome, openLedger } from '../compose.ts';
import { LiveLine } from '../live.ts';
import { declare, type OptionName, type Values, values } from '../options.ts';
import { stopOnSignals } from '../signals.ts';
import { printSummary, summaryOf } from '../summary.ts';

const names = [
  'data',
  'budget',
  'freshness',
  'policy',
  'detector',
  'pace',
  'connections',
  'threads',
  'allowPrivate',
  'maxPages',
  'depth',
  'perServer',
  'bodyLimit',
  'scope',
  'keep',
  'order',
  'focus',
  'domains',
  'agent',
] as const satisfies readonly OptionName[];

export function addRefreshCommand(program: Command): void {
  const command = program
    .command('refresh')
    .description('one round: look again at what is due, within the budget')
    .option('--json', 'print one JSON object as the last line of standard output')
    .addHelpText(
      'after',
      `
A budget is a share of the collection a day (10%), pages a day (500) or bytes a day (50MB); it is remembered.

Examples:
  skein refresh --budget 10%
  skein refresh --freshness 0.95
  skein refresh --policy uniform --budget 20MB`,
    );
  declare(command, names).action((given: Record<string, unknown>) => run('refresh', given));
}

export function addWatchCommand(program: Command): void {
  const command = program
    .command('watch')
    .description('keep the collection fresh until stopped, within the budget')
    .option('--json', 'print one JSON object as the last line of standard output')
    .addHelpText('after', '\nExample:\n  skein watch --budget 200MB');
  declare(command, names).action((given: Record<string, unknown>) => run('watch', given));
}

async function run(kind: 'refresh' | 'watch', given: Record<string, unknown>): Promise<void> {
  const chosen = await values(given, names);
  openLedger(chosen.data).close(); // there must be something to refresh
  const opened = openHome(chosen, [], { mode: 'refresh', schedule: settingsOf(chosen) });
  const budget = prepare(opened, chosen);
  const json = given['json'] === true;
  const live = new LiveLine(opened, json);
  const interrupted = stopOnSignals(() => opened.home.stop());
  const { progress } = opened.home;
  const spent = () => progress.bytesDown + progress.bytesUp;
  const allowance = () => allowanceOf(opened.ledger, budget);
  try {
    await opened.home.run(
      kind === 'refresh' ? refreshSupply(opened, allowance(), spent) : watchSupply(opened, allowance, spent),
    );
    opened.ledger.begin();
    opened.ledger.set('refreshed', opened.clock.now());
    opened.frontier.schedule.save();
    opened.ledger.commit();
  } finally {
    live.end();
    await opened.close();
  }
  const { balance } = opened.frontier.schedule;
  const summary = { ...summaryOf(opened, interrupted()), expectedFreshness: balance.freshness };
  if (json) console.log(JSON.stringify(summary));
  else printSummary(summary, chosen.data);
}

type Chosen = Pick<Values, (typeof names)[number]>;

function settingsOf(chosen: Chosen): Partial<ScheduleSettings> {
  return {
    ...(chosen.policy && { policy: chosen.policy }),
    ...(chosen.freshness !== undefined && { freshness: chosen.freshness, share: undefined }),
    ...(chosen.budget !== undefined && { freshness: undefined }),
  };
}

/** Makes the schedule fit the budget; due times are computed anew when it changed. */
function prepare({ ledger, frontier }: Opened, chosen: Chosen): Budget {
  const budget =
    chosen.budget === undefined ? (ledger.setting<Budget>('budget') ?? { share: 0.1 }) : parseBudget(chosen.budget);
  ledger.begin();
  ledger.set('budget', budget);
  frontier.schedule.aim(chosen.freshness === undefined ? shareOf(ledger, budget) : undefined);
  ledger.commit();
  return budget;
}
