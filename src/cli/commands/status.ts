/** `skein status`: the collection at a glance. */
import type { Command } from 'commander';
import { version } from '../../base/version.ts';
import { askWhole } from '../../engine/open-collection.ts';
import { meaningOf } from '../../errand/reasons.ts';
import type { HomeState } from '../../home/control.ts';
import { runningHome } from '../../home/door.ts';
import { type Status, statusQuestion } from '../../questions/whole/status.ts';
import { runtimeOf, runtimeWords } from '../../transfer/runtime.ts';
import { declare, values } from '../options/options.ts';
import { endAsking } from '../print/incomplete.ts';
import { printJson } from '../print/json.ts';
import { duration, fold, moment, paint, plural, roomOf, size, table, thousands } from '../print/terminal.ts';

export function addStatusCommand(program: Command): void {
  const command = program
    .command('status')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  skein status --data ./skein-data');
  declare(command, ['data', 'engine']).action(async (given: Record<string, unknown>) => {
    const { data, engine } = await values(given, ['data', 'engine']);
    await using collection = await askWhole(data, engine);
    const status = await collection.ask(statusQuestion, {});
    endAsking(collection);
    const running = (await runningHome(data))?.state;
    if (given['json']) return printJson({ ...status, running: running ?? null, runtime: runtimeOf() });
    if (running) printRunning(running);
    print(status);
    printRuntime();
  });
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

function printRunning({ command, state, started, pages, rate, queue, underWay, outcomes, time }: HomeState): void {
  console.log(
    `${paint('green', `A ${command} is ${state}`)}, started ${duration(time - started)} ago: ` +
      `${plural(pages, 'page')}, ${rate.toFixed(1)}/s, ` +
      `${thousands(queue + underWay)} in the queue, ${plural(outcomes.failed, 'error')}.`,
  );
}

/** What a machine that burns now takes along. */
function copyLines({ notCopied }: Status): string[] {
  if (notCopied === null) return [];
  if (notCopied === 0) return ['The off-site copy of the archive is complete.'];
  return [
    `${size(notCopied)} of the archive have no off-site copy yet; if this machine were lost, Skein would fetch them again.`,
  ];
}

function print(status: Status): void {
  const { known, stored, waiting, servers } = status;
  const lines = [
    `${paint('bold', `${plural(stored, 'page')} stored`)} of ${plural(known, 'URL')} known on ` +
      `${plural(servers, 'server')}; ${thousands(waiting)} queued, ` +
      `${plural(status.retries, 'retry', 'retries')} scheduled.`,
    `${size(status.archiveBytes)} in the archive, ${size(status.wireBytes)} spent on the wire` +
      `${status.lastVisit ? `, last visit ${moment(status.lastVisit)}` : ''}.`,
    `${size(status.diskBytes)} on disk in total; copies grew by ${size(status.weekBytes)} in the last week.`,
    ...copyLines(status),
  ];
  console.log(`${lines.map(line => fold(line, '', roomOrUsual())).join('\n')}\n`);
  const rows = status.outcomes.map(({ outcome, reason, pages }) => [outcome, reason, pages, meaningOf(reason)]);
  for (const [reason, pages] of Object.entries(status.refused)) {
    rows.push(['refused', reason, pages, meaningOf(reason)]);
  }
  console.log(table(['outcome', 'reason', 'URLs', 'meaning'], rows, roomOrUsual()));
  const now = Date.now();
  console.log(
    `\n${table(
      ['server', 'URLs', 'next request'],
      status.largest.map(({ origin, pages, notBefore }) => [
        origin,
        pages,
        notBefore > now ? `in ${duration(notBefore - now)}` : 'now',
      ]),
    )}`,
  );
}
