/**
 * `skein account`: bytes by cause, spent and avoided, with the freshness that they bought, per day and server; what made
 * pages count as changed; and the load on home's own line beside what outposts spent at servers.
 */

import type { Command } from 'commander';
import { askWhole } from '../../engine/open-collection.ts';
import { NOT_DUE } from '../../home/answers/savings.ts';
import type { Sums } from '../../ledger/account.ts';
import { type AccountReport, accountQuestion, accountWanted } from '../../questions/whole/account.ts';
import { modelQuestion } from '../../questions/whole/load-model.ts';
import { declare, values } from '../options/options.ts';
import { parseWhen } from '../options/when.ts';
import { endAsking } from '../print/incomplete.ts';
import { printJson } from '../print/json.ts';
import { harmless, paint, size, table } from '../print/terminal.ts';
import { printLine, printStages } from './account-line.ts';
import { printModel } from './account-model.ts';

export function addAccountCommand(program: Command): void {
  const command = program
    .command('account')
    .option('--since <when>', '30d or a date (default: from the beginning)')
    .option('--model', "the papers' load models, with the figures of this collection")
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `
"Avoided" compares with a crawler that fetches and stores every page once a day:
"not due" counts pages that were not requested, "not-modified" answers without a
body, "same" bodies that were fetched, held nothing new and were not stored.

Example:
  skein account --since 7d`,
    );
  declare(command, ['data', 'engine']).action(async (given: Record<string, unknown>) => {
    const { data, engine } = await values(given, ['data', 'engine']);
    const since = given['since'] === undefined ? 0 : parseWhen(String(given['since']), Date.now());
    await using collection = await askWhole(data, engine);
    const account =
      given['model'] === true
        ? await collection.ask(modelQuestion, {})
        : await collection.ask(accountQuestion, accountWanted(since, collection.partitions));
    endAsking(collection);
    if (given['json']) printJson(account);
    else if ('pmcs' in account) printModel(account);
    else print(account);
  });
}

const MEANINGS: Readonly<Record<string, string>> = {
  page: 'new or changed pages',
  same: 'whole pages without changes',
  'not-modified': '304 answers (not modified)',
  cursor: 'change lists of cooperating sites; avoided: pages that need no check',
  notice: 'feeds, ResourceSync and hubs; avoided: pages of these servers that need no check',
  delta: 'pages that cooperating sites sent as deltas',
  dictionary: 'pages that servers sent as deltas against our copies (RFC 9842)',
  robots: 'robots.txt',
  sitemap: 'sitemaps',
  image: 'images',
  audit: 'spot checks of 304 answers',
  error: 'error answers',
  none: 'not asked',
  [NOT_DUE]: 'pages not checked, because not due',
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
