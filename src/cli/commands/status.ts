/** `skein status`: the collection at a glance. */
import type { Command } from 'commander';
import { version } from '../../base/version.ts';
import { openLedger } from '../../engine/open-ledger.ts';
import { meaningOf } from '../../errand/reasons.ts';
import type { HomeState } from '../../home/control.ts';
import { runningHome } from '../../home/door.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { runtimeOf, runtimeWords } from '../../transfer/runtime.ts';
import { declare, values } from '../options/options.ts';
import { printJson } from '../print/json.ts';
import { duration, fold, moment, paint, plural, roomOf, size, table } from '../print/terminal.ts';

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
    if (given['json']) return printJson({ ...status, running: running ?? null, runtime: runtimeOf() });
    if (running) printRunning(running);
    print(status);
    printRuntime();
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

function statusOf(ledger: Ledger): Status {
  const { tallies, visits } = ledger;
  const refused: Record<string, number> = {};
  const servers = new Map<number, number>();
  let open = 0;
  for (const { name, server, n } of tallies.of('pages')) {
    if (server !== 0) servers.set(server, (servers.get(server) ?? 0) + n);
    if (name === '') open += n;
    else refused[name] = (refused[name] ?? 0) + n;
  }
  const outcomes = tallies.of('known').map(({ name, n }) => {
    const [outcome = '', reason = ''] = name.split(' ');
    return { outcome, reason, pages: n };
  });
  const largest = [...servers].sort(([, one], [, two]) => two - one).slice(0, LARGEST);
  return {
    known: ledger.pages.newest(),
    stored: tallies.total('stored'),
    waiting: open - (tallies.total('known') - tallies.total('spurned')),
    retries: ledger.pages.nextRetry()?.count ?? 0,
    servers: ledger.servers.newest(),
    archiveBytes: sum(ledger.segments().map(segment => segment.length)),
    wireBytes: ledger.account.total(),
    lastVisit: visits.get(visits.newest())?.time ?? null,
    outcomes: outcomes.sort((one, two) => two.pages - one.pages),
    refused,
    largest: largest.map(([server, pages]) => {
      const { origin, notBefore } = ledger.servers.read(server)!; // it may be newer than this ledger object
      return { origin, pages, notBefore };
    }),
  };
}

/** Columns where nobody says how many there are, so that a mail or a log holds whole lines. */
const USUAL = 80;

function roomOrUsual(): number {
  return Math.min(roomOf(), process.stdout.isTTY ? Number.POSITIVE_INFINITY : USUAL);
}

/** The Node that runs this command, and would run a crawl. */
function printRuntime(): void {
  console.log(paint('dim', `\n${fold(`Skein ${version} on ${runtimeWords(runtimeOf())}.`, '', roomOrUsual())}`));
}

const sum = (figures: readonly number[]) => figures.reduce((total, each) => total + each, 0);

function printRunning({ command, state, started, pages, rate, queue, underWay, outcomes, time }: HomeState): void {
  console.log(
    `${paint('green', `A ${command} is ${state}`)}, begun ${duration(time - started)} ago: ` +
      `${plural(pages, 'page')}, ${rate.toFixed(1)}/s, ` +
      `${(queue + underWay).toLocaleString('en')} in the queue, ${plural(outcomes.failed, 'error')}.`,
  );
}

function print(status: Status): void {
  const { known, stored, waiting, servers } = status;
  const waits = waiting === 1 ? 'waits' : 'wait';
  const lines = [
    `${paint('bold', `${plural(stored, 'page')} stored`)} of ${plural(known, 'URL')} known on ` +
      `${plural(servers, 'server')}; ${waiting.toLocaleString('en')} ${waits} to be fetched, ` +
      `${status.retries.toLocaleString('en')} to be tried again.`,
    `${size(status.archiveBytes)} in the archive, ${size(status.wireBytes)} spent on the wire` +
      `${status.lastVisit ? `, last visit ${moment(status.lastVisit)}` : ''}.`,
  ];
  console.log(`${lines.map(line => fold(line, '', roomOrUsual())).join('\n')}\n`);
  const rows = status.outcomes.map(({ outcome, reason, pages }) => [outcome, reason, pages, meaningOf(reason)]);
  for (const [reason, pages] of Object.entries(status.refused)) {
    rows.push(['refused', reason, pages, meaningOf(reason)]);
  }
  console.log(table(['outcome', 'reason', 'pages', 'meaning'], rows, roomOrUsual()));
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
