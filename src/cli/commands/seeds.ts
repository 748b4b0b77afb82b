/** `skein seeds`: the URLs that a collection starts from; `skein seeds remove URL` takes one back. */
import type { Command } from 'commander';
import { seedUrl } from '../../base/url.ts';
import { removeSeeds, seedsIn } from '../../engine/house/seeds.ts';
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
\`skein crawl URL\` adds a seed and visits it before the queue.

Examples:
  skein seeds
  skein seeds remove https://exmaple.org`,
    );
  declare(command, ['data']).action(async (given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    const seeds = seedsIn(data);
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
    .description('remove URLs from the seeds; their stored pages stay')
    .option('--json', 'print one JSON object a line')
    .addHelpText('after', '\nExample:\n  skein seeds remove https://exmaple.org');
  declare(command, ['data']).action(async (urls: string[]) => {
    const given = command.optsWithGlobals<Record<string, unknown>>();
    const { data } = await values(given, ['data']);
    const removed = urls.map(url => seedUrl(url));
    const left = removeSeeds(data, removed);
    if (given['json']) for (const url of removed) printJson({ url, removed: true });
    else console.log(`Removed ${removed.map(harmless).join(', ')}; ${plural(left, 'seed')} left.`);
  });
}
