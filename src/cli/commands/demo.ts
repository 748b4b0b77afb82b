/** `skein demo`: a small web on loopback, crawled, and what came of it; needs no internet. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { DAY } from '../../base/clock.ts';
import type { Engine } from '../../engine/engine.ts';
import { openLedger } from '../../engine/open-ledger.ts';
import { type Summary, summaryOf } from '../../engine/summary.ts';
import { changesIn } from '../../home/answers/changes.ts';
import { RefreshSupply } from '../../home/refresh/refresh-supply.ts';
import { beginRound } from '../../home/round.ts';
import { crawlSupply, type Supply } from '../../home/supply.ts';
import { type DemoWeb, openDemoWeb } from '../demo-web.ts';
import { type CrawlValues, openHome } from '../options/engine-options.ts';
import { dataOption, fetchOptions, values } from '../options/options.ts';
import { printJson } from '../print/json.ts';
import { printSummary } from '../print/summary.ts';
import { harmless, paint, plural, size, table } from '../print/terminal.ts';
import { attend } from '../services.ts';
import { stopOnSignals } from '../signals.ts';
import { wordsInShort } from './changes.ts';

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .option('--keep-data <dir>', 'keep the collection in this directory')
    .option('--workbench [port]', 'run until Ctrl-C with changing pages, and serve the workbench')
    .option('--json', 'print one JSON object as the last line')
    .addHelpText('after', '\nExample:\n  skein demo --keep-data ./demo && skein pages --data ./demo')
    .action(async (given: Record<string, unknown>) => {
      const web = await openDemoWeb();
      const kept = given['keepData'] as string | undefined;
      const data = kept ?? mkdtempSync(join(tmpdir(), 'skein-demo-'));
      try {
        await run(web, data, given);
        if (!given['json'])
          console.log(kept ? stays(kept) : '\nTo keep the collection and explore it, use --keep-data DIR.');
      } finally {
        await web.close();
        if (!kept) rmSync(data, { recursive: true, force: true });
      }
    });
}

const stays = (kept: string) => `\nThe collection is in ${kept}. List its pages with: skein pages${dataOption(kept)}`;

async function run(web: DemoWeb, data: string, given: Record<string, unknown>): Promise<void> {
  const json = given['json'] === true;
  if (!json) {
    console.log(paint('bold', 'Five sites of a fictional archipelago, served on this machine only:'));
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
      workbench: given['workbench'],
      scope: web.sites.map(site => new URL(site.origin).host),
    },
    fetchOptions,
  );
  const { workbench } = chosen;
  const opened = await openHome(chosen, web.seeds, workbench === undefined ? { clockShift: aWeekAgo() } : {});
  const attended = await attend(opened, { ...chosen, command: 'demo', workbench });
  if (workbench !== undefined) stopOnSignals(() => opened.home.stop());
  let summary: Summary;
  try {
    await opened.run(workbench === undefined ? crawlSupply(opened, 3000) : tidalSupply(opened, web));
    summary = summaryOf(opened, false);
  } finally {
    await attended.leave();
    await attended.closeWorkbench();
    await opened.close();
  }
  if (!json) printSummary(summary);
  const again = workbench === undefined ? await aWeekLater(web, chosen) : undefined;
  if (json) printJson({ ...summary, ...(again && { aWeekLater: again }) });
  else if (again) printSecondLook(again, summary.bytes, data);
}

/** The first look was a week ago, so that the second is now, and nothing in the collection lies ahead of its reader. */
function aWeekAgo(): SharedArrayBuffer {
  const clockShift = new SharedArrayBuffer(8);
  new Float64Array(clockShift)[0] = -WEEK;
  return clockShift;
}

/** The tide turns, a week has passed, and what is due is looked at again. */
async function aWeekLater(web: DemoWeb, chosen: CrawlValues): Promise<Summary> {
  web.tick();
  const opened = await openHome(chosen, [], { mode: 'refresh' });
  try {
    const round = beginRound(opened.pool, opened.clock.now());
    await opened.run(new RefreshSupply(opened, round, { pages: ROUND, bytes: Number.POSITIVE_INFINITY }, () => 0));
    return summaryOf(opened, false);
  } finally {
    await opened.close();
  }
}

function printSecondLook(again: Summary, first: number, data: string): void {
  console.log(paint('bold', '\nA week later some pages have changed. Skein checks the ones that are due:'));
  console.log(
    `${plural(again.pages, 'page')} checked, ${again.fetched} changed; ${size(again.bytes)} on the wire, ` +
      `${Math.round((100 * again.bytes) / first)}% of the first crawl.\n`,
  );
  const ledger = openLedger(data);
  const since = Date.now() - WEEK / 2;
  const changes = changesIn(ledger, { since, limit: 10 });
  ledger.close();
  console.log(
    table(
      ['detected by', 'words', 'page'],
      changes.map(change => [change.stage ?? '', wordsInShort(change), harmless(change.title || change.url)]),
    ),
  );
}

const WEEK = 7 * DAY;
/** Visits a day in the second look: a third of the collection in a week. */
const ROUND = 12;

/** Milliseconds between two tides of a demo that is watched. */
const TIDE = 8000;

/** Looks at everything again whenever the tide has turned, until it is stopped: something to watch. */
function tidalSupply({ ledger, frontier, clock }: Engine, web: DemoWeb): Supply {
  let turned = clock.now();
  return {
    left: 0,
    worthWaiting: () => true,
    fill() {
      if (!frontier.backlog.quiet || clock.now() - turned < TIDE) return;
      turned = clock.now();
      web.tick();
      frontier.again(ledger.schedule.due.due('pages', Number.MAX_SAFE_INTEGER, 1000));
    },
  };
}
