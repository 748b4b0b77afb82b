/** `skein backup` and `skein restore`: a copy of a collection that can be made while it is being written. */
import type { Command } from 'commander';
import { backupCollection, restoreCollection } from '../../engine/house/backup.ts';
import { declare, values } from '../options/options.ts';
import { printJson } from '../print/json.ts';
import { plural, size } from '../print/terminal.ts';

export function addBackupCommand(program: Command): void {
  const command = program
    .command('backup')
    .argument('<directory>', 'target; later backups copy only what is new')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `
A crawl or watch may run meanwhile. The backup omits the search index, which
Skein rebuilds from the rest.

Example:
  skein backup /backup/skein && skein verify --data /backup/skein`,
    );
  declare(command, ['data']).action(async (directory: string, given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    const done = await backupCollection(data, directory, text => {
      if (process.stderr.isTTY) process.stderr.write(`\r\u001b[2KBackup: ${text}`);
    });
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[2K');
    if (given['json']) {
      printJson(done);
      return;
    }
    const { segments, copied, had } = done;
    console.log(
      `Backed up the ledger and ${plural(segments, 'segment')} to ${directory}: ${size(copied)} copied, ${size(had)} already there.`,
    );
  });
}

export function addRestoreCommand(program: Command): void {
  const command = program
    .command('restore')
    .argument('<directory>', 'a backup')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  skein restore /backup/skein --data ./restored');
  declare(command, ['data']).action(async (directory: string, given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    restoreCollection(directory, data);
    if (given['json']) printJson({ data });
    else console.log(`Restored into ${data}. Check it with: skein verify`);
  });
}
