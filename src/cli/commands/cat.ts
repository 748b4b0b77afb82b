/** `skein cat URL`: the stored body, decoded, byte for byte. */
import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.ts';
import { openCopies } from '../../home/copies.ts';
import { findPage } from '../../home/lookup.ts';
import { openLedger } from '../look.ts';
import { declare, values } from '../options.ts';

export function addCatCommand(program: Command): void {
  const command = program
    .command('cat')
    .argument('<url>', 'the page')
    .option('--head', 'print the status line and headers before it')
    .option('--json', 'print one JSON object with the body as text')
    .addHelpText('after', '\nExample:\n  skein cat https://example.org/ > page.html');
  declare(command, ['data']).action(async (url: string, given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    const ledger = openLedger(data);
    const copies = openCopies(ledger, data);
    const { page, known } = findPage(ledger, url);
    const copy = known && copies.newest(known);
    if (!copy) {
      const why = page.refused ?? known?.reason ?? 'it was not visited yet';
      throw new SkeinError(
        'not-found',
        `There is no stored copy of ${page.url}: ${why}.`,
        `See "skein show ${page.url}".`,
      );
    }
    const { bytes, problem } = copy.decoded();
    copies.close();
    ledger.close();
    if (given['json']) {
      const headers = Object.fromEntries(copy.headers);
      const body = Buffer.from(bytes).toString();
      console.log(JSON.stringify({ url: page.url, time: copy.time, status: copy.status, headers, body, problem }));
      return;
    }
    if (given['head']) process.stdout.write(copy.head);
    process.stdout.write(bytes);
  });
}
