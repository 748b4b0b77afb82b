/**
 * `skein account`: bytes by cause, spent and avoided, with the freshness that they bought, per day and server; what made
 * pages count as changed; and the load on home's own line beside what outposts spent at servers.
 */

import type { Command } from 'commander';
import { DAY } from '../../base/clock.ts';
import { openLedger } from '../../engine/open-ledger.ts';
import { NOT_DUE, notDue } from '../../home/answers/savings.ts';
import { type Sums, summed } from '../../ledger/account.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Decided } from '../../ledger/looks.ts';
import { declare, values } from '../options/options.ts';
import { parseWhen } from '../options/when.ts';
import { printJson } from '../print/json.ts';
import { harmless, paint, size, table } from '../print/terminal.ts';
import { type HomeLine, lineOf, printLine, printStages } from './account-line.ts';
import { modelOf, printModel } from './account-model.ts';

export function addAccountCommand(program: Command): void {
  const command = program
    .command('account')
    .option('--since <when>', '30d or a date (default: from the beginning)')
    .option('--model', "the papers' load models, with the figures of this collection")
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `
Avoided is held against a crawler that fetches and stores every page once a day:
"not due" are pages that were not asked for, "not-modified" answers without a
body, "same" bodies that came, held nothing new and were not stored.

Example:
  skein account --since 7d`,
    );
  declare(command, ['data']).action(async (given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    const since = given['since'] === undefined ? 0 : parseWhen(String(given['since']), Date.now());
    const ledger = openLedger(data);
    const model = given['model'] === true;
    // At once: a question by itself takes and gives back a lock, and there are tens of thousands.
    const account = ledger.atOnce(() => (model ? modelOf(ledger) : accountOf(ledger, since)));
    ledger.close();
    if (given['json']) printJson(account);
    else if ('pmcs' in account) printModel(account);
    else print(account);
  });
}

export interface AccountReport {
  readonly causes: readonly (Sums & { readonly cause: string })[];
  readonly days: readonly (Sums & {
    readonly day: string;
    readonly changed: number;
    readonly freshness: number | null;
  })[];
  readonly servers: readonly (Sums & { readonly origin: string })[];
  /** Visits to pages seen before, by the stage of the detector that decided. */
  readonly stages: readonly Decided[];
  readonly line: HomeLine;
}

/** Of a larger collection, so many pages tell what was avoided by not asking. */
const LOOKED_AT = 20_000;

export function accountOf(ledger: Ledger, since: number): AccountReport {
  const first = Math.floor(since / DAY);
  const left = notDue(ledger, first, LOOKED_AT).map(row => ({ ...row, cause: NOT_DUE, visits: 0, spent: 0 }));
  const rows = [...ledger.account.rows(first), ...left];
  const freshness = ledger.setting<Record<string, number>>('freshness') ?? {};
  const changed = ledger.looks.changedByDay(first);
  return {
    causes: summed(rows, 'cause'),
    days: summed(rows, 'day').map(({ day, ...sums }) => ({
      day: new Date(day * DAY).toISOString().slice(0, 10),
      ...sums,
      changed: changed.get(day) ?? 0,
      freshness: freshness[String(day)] ?? null,
    })),
    servers: summed(rows, 'server')
      .map(({ server, ...sums }) => ({ origin: server === 0 ? '' : ledger.servers.byId(server).origin, ...sums }))
      .sort((a, b) => b.spent - a.spent),
    stages: ledger.looks.decidedBy(first),
    line: lineOf(ledger, first),
  };
}

const MEANINGS: Readonly<Record<string, string>> = {
  page: 'pages with something new',
  same: 'whole pages with nothing new',
  'not-modified': 'answers that it has not changed',
  robots: 'robots.txt',
  sitemap: 'sitemaps',
  image: 'images',
  audit: 'checks of answers that it has not changed',
  error: 'answers without a page',
  none: 'not asked',
  [NOT_DUE]: 'pages left alone',
};

function print({ causes, days, servers, stages, line }: AccountReport): void {
  const sum = (name: 'spent' | 'avoided') => causes.reduce((total, each) => total + each[name], 0);
  console.log(`${paint('bold', `${size(sum('spent'))} spent`)}, ${size(sum('avoided'))} avoided.\n`);
  const sizes = ({ visits, spent, avoided }: Sums) => [visits, size(spent), size(avoided)] as const;
  const byCause = [...causes].sort((a, b) => b.spent - a.spent);
  console.log(
    table(
      ['cause', 'visits', 'spent', 'avoided', 'meaning'],
      byCause.map(row => [row.cause, ...sizes(row), MEANINGS[row.cause] ?? '']),
    ),
  );
  console.log();
  console.log(
    table(
      ['day', 'visits', 'spent', 'avoided', 'changed', 'fresh'],
      days.map(row => [
        row.day,
        ...sizes(row),
        row.changed,
        row.freshness === null ? '' : `${(row.freshness * 100).toFixed(1)}%`,
      ]),
    ),
  );
  printStages(stages);
  printLine(line);
  console.log();
  console.log(
    table(
      ['server', 'visits', 'spent', 'avoided'],
      servers.slice(0, 10).map(row => [harmless(row.origin), ...sizes(row)]),
    ),
  );
}
