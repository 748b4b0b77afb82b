/** `skein status`: the collection at a glance. */
import type { Command } from 'commander';
import { type ReasonCode, reasons } from '../../errand/reasons.ts';
import type { HomeState } from '../../home/control.ts';
import { runningHome } from '../../home/door.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { openLedger } from '../look.ts';
import { declare, values } from '../options.ts';
import { duration, moment, paint, plural, size, table } from '../terminal.ts';

export function addStatusCommand(program: Command): void {
  const command = program
    .command('status')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  skein status --data ./skein-data');
  declare(command, ['data']).action(async (given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    const ledger = openLedger(data);
    const status = statusOf(ledger);
    ledger.close();
    const running = (await runningHome(data))?.state;
    if (given['json']) return console.log(JSON.stringify({ ...status, running: running ?? null }));
    if (running) printRunning(running);
    print(status);
  });
}

export interface Status {
  readonly known: number;
  readonly stored: number;
  readonly waiting: number;
  readonly retries: number;
  readonly servers: number;
  readonly archiveBytes: number;
  readonly wireBytes: number;
  readonly lastVisit: number | null;
  readonly outcomes: readonly { outcome: string; reason: string; pages: number }[];
  readonly refused: Readonly<Record<string, number>>;
  readonly largest: readonly { origin: string; pages: number; notBefore: number }[];
}

function statusOf(ledger: Ledger): Status {
  const { database } = ledger;
  const one = (sql: string) => database.prepare(sql).get() as Record<string, number | null>;
  const refused: Record<string, number> = {};
  for (const row of database
    .prepare('SELECT refused, count(*) AS pages FROM pages WHERE refused IS NOT NULL GROUP BY refused')
    .all()) {
    refused[row['refused'] as string] = row['pages'] as number;
  }
  return {
    known: ledger.pages.size,
    stored: one('SELECT count(*) AS n FROM known WHERE segment IS NOT NULL')['n']!,
    waiting: one(
      'SELECT count(*) AS n FROM pages p LEFT JOIN known k ON k.page = p.id WHERE k.page IS NULL AND p.refused IS NULL',
    )['n']!,
    retries: ledger.pages.nextRetry()?.count ?? 0,
    servers: ledger.servers.size,
    archiveBytes: ledger.segments().reduce((sum, segment) => sum + segment.length, 0),
    wireBytes: one('SELECT coalesce(sum(spent), 0) AS n FROM account')['n']!,
    lastVisit: one('SELECT max(time) AS n FROM visits')['n']!,
    outcomes: database
      .prepare('SELECT outcome, reason, count(*) AS pages FROM known GROUP BY outcome, reason ORDER BY pages DESC')
      .all() as unknown as Status['outcomes'],
    refused,
    largest: database
      .prepare(
        `SELECT s.origin, count(*) AS pages, s.not_before AS notBefore FROM pages p JOIN servers s ON s.id = p.server
         GROUP BY p.server ORDER BY pages DESC LIMIT 10`,
      )
      .all() as unknown as Status['largest'],
  };
}

function printRunning({ command, state, started, pages, rate, queue, underWay, outcomes, time }: HomeState): void {
  console.log(
    `${paint('green', `A ${command} is ${state}`)} for ${duration(time - started)}: ` +
      `${pages.toLocaleString('en')} pages, ${rate.toFixed(1)}/s, ` +
      `${(queue + underWay).toLocaleString('en')} in the queue, ${outcomes.failed} errors.`,
  );
}

function print(status: Status): void {
  const { known, stored, waiting, servers } = status;
  console.log(
    `${paint('bold', `${plural(stored, 'page')} stored`)} of ${plural(known, 'URL')} known on ` +
      `${plural(servers, 'server')}; ${waiting.toLocaleString('en')} wait to be fetched, ` +
      `${status.retries} to be tried again.`,
  );
  console.log(
    `${size(status.archiveBytes)} in the archive, ${size(status.wireBytes)} spent on the wire` +
      `${status.lastVisit ? `, last visit ${moment(status.lastVisit)}` : ''}.\n`,
  );
  const rows = status.outcomes.map(({ outcome, reason, pages }) => [
    outcome,
    reason,
    pages,
    reasons[reason as ReasonCode]?.means ?? '',
  ]);
  for (const [reason, pages] of Object.entries(status.refused)) {
    rows.push(['not visited', reason, pages, reasons[reason as ReasonCode]?.means ?? '']);
  }
  console.log(table(['outcome', 'reason', 'pages', 'meaning'], rows));
  const now = Date.now();
  console.log(
    `\n${table(
      ['server', 'pages', 'may be visited'],
      status.largest.map(({ origin, pages, notBefore }) => [
        origin,
        pages,
        notBefore > now ? `in ${duration(notBefore - now)}` : 'now',
      ]),
    )}`,
  );
}
