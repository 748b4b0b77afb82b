/** `skein verify`: does the archive say what the ledger says, and does every byte of it check? */
import type { Command } from 'commander';
import { verifyCollection } from '../../home/verify.ts';
import { openLedger } from '../compose.ts';
import { declare, values } from '../options.ts';
import { harmless, paint, size } from '../terminal.ts';

export function addVerifyCommand(program: Command): void {
  const command = program
    .command('verify')
    .description('check ledger and archive against each other, and every digest')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  skein verify && echo all is well\n\nExits with 6 when something is wrong.');
  declare(command, ['data']).action(async (given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    const ledger = openLedger(data);
    const report = await verifyCollection(ledger, data, records => {
      if (process.stderr.isTTY) process.stderr.write(`\r${records.toLocaleString('en')} records`);
    });
    ledger.close();
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[2K');
    if (report.problems.length > 0) process.exitCode = 6;
    if (given['json']) return console.log(JSON.stringify(report));
    console.log(
      `${report.records.toLocaleString('en')} records in ${report.segments} segments (${size(report.bytes)}), ` +
        `${report.digests.toLocaleString('en')} digests, ${report.copies.toLocaleString('en')} stored copies.`,
    );
    for (const problem of report.problems.slice(0, 50)) console.log(paint('red', harmless(problem)));
    console.log(
      report.problems.length === 0
        ? paint('green', 'Ledger and archive agree.')
        : paint('red', `${report.problems.length} problems.`),
    );
  });
}
