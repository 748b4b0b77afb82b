/** `skein account`: bytes by cause, spent and avoided, with the freshness that they bought, per day and server. */

import type { Command } from 'commander';
import { DAY } from '../../base/clock.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { openLedger } from '../compose.ts';
import { declare, values } from '../options.ts';
import { harmless, paint, size, table } from '../terminal.ts';
import { parseWhen } from '../when.ts';

export function addAccountCommand(program: Command): void {
  const command = program
    .command('account')
    .description('bytes spent and avoided, by cause, day and server, with the freshness they bought')
    .option('--since <when>', '30d or a date (default: from the beginning)')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `
Avoided is held against a crawler that fetches every page once a day: "not due" are pages that were not asked for,
"not-modified" answers without a body, "same" bodies that held nothing new and were not stored.

Example:
  skein account --since 7d`,
    );
  declare(command, ['data']).action(async (given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    const since = given['since'] === undefined ? 0 : parseWhen(String(given['since']), Date.now());
    const ledger = openLedger(data);
    const account = accountOf(ledger, since);
    ledger.close();
    if (given['json']) console.log(JSON.stringify(account));
    else print(account);
  });
}

interface Sums {
  readonly visits: number;
  readonly spent: number;
  readonly avoided: number;
}

export interface AccountReport {
  readonly causes: readonly (Sums & { readonly cause: string })[];
  readonly days: readonly (Sums & {
    readonly day: string;
    readonly changed: number;
    readonly freshness: number | null;
  })[];
  readonly servers: readonly (Sums & { readonly origin: string })[];
}

/** Cause of what was avoided by not asking; it is in no row of the ledger, because nothing happened. */
const NOT_DUE = 'not due';

export function accountOf(ledger: Ledger, since: number): AccountReport {
  const first = Math.floor(since / DAY);
  const rows = [...ledger.account.rows().filter(row => row.day >= first), ...notDue(ledger, first)];
  const freshness = ledger.setting<Record<string, number>>('freshness') ?? {};
  const changed = new Map<number, number>();
  for (const row of ledger.database
    .prepare(
      `SELECT cast(time / ${DAY} AS INTEGER) AS day, count(*) AS n FROM visits
       WHERE outcome = 'fetched' AND stage <> 'first' AND time >= ? GROUP BY day`,
    )
    .all(since)) {
    changed.set(row['day'] as number, row['n'] as number);
  }
  return {
    causes: grouped(rows, row => row.cause).map(([cause, sums]) => ({ cause, ...sums })),
    days: grouped(rows, row => row.day).map(([day, sums]) => ({
      day: new Date(day * DAY).toISOString().slice(0, 10),
      ...sums,
      changed: changed.get(day) ?? 0,
      freshness: freshness[String(day)] ?? null,
    })),
    servers: grouped(rows, row => row.server)
      .map(([server, sums]) => ({ origin: server === 0 ? '' : ledger.servers.byId(server).origin, ...sums }))
      .sort((a, b) => b.spent - a.spent),
  };
}

interface Entry extends Sums {
  readonly day: number;
  readonly server: number;
  readonly cause: string;
}

function grouped<K>(rows: readonly Entry[], key: (row: Entry) => K): [K, Sums][] {
  const groups = new Map<K, { visits: number; spent: number; avoided: number }>();
  for (const row of rows) {
    const sums = groups.get(key(row)) ?? { visits: 0, spent: 0, avoided: 0 };
    sums.visits += row.visits;
    sums.spent += row.spent;
    sums.avoided += row.avoided;
    groups.set(key(row), sums);
  }
  return [...groups];
}

/** For each day with visits: pages that were known by then and not asked for, at what their last full answer cost. */
function notDue(ledger: Ledger, first: number): Entry[] {
  const rows = ledger.database
    .prepare(
      `WITH days AS (SELECT DISTINCT cast(time / ${DAY} AS INTEGER) AS day FROM visits WHERE time >= ?),
         asked AS (SELECT DISTINCT cast(v.time / ${DAY} AS INTEGER) AS day, v.page FROM visits v WHERE v.time >= ?)
       SELECT d.day, p.server, count(*) AS pages, sum(k.wire) AS avoided
       FROM days d JOIN known k ON k.first_time < d.day * ${DAY} AND k.wire IS NOT NULL JOIN pages p ON p.id = k.page
       LEFT JOIN asked a ON a.day = d.day AND a.page = k.page
       WHERE a.page IS NULL GROUP BY d.day, p.server`,
    )
    .all(first * DAY, first * DAY) as unknown as { day: number; server: number; avoided: number }[];
  return rows.map(({ day, server, avoided }) => ({ day, server, cause: NOT_DUE, visits: 0, spent: 0, avoided }));
}

const MEANINGS: Readonly<Record<string, string>> = {
  page: 'pages with something new',
  same: 'whole pages with nothing new',
  'not-modified': 'answers that it has not changed',
  robots: 'robots.txt',
  sitemap: 'sitemaps',
  image: 'images',
  audit: 'checks of such answers',
  error: 'answers without a page',
  none: 'not asked',
  [NOT_DUE]: 'pages left alone',
};

function print({ causes, days, servers }: AccountReport): void {
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
        row.freshness === null ? '' : `${(row.freshness * 100).toFixed(1)} %`,
      ]),
    ),
  );
  console.log();
  console.log(
    table(
      ['server', 'visits', 'spent', 'avoided'],
      servers.slice(0, 10).map(row => [harmless(row.origin), ...sizes(row)]),
    ),
  );
}
