/**
 * Two outposts, each a process of its own, work for a home whose workbench is open in a browser. One is killed: it is
 * seen to go, its errands are seen to move, and the crawl ends as if nothing had been.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { openHome } from '../../src/cli/options/engine-options.ts';
import { attend } from '../../src/cli/services.ts';
import { crawlSupply } from '../../src/home/supply.ts';
import { freePort } from '../free-port.ts';
import { openWeb } from '../web/web.ts';
import { noBrowser, openBrowser } from '../workbench/browser.ts';
import { chosen } from './collection.ts';
import { invite, startOutpost } from './outpost-processes.ts';
import { collected, pagesOf, workplace } from './skein.ts';

const options = { skip: noBrowser };
const scope = ['*'];
/** Milliseconds that a machine may be away before its errands go to others; a minute outside of tests. */
const ABSENCE = 6000;

/** What the box of a machine says, e.g. `errands`. */
async function figure(page: Page, machine: string, name: string): Promise<number> {
  const box = page.locator('.node', { has: page.locator(`strong:text-is("${machine}")`) });
  return Number.parseInt((await box.locator(`dl div:has(dt:text-is("${name}")) dd`).textContent())!, 10);
}

test('an outpost that is killed is seen to vanish and its errands to move', options, async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 6, servers: 6, pagesPerServer: 40, addresses: true });
  const data = join(place.path, 'home');
  const port = await freePort();
  const tokens = [await invite(data, port), await invite(data, port)];
  const given = chosen(data, { scope, pace: 0.6, threads: 0, connections: 1, listen: `127.0.0.1:${port}` });
  const opened = await openHome(given, web.seeds, { absence: ABSENCE });
  const attended = await attend(opened, { command: 'crawl', data, keep: '', workbench: 0 });
  await opened.ready();
  const outposts = [];
  for (const [at, token] of tokens.entries()) outposts.push(await startOutpost(`far-${at}`, place.path, token));
  const [lost, left] = outposts as [(typeof outposts)[0], (typeof outposts)[0]];
  try {
    // Both are there before the servers are shared out.
    await Promise.all(outposts.map(each => each.running.says('Serving')));
    await using browser = await openBrowser();
    const page = await browser.context.newPage();
    await page.goto(attended.workbench!);
    await page.goto(`${new URL(attended.workbench!).origin}/#/machines`);
    const running = opened.run(crawlSupply(opened, 0));
    for (const { name } of outposts) {
      await page.waitForSelector(`.node:has-text("${name}"):has-text("working")`);
      while ((await figure(page, name, 'errands')) === 0) await page.waitForTimeout(100);
    }
    const before = await figure(page, left.name, 'errands');
    await lost.kill();
    await page.waitForSelector(`.node:has-text("${lost.name}"):has-text("away")`);
    await page.waitForSelector(`.node.gone:has-text("${lost.name}"):has-text("went back into the queue")`);
    assert.equal(await figure(page, lost.name, 'errands'), 0);
    while ((await figure(page, left.name, 'errands')) <= before) await page.waitForTimeout(100);
    // There was no hurry until now: whoever looks late still finds errands under way.
    await opened.home.order(() => opened.frontier.adjust({ pace: 0 }));
    await running;
    await page.goto(`${new URL(attended.workbench!).origin}/#/now`);
    await page.waitForSelector(`tbody tr:has-text("${left.name}")`);
  } finally {
    await Promise.all(outposts.map(each => each.kill()));
    await attended.leave();
    await attended.closeWorkbench();
    await opened.close();
  }
  assert.deepEqual(collected(await pagesOf(data)), web.mustFind());
});
