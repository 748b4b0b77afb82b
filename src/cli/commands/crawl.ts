/** `skein crawl`: collects sites, or goes on where the last run stopped. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { SkeinError, systemWords } from '../../base/errors.ts';
import { seedUrl } from '../../base/url.ts';
import { PATIENCE } from '../../engine/engine.ts';
import { requireCollection } from '../../engine/open-ledger.ts';
import { isInVain, type Summary, summaryOf } from '../../engine/summary.ts';
import { crawlSupply } from '../../home/supply.ts';
import { isClustered, openHome } from '../options/engine-options.ts';
import { declare, fetchOptions, values } from '../options/options.ts';
import { printJson } from '../print/json.ts';
import { LiveLine } from '../print/live.ts';
import { strayed } from '../print/strayed.ts';
import { printSummary } from '../print/summary.ts';
import { harmless, paint } from '../print/terminal.ts';
import { attend, endWorkbench } from '../services.ts';
import { FAILED, INTERRUPTED, stopOnSignals } from '../signals.ts';

const names = ['seeds', ...fetchOptions, 'engine', 'peer', 'capacity'] as const;

export function addCrawlCommand(program: Command): void {
  const command = program
    .command('crawl')
    .argument('[seeds...]', 'URLs to start from; without any, the last crawl continues')
    .option('--json', 'print one JSON object as the last line of standard output')
    .addHelpText(
      'after',
      `
Examples:
  skein crawl https://example.org
  skein crawl https://example.org --scope "example.org,!/search/**"
  skein crawl https://example.org --keep "type=text/html;size=<5MB"
  skein crawl --seeds sites.txt --max-pages 10000 --pace 2
  cat sites.txt | skein crawl --seeds -
  skein crawl https://example.org --outpost ssh://me@near.example.org
  skein crawl https://example.org --engine nats://a,b,c
  skein crawl --engine nats://a,b,c                  on every other machine`,
    );
  declare(command, names).action(async (seeds: string[], given: Record<string, unknown>) => {
    const chosen = await values(given, names);
    const urls = seedsOf(seeds, given['seeds'], chosen.seeds).map(seedUrl);
    if (urls.length === 0 && chosen.seeds !== undefined) {
      throw new SkeinError('bad-option', '--seeds names no URL.', 'Write one URL per line.');
    }
    if (urls.length === 0 && !isClustered(chosen)) requireCollection(chosen.data);
    await crawl(chosen, urls, given['json'] === true);
  });
}

/** Those of the command line; else those of the config file, which names them or a file with them. */
function seedsOf(named: readonly string[], given: unknown, chosen: string | string[] | undefined): readonly string[] {
  if (chosen === undefined || (given === undefined && named.length > 0)) return named;
  return [...named, ...(Array.isArray(chosen) ? chosen : readSeeds(chosen))];
}

function readSeeds(file: string): string[] {
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new SkeinError('bad-option', `The seeds in ${file} cannot be read: ${systemWords(error)}.`);
  }
  return text
    .split(/\r\n|\r|\n/)
    .map(line => line.replace(/(^|\s)#.*$/, '').trim())
    .filter(line => line !== '');
}

type CrawlCommandValues = Parameters<typeof openHome>[0] & { readonly workbench?: number | true | undefined };

export async function crawl(chosen: CrawlCommandValues, seeds: readonly string[], json: boolean): Promise<void> {
  const opened = await openHome(chosen, seeds);
  const attended = await attend(opened, { ...chosen, command: 'crawl', workbench: chosen.workbench });
  const live = new LiveLine(opened, json);
  const interrupted = stopOnSignals(() => opened.home.stop());
  let summary: Summary;
  let hints: string[] = [];
  try {
    await opened.ready();
    await opened.run(crawlSupply(opened, PATIENCE));
    summary = summaryOf(opened, interrupted());
    if (summary.moved > 0 && !json)
      hints = [...opened.pool].flatMap(({ ledger, frontier }) => strayed(ledger, seeds, frontier.options.outside));
  } finally {
    live.end();
    await attended.leave();
    await opened.close();
  }
  // A peer may have nothing of a crawl that others collect.
  if (isInVain(summary) && !isClustered(chosen)) process.exitCode = FAILED;
  if (summary.interrupted) process.exitCode = INTERRUPTED;
  if (json) printJson(summary);
  else printSummary(summary, chosen.data);
  for (const hint of hints) console.log(paint('yellow', `\n${harmless(hint)}`));
  await endWorkbench(attended, summary.interrupted);
}
