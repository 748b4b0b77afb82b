/**
 * The workbench in a real browser, from the first page of a crawl to the difference between two versions, with a
 * hostile site among those that are crawled.
 */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openHome } from '../../src/cli/options/engine-options.ts';
import { type Attended, attend } from '../../src/cli/services.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { bringUp } from '../../src/home/indexing/indexing.ts';
import { crawlSupply } from '../../src/home/supply.ts';
import { openSearch } from '../../src/search/index.ts';
import { openWorkbench, type Workbench } from '../../src/workbench/server.ts';
import { type Collection, chosen, makeCollection } from '../journeys/collection.ts';
import { put } from '../search/documents.ts';
import { openWeb, type Web } from '../web/web.ts';
import { type Browser, noBrowser, openBrowser } from './browser.ts';
import { farMachine } from './far-machine.ts';
import { type HostileSite, openHostileSite } from './hostile-site.ts';
import { FOCUSED, TOO_FAINT } from './page-checks.ts';

const options = { skip: noBrowser };
const scope = ['*'];
let collection: Collection;
let web: Web;
let hostile: HostileSite;
let opened: Engine;
let attended: Attended;
let running: Promise<void>;
let browser: Browser;
let page: Page;
let later: Workbench | undefined;

before(async () => {
  if (noBrowser) return;
  collection = makeCollection();
  collection.pass(-4);
  hostile = await openHostileSite();
  web = await openWeb({ seed: 3, servers: 2, pagesPerServer: 250, latency: 4, clock: collection.clock, rates: [0, 2] });
  // So slow that it runs until a test makes it quick.
  const values = chosen(collection.directory, { scope, pace: 0.5, connections: 1 });
  opened = await openHome(values, web.seeds, { clockShift: collection.clockShift });
  attended = await attend(opened, { command: 'crawl', data: collection.directory, keep: '', workbench: 0 });
  browser = await openBrowser();
  running = opened.run(crawlSupply(opened, 0));
  page = await browser.context.newPage();
  page.on('dialog', dialog => assert.fail(`a dialog: ${dialog.message()}`));
  await page.goto(attended.workbench!);
});

after(async () => {
  if (noBrowser) return;
  await browser.close();
  await later?.close();
  await web.close();
  await hostile[Symbol.asyncDispose]();
  collection[Symbol.dispose]();
});

const base = () => new URL(later?.address ?? attended.workbench!).origin;
const view = (path: string) => page.goto(`${base()}/#/${path}`);
const tile = async (name: string) => Number((await page.textContent(`[data-tile="${name}"]`))!.replace(/[^\d.]/g, ''));

test('numbers move while a crawl runs', options, async () => {
  assert.equal(new URL(page.url()).search, '', 'the token is not left in the address');
  await page.waitForSelector('h1:has-text("Overview")');
  await page.waitForSelector('h2:has-text("Running now")');
  await view('now');
  await page.waitForSelector('[data-visits] tbody tr:nth-child(3)');
  while ((await tile('pages per second')) === 0) await page.waitForTimeout(50);
  const first = await page.textContent('[data-visits] tbody tr td');
  while ((await page.textContent('[data-visits] tbody tr td')) === first) await page.waitForTimeout(50);
  assert.ok((await tile('queue')) > 0);
  assert.equal(await page.title(), 'Now – Skein');
});

test('machines stand as a tree, and one that vanishes is seen to', options, async () => {
  await view('machines');
  await page.waitForSelector('text=thread-1');
  assert.equal(await page.locator('li li .node').count(), 1);
  const far = farMachine();
  opened.home.dispatch.join(far);
  await page.waitForSelector('li li li .node:has-text("below-2")');
  assert.equal(await page.locator('li li .node').count(), 4);
  opened.home.reception.lost(far, 'it was unplugged');
  await page.waitForSelector('.node.gone:has-text("far-machine")');
  assert.match((await page.textContent('.node.gone'))!, /gone/);
});

test('pause holds the crawl, a seed is added, resume goes on', options, async () => {
  await view('steer');
  await page.click('button:has-text("Pause")');
  await page.waitForSelector('text=Paused: no more');
  await page.waitForSelector('button:has-text("Resume")');
  assert.equal(opened.home.state, 'paused');
  while (!opened.home.dispatch.posts.idle) await new Promise(resolve => setTimeout(resolve, 20));
  const asked = web.requests();
  await page.fill('textarea', `${hostile.origin}/`);
  await page.click('button:has-text("Add")');
  await page.waitForSelector('text=1 added.');
  assert.equal(web.requests(), asked, 'nothing was asked for while it was paused');
  await page.fill('label:has-text("seconds between") input', '1.2.3');
  await page.click('form:has-text("seconds between") button');
  await page.waitForSelector('text=“1.2.3” is not a pace.');
  // A limit below what is done would end the run: it asks first, and nothing happens until it is answered.
  await page.fill('label:has-text("pages in this run") input', '1');
  await page.click('form:has-text("pages in this run") button');
  await page.waitForSelector('dialog >> text=/ends the run now/');
  await page.click('dialog button:has-text("Cancel")');
  await page.click('button:has-text("Stop")');
  await page.waitForSelector('dialog >> text=/wait for a later run/');
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog', { state: 'detached' });
  assert.equal(opened.home.state, 'paused');
  await page.fill('label:has-text("seconds between") input', '0');
  await page.click('form:has-text("seconds between") button');
  await page.waitForSelector('text=Requests to one server are 0 s apart.');
  // On a phone the button is at the bottom and the answer at the top: it is in sight nevertheless.
  await page.setViewportSize({ width: 390, height: 844 });
  await page.fill('label:has-text("scope:") input', '*');
  await page.click('button:has-text("Apply")');
  const answer = page.locator('text=From now on Skein follows links in *');
  await answer.waitFor();
  assert.ok((await page.evaluate<number>('scrollY')) > 100);
  assert.ok((await answer.boundingBox())!.y > 0);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.click('button:has-text("Resume")');
  await page.waitForSelector('text=Resumed.');
  await running;
  assert.ok(web.requests() > asked);
  assert.ok(hostile.asked.includes('/'));
  await attended.leave();
  await attended.closeWorkbench();
  await opened.close();
  later = await openWorkbench({ directory: collection.directory, port: 0, version: 'test' });
  await page.goto(later.address);
});

test('it outlives the run, and says how it ended', options, async () => {
  await page.waitForSelector('h2:has-text("Last run")');
  await page.waitForSelector('text=/crawl ended/');
  assert.equal(await page.locator('text=No connection').count(), 0);
  await view('now');
  await page.waitForSelector('text=Idle.');
  assert.equal(await page.locator('[data-tile="pages per second"]').count(), 0, 'no row of zeros');
});

test('a change appears, and its difference can be opened', options, async () => {
  await view('changes');
  await page.waitForSelector('text=No changes yet');
  collection.pass(3);
  await collection.refresh({ scope, budget: '100%' });
  await page.reload();
  await page.click('td a');
  await page.waitForSelector('[data-difference] ins');
  await page.click('button:has-text("Side by side")');
  // Both are marked, and neither side by itself: the earlier has what went, the later what came.
  const [earlier, later] = ['Earlier', 'Later'].map(name => page.frameLocator(`iframe[title="${name} version"]`));
  await earlier!.locator('del.skein-went').first().waitFor();
  await later!.locator('ins.skein-came').first().waitFor();
  assert.equal(await earlier!.locator('ins.skein-came').count(), 0);
  assert.equal(await later!.locator('h1').count(), 1);
  // The same part of both is in sight, and the next change is marked.
  const scrolled = (at: number) =>
    page.evaluate<number>(`document.querySelectorAll('iframe')[${at}].contentWindow.scrollY`);
  const long = `for (const frame of document.querySelectorAll('iframe')) frame.contentDocument.body.style.paddingBottom = '4000px'`;
  await page.evaluate(long);
  await page.evaluate(`document.querySelectorAll('iframe')[0].contentWindow.scrollTo(0, 900)`);
  while (Math.abs((await scrolled(1)) - (await scrolled(0))) > 100) await page.waitForTimeout(20);
  await page.keyboard.press('n');
  await later!.locator('[data-current]').waitFor();
});

test('whoever goes back finds the row where it was, and arrows go from tab to tab', options, async () => {
  await view('pages?order=found');
  await page.waitForSelector('td a');
  await page.click('button:has-text("More")');
  while ((await page.locator('td a').count()) < 60) await page.waitForTimeout(20);
  const link = page.locator('td a').nth(55);
  await link.scrollIntoViewIfNeeded();
  const place = await page.evaluate<number>('scrollY');
  assert.ok(place > 500);
  await link.click();
  await page.waitForSelector('[role=tablist]');
  await page.focus('[role=tab][aria-selected=true]');
  await page.keyboard.press('ArrowRight');
  await page.waitForSelector('[role=tab]:has-text("versions")[aria-selected=true]');
  await page.goBack();
  await page.goBack();
  await page.waitForSelector('td a');
  while (Math.abs((await page.evaluate<number>('scrollY')) - place) > 40) await page.waitForTimeout(20);
  assert.ok((await page.locator('td a').count()) >= 60);
});

test('lists narrow by type and status, and say how many there are', options, async () => {
  await view('pages?status=404');
  await page.waitForSelector('text=/\\d+ (URL matches|URLs match)/');
  await view('pages?type=text/html');
  await page.waitForSelector('td a');
  const types = await page.locator('tbody tr td:nth-child(3)').allTextContents();
  assert.ok(types.length > 5 && types.every(type => type.startsWith('text/html')));
  await view('servers?order=spent');
  await page.waitForSelector('th[aria-sort=descending]');
});

test('what is searched for is found', options, async () => {
  const index = openSearch(join(collection.directory, 'search.db'));
  await bringUp(collection.directory, index, () => {});
  put(index, [
    {
      ...{
        page: 1,
        url: web.seeds[0]!,
        title: 'Wild <b>geese</b>',
        headings: '',
        anchors: '',
        text: 'The wild geese <script>fly</script>.',
      },
      ...{ language: 'en', mediaType: 'text/html', fetched: Date.now(), changed: Date.now(), importance: 1 },
      ...{ noindex: false, noarchive: false },
    },
  ]);
  index.close();
  await view('search');
  await page.keyboard.press('Escape');
  await page.fill('input[type=search]', 'goose OR geese');
  await page.press('input[type=search]', 'Enter');
  await page.waitForSelector('ol li mark');
  assert.match((await page.textContent('ol li'))!, /Wild <b>geese<\/b>/);
  await page.fill('input[type=search]', 'wild geeze');
  await page.press('input[type=search]', 'Enter');
  await page.waitForSelector('text=Results for wild geese');
  await page.click('ol li a');
  await page.waitForSelector('iframe');
});

test('results that nearly equal a better one are folded, and unfold', options, async () => {
  await view('search?q=goose');
  await page.waitForSelector('ol li');
  const shown = await page.locator('ol li').allTextContents();
  assert.deepEqual(
    shown.map(text => /(\d+) similar page/.exec(text)?.[1]),
    ['1'],
    'the hostile site has the same text at two addresses',
  );
  await page.click('text=1 similar page');
  await page.waitForSelector('ol li:nth-child(2)');
  assert.equal(await page.locator('ol li').count(), 2);
  assert.equal(await page.locator('text=similar page').count(), 0);
  assert.match(page.url(), /q=goose.*unfold=1/);
  await page.goBack();
  await page.waitForSelector('text=1 similar page');
  assert.equal(await page.locator('ol li').count(), 1);
});

const VIEWS = [
  'overview',
  'now',
  'machines',
  'servers?open=1',
  'pages',
  ...['copy', 'versions', 'difference', 'links', 'why'].map(tab => `pages/1/${tab}`),
  'pages/999999',
  'changes',
  'search?q=geese',
  'steer',
  'notify',
];

test('every text can be read in both themes, and nothing hangs out of a phone', options, async () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const path of VIEWS) {
      await view(path);
      await page.waitForSelector('h1');
      await page.waitForTimeout(250);
      assert.deepEqual(await page.evaluate(TOO_FAINT), [], `${path}, ${colorScheme}`);
    }
  }
  for (const width of [390, 768]) {
    await page.setViewportSize({ width, height: 844 });
    for (const path of VIEWS) {
      await view(path);
      await page.waitForSelector('h1');
      await page.waitForTimeout(250);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width, path);
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: 'light' });
});

test('the keyboard is enough', options, async () => {
  await view('now');
  await page.waitForSelector('h1:has-text("Now")');
  await page.keyboard.press('6');
  await page.waitForSelector('h1:has-text("Changes")');
  assert.equal(await page.evaluate('document.activeElement.id'), 'content', 'focus goes with the view');
  await page.keyboard.press('/');
  await page.waitForSelector('input[type=search]:focus');
  await page.keyboard.type('geese');
  await page.keyboard.press('Enter');
  await page.waitForSelector('ol li mark');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  assert.match((await page.evaluate('document.activeElement.className')) as string, /title/);
  await page.keyboard.press('Enter');
  await page.waitForSelector('[role=tablist]');
});

test('the ring of the keyboard is seen wherever it goes, and it goes as one reads', options, async () => {
  for (const path of ['servers?open=1', 'pages', 'changes', 'pages/1/versions']) {
    await view(path);
    await page.reload();
    await page.waitForSelector('main h1');
    await page.waitForTimeout(300);
    let before = { top: -1, left: -1 };
    for (let step = 0; step < 18; step++) {
      await page.keyboard.press('Tab');
      const at = (await page.evaluate(FOCUSED)) as { name: string; ring: boolean; top: number; left: number };
      if (at.name.startsWith('BODY')) break;
      assert.ok(at.ring, `${path}: no ring around ${at.name}`);
      // Down, or to the right in about the same line; the side bar comes before the view.
      const onwards = at.top > before.top - 30 || at.left > before.left;
      assert.ok(onwards, `${path}: back to ${at.name}`);
      before = at;
    }
  }
});

test('hostile pages cannot run, load or leave', options, async () => {
  const asked = hostile.asked.length;
  await view(`pages?find=${encodeURIComponent(hostile.origin)}`);
  await page.waitForSelector('td a');
  const links = await page.locator('td a').evaluateAll(all => all.map(link => link.getAttribute('href')!));
  assert.ok(links.length >= 2);
  let copies = 0;
  for (const link of links) {
    for (const tab of ['copy', 'versions', 'links', 'why', 'difference']) {
      await page.goto(`${base()}/${link}/${tab}`);
      await page.waitForSelector('[role=tabpanel]');
      if (tab === 'copy') {
        await page.waitForSelector('iframe, .empty');
        if ((await page.locator('iframe').count()) === 0) continue;
        const copy = page.frameLocator('iframe');
        await copy.locator('h1').waitFor();
        copies++;
        await copy.getByText('next').last().click();
        if ((await page.locator('summary').count()) > 0) await page.click('summary');
      }
    }
  }
  assert.ok(copies > 0);
  await view('search?q=goose');
  await page.waitForSelector('ol li');
  await page.setViewportSize({ width: 390, height: 844 });
  const about = `pages?find=${encodeURIComponent(hostile.origin)}`;
  for (const path of ['servers', 'now', 'changes?noise=1', 'search?q=goose', about, links[0]!.slice(2)]) {
    await view(path);
    await page.waitForSelector('h1');
    await page.waitForTimeout(250);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, path);
    assert.doesNotMatch(
      await page.innerText('main'),
      /[\u202a-\u202e\u2066-\u2069]/,
      `${path}: nothing is turned about`,
    );
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  for (const frame of page.frames()) {
    // Sandboxed frames run nothing at all, this question included; the top is where a script would have left its mark.
    const mark = await frame.evaluate('window.hacked').catch(() => undefined);
    assert.equal(mark, undefined);
  }
  assert.equal(hostile.asked.length, asked, `it was asked for ${hostile.asked.slice(asked)}`);
  // Also what the page wanted by relative addresses, which would have gone to the workbench itself.
  const own = [base(), new URL(attended.workbench!).origin];
  const lured = browser.requests
    .filter(url => !url.startsWith('data:'))
    .filter(url => !own.some(each => url.startsWith(`${each}/`)) || /^\/(left-by|next)/.test(new URL(url).pathname));
  assert.deepEqual(lured, []);
});

test('the copy by itself, outside its frame, cannot either', options, async () => {
  const found = collection.look(ledger =>
    ledger['database']
      .prepare('SELECT v.id FROM visits v JOIN pages p ON p.id = v.page WHERE p.url = ? AND v.segment IS NOT NULL')
      .get(`${hostile.origin}/`),
  );
  const asked = hostile.asked.length;
  await page.goto(`${base()}/copy/${found!['id']}`);
  assert.match((await page.textContent('h1'))!, /Goose "'><img/);
  assert.equal(await page.locator('script, iframe, form, img, link, [onload], [onerror], [href]').count(), 0);
  assert.equal(hostile.asked.length, asked);
});
