/** `skein status`: the collection at a glance. */
import type { Command } from 'commander';
import { meaningOf } from '../../errand/reasons.ts';
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

/** Servers that are named. */
const LARGEST = 10;

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

/** Each large table is read once: 1.5 s for a million pages. */
function statusOf(ledger: Ledger): Status {
  const { database } = ledger;
  const rows = <T>(sql: string) => database.prepare(sql).all() as unknown as T[];
  const known = rows<{ outcome: string; reason: string; pages: number; stored: number }>(
    `SELECT outcome, reason, count(*) AS pages, sum(segment IS NOT NULL) AS stored FROM known
     GROUP BY outcome, reason ORDER BY pages DESC`,
  );
  const found = rows<{ server: number; refused: string | null; pages: number; visited: number }>(
    `SELECT server, refused, count(*) AS pages,
       sum(refused IS NOT NULL AND EXISTS (SELECT 1 FROM known WHERE page = pages.id)) AS visited
     FROM pages GROUP BY server, refused`,
  );
  const refused: Record<string, number> = {};
  const servers = new Map<number, number>();
  let waiting = 0;
  for (const { server, refused: reason, pages, visited } of found) {
    if (server !== 0) servers.set(server, (servers.get(server) ?? 0) + pages);
    if (reason === null) waiting += pages;
    else refused[reason] = (refused[reason] ?? 0) + pages;
    waiting += visited; // taken away below with all others that were
  }
  const largest = [...servers].sort(([, one], [, two]) => two - one).slice(0, LARGEST);
  return {
    known: ledger.pages.size,
    stored: sum(known.map(row => row.stored)),
    waiting: waiting - sum(known.map(row => row.pages)),
    retries: ledger.pages.nextRetry()?.count ?? 0,
    servers: ledger.servers.size,
    archiveBytes: sum(ledger.segments().map(segment => segment.length)),
    wireBytes: rows<{ n: number }>('SELECT coalesce(sum(spent), 0) AS n FROM account')[0]!.n,
    lastVisit: rows<{ n: number | null }>('SELECT max(time) AS n FROM visits')[0]!.n,
    outcomes: known.map(({ outcome, reason, pages }) => ({ outcome, reason, pages })),
    refused,
    largest: largest.map(([server, pages]) => {
      const { origin, notBefore } = ledger.servers.read(server)!; // it may be newer than this ledger object
      return { origin, pages, notBefore };
    }),
  };
}

const sum = (figures: readonly number[]) => figures.reduce((total, each) => total + each, 0);

function printRunning({ command, state, started, pages, rate, queue, underWay, outcomes, time }: HomeState): void {
  console.log(
    `${paint('green', `A ${command} is ${state}`)}, begun ${duration(time - started)} ago: ` +
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
  const rows = status.outcomes.map(({ outcome, reason, pages }) => [outcome, reason, pages, meaningOf(reason)]);
  for (const [reason, pages] of Object.entries(status.refused)) {
    rows.push(['refused', reason, pages, meaningOf(reason)]);
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
