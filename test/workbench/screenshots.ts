/**
 * Draws the pictures of the documentation: every view of the workbench in both themes, and some on a phone, over a small
 * collection with a past of some days and a crawl under way. Run with `npm run screenshots`; look at what came out.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { openDemoWeb } from '../../src/cli/demo-web.ts';
import { openHome } from '../../src/cli/options/engine-options.ts';
import { attend } from '../../src/cli/services.ts';
import { crawlSupply } from '../../src/home/supply.ts';
import { chosen, makeCollection } from '../journeys/collection.ts';
import { openWeb } from '../web/web.ts';
import { openBrowser } from './browser.ts';

const images = join(import.meta.dirname, '..', '..', 'docs', 'images');
const PORT = 7781;
const address = `http://127.0.0.1:${PORT}`;

/** Days before now on which the collection was looked at. */
const PAST = [9, 6, 4, 2, 1];

async function shoot(page: Page, path: string, name: string, ready: string): Promise<void> {
  await page.goto(`${address}/#/${path}`);
  await page.waitForSelector(ready, { timeout: 15_000 });
  await page.waitForTimeout(1200);
  await keep(page, name);
}

/** Few colours make small files, and the pages here have few. */
async function keep(page: Page, name: string): Promise<void> {
  const picture = await page.screenshot();
  await sharp(picture)
    .png({ palette: true, quality: 90, effort: 8 })
    .toFile(join(images, `${name}.png`));
}

async function shootAll(token: string, scheme: 'light' | 'dark', changed: number): Promise<void> {
  await using browser = await openBrowser({ colorScheme: scheme });
  const page = await browser.context.newPage();
  page.on('console', message => message.type() === 'error' && console.log('console:', message.text()));
  page.on('pageerror', error => console.log('error:', error.message));
  await page.goto(token);
  await shoot(page, 'overview', `overview-${scheme}`, '[data-tile]');
  await shoot(page, 'now', `now-${scheme}`, '[data-tile]');
  await shoot(page, 'machines', `machines-${scheme}`, 'li .node');
  await shoot(page, 'servers?open=3', `servers-${scheme}`, 'td a');
  await shoot(page, 'pages?order=changed', `pages-${scheme}`, 'td a');
  await shoot(page, `pages/${changed}`, `copy-${scheme}`, 'iframe');
  await shoot(page, `pages/${changed}/versions`, `versions-${scheme}`, 'ol li');
  await shoot(page, `pages/${changed}/difference`, `difference-${scheme}`, '[data-difference]');
  await page.click('button:has-text("Side by side")');
  await page.waitForTimeout(600);
  await keep(page, `sides-${scheme}`);
  await shoot(page, `pages/${changed}/why`, `why-${scheme}`, '.sentence');
  await shoot(page, `pages/${changed}/links`, `links-${scheme}`, 'ul li');
  await shoot(page, 'changes', `changes-${scheme}`, 'td a');
  await shoot(page, 'search?q=herring OR lamp', `search-${scheme}`, 'ol li, .notice');
  await page.goto(`${address}/#/steer`);
  await page.fill('label:has-text("seconds between") input', scheme === 'light' ? '0.09' : '0.08');
  await page.click('form:has-text("seconds between") button');
  await shoot(page, 'steer', `steer-${scheme}`, 'textarea');
  await shoot(page, 'notify', `notify-${scheme}`, 'form');
  await page.setViewportSize({ width: 390, height: 844 });
  for (const view of [
    'overview',
    'now',
    'machines',
    'servers',
    'pages',
    'changes',
    'search?q=herring OR lamp',
    'steer',
  ])
    await shoot(page, view, `phone-${view.split('?')[0]}-${scheme}`, 'h1');
  await shoot(page, `pages/${changed}/difference`, `phone-difference-${scheme}`, '[data-difference]');
}

mkdirSync(images, { recursive: true });
const demo = await openDemoWeb();
await using web = await openWeb({
  seed: 11,
  servers: 8,
  pagesPerServer: 1500,
  latency: 25,
  features: ['redirects', 'errors', 'robots'],
});
using collection = makeCollection();
const scope = ['*'];
collection.pass(-PAST[0]!);
await collection.crawl(demo.seeds, { scope });
for (const [at, day] of PAST.slice(1).entries()) {
  collection.pass(PAST[at]! - day);
  demo.tick();
  await collection.refresh({ scope, budget: '100%' });
}
const opened = await openHome(chosen(collection.directory, { scope, pace: 0.08, threads: 4 }), web.seeds, {});
const attended = await attend(opened, {
  ...{ command: 'crawl', data: collection.directory, scope, keep: '', workbench: PORT },
});
const running = opened.run(crawlSupply(opened, 0));
await new Promise(resolve => setTimeout(resolve, 20_000));
const token = attended.workbench!;
const changed = 1;
for (const scheme of ['light', 'dark'] as const) await shootAll(token, scheme, changed);
opened.home.stop();
await running;
await attended.leave();
await attended.closeWorkbench();
await opened.close();
await demo.close();
