/** `skein demo`: a small web on loopback, crawled, and what came of it; needs no internet. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { crawlSupply } from '../../home/supply.ts';
import { openHome, openLedger } from '../compose.ts';
import { openDemoWeb } from '../demo-web.ts';
import { values } from '../options.ts';
import { printSummary, summaryOf } from '../summary.ts';
import { paint } from '../terminal.ts';

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('crawl a small web that the demo itself serves on loopback; needs no internet')
    .option('--keep-data <dir>', 'keep the collection there to look at it afterwards')
    .option('--json', 'print one JSON object as the last line')
    .addHelpText('after', '\nExample:\n  skein demo --keep-data ./demo && skein pages --data ./demo')
    .action(async (given: Record<string, unknown>) => {
      const web = await openDemoWeb();
      const kept = given['keepData'] as string | undefined;
      const data = kept ?? mkdtempSync(join(tmpdir(), 'skein-demo-'));
      try {
        await run(web, data, given['json'] === true);
        if (kept && !given['json']) console.log(`\nThe collection stays in ${kept}: try "skein pages --data ${kept}".`);
      } finally {
        await web.close();
        if (!kept) rmSync(data, { recursive: true, force: true });
      }
    });
}

async function run(web: Awaited<ReturnType<typeof openDemoWeb>>, data: string, json: boolean): Promise<void> {
  if (!json) {
    console.log(paint('bold', 'Five sites of an archipelago that does not exist, on this machine only:'));
    for (const { name, origin } of web.sites) console.log(`  ${origin}  ${name}`);
    console.log();
  }
  const chosen = await values(
    {
      data,
      pace: 0,
      connections: 4,
      allowPrivate: true,
      threads: 2,
      scope: web.sites.map(site => new URL(site.origin).host),
    },
    [
      'data',
      'pace',
      'connections',
      'threads',
      'allowPrivate',
      'maxPages',
      'depth',
      'perServer',
      'bodyLimit',
      'scope',
      'keep',
      'order',
      'focus',
      'domains',
      'detector',
      'agent',
    ],
  );
  const opened = openHome(chosen, web.seeds);
  try {
    await opened.home.run(crawlSupply(opened, 3000));
  } finally {
    await opened.close();
  }
  const summary = summaryOf(opened, false);
  if (json) return console.log(JSON.stringify(summary));
  printSummary(summary, data);
  openLedger(data).close();
}
