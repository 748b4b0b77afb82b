/** `skein verify`: does the archive say what the ledger says, and does every byte of it check? */
import type { Command } from 'commander';
import { exitCodes } from '../../base/errors.ts';
import { openLedger } from '../../engine/open-ledger.ts';
import { type Repaired, repair } from '../../home/checks/repair.ts';
import { type CollectionReport, verifyCollection } from '../../home/checks/verify.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { declare, values } from '../options/options.ts';
import { printJson } from '../print/json.ts';
import { harmless, paint, plural, size } from '../print/terminal.ts';

/** Problems that people are shown; --json has them all. */
const SHOWN = 50;

export function addVerifyCommand(program: Command): void {
  const command = program
    .command('verify')
    .option('--repair', 'take copies that are lost out of the ledger; the next run fetches those pages again')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nExamples:\n  skein verify && echo all is well\n  skein verify --repair\n\nExits with 6 when something is wrong.',
    );
  declare(command, ['data']).action(async (given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    openLedger(data).close(); // a collection is looked for, never begun
    const ledger = given['repair'] ? new Ledger(data, 'write') : openLedger(data);
    const report = await verifyCollection(ledger, data, records => {
      if (process.stderr.isTTY) process.stderr.write(`\r${records.toLocaleString('en')} records`);
    });
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[2K');
    const repaired = given['repair'] && !report.ledgerDamaged ? repair(ledger, data, report, Date.now()) : undefined;
    ledger.close();
    if (report.problems.length > 0 && !repaired) process.exitCode = exitCodes.damaged;
    if (given['json']) print(report, repaired);
    else tell(report, repaired);
  });
}

function print({ lengths, ends, damaged, lost, ...report }: CollectionReport, repaired: Repaired | undefined): void {
  printJson({ ...report, lost: lost.length, repaired: repaired ?? null });
}

function tell(report: CollectionReport, repaired: Repaired | undefined): void {
  const { records, segments, bytes, digests, copies, problems, writtenOff } = report;
  console.log(
    `${plural(records, 'record')} in ${plural(segments, 'segment')} (${size(bytes)}), ` +
      `${plural(digests, 'digest')}, ${plural(copies, 'stored copy', 'stored copies')}.`,
  );
  for (const problem of problems.slice(0, SHOWN)) console.log(paint('red', harmless(problem)));
  if (problems.length > SHOWN) console.log(`… and ${problems.length - SHOWN} more; --json lists them all.`);
  if (writtenOff > 0) console.log(`${plural(writtenOff, 'damaged record')} that a repair has written off.`);
  if (problems.length === 0) console.log(paint('green', 'Ledger and archive agree.'));
  else if (repaired) {
    const { copies: lost, pages } = repaired;
    console.log(
      paint('green', `Repaired: ${plural(lost, 'copy', 'copies')} taken out of the ledger, of which `) +
        `${plural(pages, 'page')} will be fetched again by the next crawl or refresh.`,
    );
  } else console.log(`${paint('red', `${plural(problems.length, 'problem')}.`)} ${advice(report)}`);
}

function advice({ ledgerDamaged, lost, problems }: CollectionReport): string {
  if (ledgerDamaged) {
    const whole = problems.every(each => each.startsWith('ledger:'));
    return `Restore ledger.db from a copy.${whole ? ' The archive by itself is whole.' : ''}`;
  }
  if (lost.length === 0) return 'No copy that the ledger names is affected; --repair accepts it.';
  return (
    `${plural(lost.length, 'copy is', 'copies are')} lost: restore the segments from a copy, ` +
    'or go on without them with "skein verify --repair".'
  );
}
