/** `skein seeds`: the URLs that a collection starts from; `skein seeds remove URL` takes one back. */
import type { Command } from 'commander';
import { seedUrl } from '../../base/url.ts';
import { openLedger } from '../../engine/open-ledger.ts';
import { removeSeed } from '../../frontier/admission/seeds.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { declare, values } from '../options/options.ts';
import { printJson } from '../print/json.ts';
import { harmless, moment, plural, urlTable } from '../print/terminal.ts';

export function addSeedsCommand(program: Command): void {
  const command = program
    .command('seeds')
    .option('--json', 'print one JSON object a line')
    .addHelpText(
      'after',
      `
\`skein crawl URL\` adds a seed, which is visited before what waits already.

Examples:
  skein seeds
  skein seeds remove https://exmaple.org`,
    );
  declare(command, ['data']).action(async (given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    const ledger = openLedger(data);
    const seeds = ledger.seeds.all();
    ledger.close();
    if (!given['json']) {
      const rows = seeds.map(({ url, time, outcome, reason }) => [
        time === null ? 'not yet' : moment(time),
        outcome ?? 'waiting',
        reason ?? '',
        harmless(url),
      ]);
      console.log(urlTable(['last visit', 'outcome', 'reason', 'url'], rows, ['reason', 'last visit']));
      return;
    }
    for (const { url, found, time, outcome, reason, status } of seeds)
      printJson({ url, found, time, outcome: outcome ?? 'waiting', reason, status });
  });
  addRemove(command);
}

function addRemove(seeds: Command): void {
  const command = seeds
    .command('remove <urls...>')
    .description('these are no seeds any more; what is stored of them stays')
    .option('--json', 'print one JSON object a line')
    .addHelpText('after', '\nExample:\n  skein seeds remove https://exmaple.org');
  declare(command, ['data']).action(async (urls: string[]) => {
    const given = command.optsWithGlobals<Record<string, unknown>>();
    const { data } = await values(given, ['data']);
    openLedger(data).close(); // a directory without a collection is a mistake, not a new one
    const ledger = new Ledger(data, 'write');
    try {
      ledger.begin();
      const removed = urls.map(url => removeSeed(ledger, seedUrl(url)).url);
      const left = ledger.seeds.all().length;
      ledger.commit();
      if (given['json']) for (const url of removed) printJson({ url, removed: true });
      else console.log(`Removed ${removed.map(harmless).join(', ')}; ${plural(left, 'seed is', 'seeds are')} left.`);
    } finally {
      ledger.close();
    }
  });
}
