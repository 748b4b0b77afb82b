/** The public port: what it answers, what it keeps to itself, and who is held back. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { askCollection } from '../../src/engine/open-collection.ts';
import { sectionsAbout } from '../../src/serve/sections.ts';
import { openServe, type Served, type ServeOptions } from '../../src/serve/serve.ts';
import { widget } from '../../src/serve/widget.ts';
import { type Collection, makeCollection } from '../journeys/collection.ts';
import { noBrowser, openBrowser } from '../workbench/browser.ts';

const paragraph = (text: string) => `<p>${`${text} `.repeat(6)}</p>`;
const documents: Readonly<Record<string, string>> = {
  '/': '<title>Docs</title><h1>Docs</h1><a href="/guide/install.html">Install</a> <a href="/guide/tides.html">Tides</a> <a href="/news/herring.html">News</a> <a href="/secret.html">x</a>',
  '/guide/install.html': `<title>Install</title><main><h1 id="top">Install</h1>${paragraph('Fetch the package and unpack it.')}<h2 id="debian">On Debian</h2>${paragraph('The database needs postgres packages on Debian.')}<h2 id="macos">On macOS</h2>${paragraph('Homebrew brings the package.')}</main>`,
  '/guide/tides.html': `<title>Tides &lt;img src=x onerror=alert(1)&gt;</title><main><h1 id="tides">Tides</h1>${paragraph('The tide table says when ships leave the harbour.')}</main>`,
  '/news/herring.html': `<title>Herring</title><main><h1>Herring</h1>${paragraph('Herring arrive two days early at the harbour.')}</main>`,
  '/secret.html': `<title>Secret</title><meta name="robots" content="noindex"><main>${paragraph('harbour secret words')}</main>`,
};

let collection: Collection;
let site: ReturnType<typeof createServer>;
let origin: string;
let served: Served;

const options = (more: Partial<ServeOptions> = {}): ServeOptions => ({
  ...{ host: '127.0.0.1', port: 0, origins: ['https://docs.example.org'] },
  ...{ limit: { rate: 1000, burst: 1000 }, behindProxy: false },
  synonyms: new Map([
    ['ocean level', ['tide']],
    ['tide', ['ocean level']],
  ]),
  pins: new Map([['harbour', [`${origin}/guide/install.html`]]]),
  ...more,
});
const open = async (more: Partial<ServeOptions> = {}) => openServe(options(more), askCollection(collection.directory));

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field
const get = async (path: string, at = served): Promise<any> => (await fetch(new URL(path, at.address))).json();

before(async () => {
  site = createServer((request, response) => {
    const body = documents[request.url ?? ''];
    response.writeHead(body ? 200 : 404, { 'content-type': 'text/html' }).end(body ?? 'no');
  });
  await new Promise<void>(resolve => site.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  collection = makeCollection();
  await collection.crawl([`${origin}/`]);
  served = await open();
});

after(async () => {
  await served.close();
  site.close();
  collection[Symbol.dispose]();
});

test('results lead to the section that the question is about', async () => {
  const { hits } = await get('/search?q=postgres+debian');
  assert.equal(hits[0].url, `${origin}/guide/install.html`);
  assert.deepEqual(
    hits[0].sections.map((each: { anchor: string; heading: string }) => [each.anchor, each.heading]),
    [['debian', 'On Debian']],
  );
  assert.ok(
    hits[0].sections[0].snippet.some((each: { text: string; hit: boolean }) => each.hit && each.text === 'postgres'),
  );
});

test('what a section says is cut between words, and says where it is cut', () => {
  const text = `${'The harbour is closed. '.repeat(8)}Ships wait for the tide. ${'They leave at dawn together. '.repeat(8)}`;
  const [section] = sectionsAbout([{ anchor: 'a', heading: 'Ships', text }], ['tide']);
  const shown = section!.snippet.map(each => each.text).join('');
  assert.match(shown, /^… .*tide.* …$/);
  const words = new Set(text.match(/\w+/g));
  assert.deepEqual(
    shown.match(/\w+/g)!.filter(word => !words.has(word)),
    [],
  );
});

test('a pinned page comes first, once; what says noindex never comes', async () => {
  const { hits, facets } = await get('/search?q=Harbour');
  const urls = hits.map(({ url }: { url: string }) => new URL(url).pathname);
  assert.deepEqual(urls.toSorted(), ['/guide/install.html', '/guide/tides.html', '/news/herring.html']);
  assert.equal(urls[0], '/guide/install.html');
  const sections = facets.find(({ name }: { name: string }) => name === 'section');
  assert.deepEqual(
    sections.values.map(({ label, pages }: { label: string; pages: number }) => [label, pages]),
    [
      ['guide', 1],
      ['news', 1],
    ],
  );
  const filtered = await get(`/search?q=${encodeURIComponent(`harbour ${sections.values[1].filter}`)}`);
  assert.deepEqual(
    filtered.hits.map(({ url }: { url: string }) => new URL(url).pathname),
    ['/news/herring.html'],
  );
});

test('synonyms find what other words say, and half a word suggests', async () => {
  const { hits } = await get('/search?q=ocean+level');
  assert.equal(hits[0]?.url, `${origin}/guide/tides.html`);
  const { suggestions } = await get('/suggest?q=herr');
  assert.equal(suggestions[0].url, `${origin}/news/herring.html`);
});

test('nothing but search is there, and nothing from inside leaves', async () => {
  for (const path of ['/api/v1/status', '/metrics', '/copy/1', '/../ledger.db'])
    assert.equal((await fetch(new URL(path, served.address))).status, 404, path);
  assert.equal((await fetch(new URL('/search?q=x', served.address), { method: 'POST' })).status, 404);
  const { hits } = await get('/search?q=herring');
  assert.deepEqual(Object.keys(hits[0]).toSorted(), [
    'alike',
    'changed',
    'language',
    'pinned',
    'sections',
    'snippet',
    'title',
    'type',
    'url',
  ]);
});

test('only the sites that were named may ask from a browser', async () => {
  const allowed = async (from: string) =>
    (await fetch(new URL('/search?q=tide', served.address), { headers: { origin: from } })).headers.get(
      'access-control-allow-origin',
    );
  assert.equal(await allowed('https://docs.example.org'), 'https://docs.example.org');
  assert.equal(await allowed('https://evil.example'), null);
});

test('bad questions get a sentence, and those of many a moment of patience', async () => {
  for (const path of ['/search', `/search?q=${'x'.repeat(300)}`, '/search?q=a&limit=99', '/search?q=changed:<soon']) {
    const answer = await fetch(new URL(path, served.address));
    assert.equal(answer.status, 400, path);
    assert.match(((await answer.json()) as { error: string }).error, /\.$/);
  }
  const slow = await open({ limit: { rate: 0.01, burst: 2 }, behindProxy: true });
  try {
    const ask = (client: string) =>
      fetch(new URL('/suggest?q=tide', slow.address), { headers: { 'x-forwarded-for': `203.0.113.9, ${client}` } });
    const statuses: number[] = [];
    for (const client of ['a', 'a', 'a', 'b']) statuses.push((await ask(client)).status);
    assert.deepEqual(statuses, [200, 200, 429, 200]);
  } finally {
    await slow.close();
  }
});

test('the search box is small, works by keyboard and on a phone, and takes titles for text', {
  skip: noBrowser,
}, async () => {
  assert.ok(Buffer.byteLength(widget()) <= 15_000);
  for (const width of [1200, 360]) {
    await using browser = await openBrowser({ width, height: 740 });
    const page = await browser.context.newPage();
    const problems: string[] = [];
    page.on('pageerror', error => problems.push(error.message));
    page.on('dialog', dialog => problems.push(dialog.message()));
    await page.goto(served.address);
    await page.locator('skein-search').getByRole('button').waitFor();
    await page.evaluate("document.body.append(document.querySelector('skein-search'))");
    await page.keyboard.press('/');
    await page.keyboard.type('tide');
    const option = page.getByRole('option');
    await option.first().waitFor();
    assert.match(await option.first().innerText(), /Tides <img src=x onerror=alert\(1\)>/);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.keyboard.press('/');
    await page.keyboard.press('ArrowDown');
    assert.match(await page.getByRole('option', { selected: true }).innerText(), /Tides/);
    assert.equal(await page.getByRole('combobox').getAttribute('aria-activedescendant'), 'r1');
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${origin}/guide/tides.html#tides`);
    assert.deepEqual(problems, []);
  }
});

test('the search box goes out of the way of a result on the same page', { skip: noBrowser }, async () => {
  await using browser = await openBrowser({ width: 1200, height: 740 });
  const page = await browser.context.newPage();
  await page.goto(served.address);
  await page.locator('skein-search').getByRole('button').click();
  await page.keyboard.type('tide');
  await page.getByRole('option').first().waitFor();
  await page.evaluate(
    "document.querySelector('skein-search').shadowRoot.querySelector('.results').addEventListener('click', event => event.preventDefault())",
  );
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
});

test('Enter opens what was typed, not what was found for the letters before it', { skip: noBrowser }, async () => {
  await using browser = await openBrowser({ width: 1200, height: 740 });
  const page = await browser.context.newPage();
  await page.goto(served.address);
  await page.evaluate("document.body.style.cssText = 'text-align:center;text-transform:uppercase'");
  await page.locator('skein-search').getByRole('button').click();
  await page.keyboard.type('herring');
  await page.getByRole('option').first().waitFor();
  assert.equal(
    await page.evaluate(
      "[getComputedStyle(document.querySelector('skein-search').shadowRoot.querySelector('[role=option]'))].map(each => each.textAlign + ',' + each.textTransform).join()",
    ),
    'start,none',
    'the page around it says nothing of its text',
  );
  let late = () => {};
  await page.route('**/search?*', async route => {
    await new Promise<void>(resolve => {
      late = resolve;
    });
    await route.continue();
  });
  await page.getByRole('combobox').fill('tide');
  await page.keyboard.press('Enter');
  const asked = page.waitForRequest('**/search?*');
  await asked;
  await page.keyboard.press('Enter');
  late();
  await page.waitForURL(`${origin}/guide/tides.html`);
});
