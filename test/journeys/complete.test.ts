/** A crawl of the whole synthetic web ends with exactly what is true of it, page by page and reason by reason. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { FLAG_NOARCHIVE, FLAG_NOFOLLOW, FLAG_NOINDEX } from '../../src/ledger/pages/known-row.ts';
import { charsetTexts } from '../web/features/copies.ts';
import { FEATURES, openWeb, type Truth, type Web } from '../web/web.ts';
import { collected, crawlHere, fast, lookInto, type PageLine, pagesOf, skeinJson, workplace } from './skein.ts';

interface Shown {
  readonly state: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly visits: readonly { outcome: string; reason: string }[];
}

/** How far a crawl goes into these is its own choice. */
const TRAPS = /^\/(calendar|deep|session|filter|shop)\b|^\/r\/stairs/;

describe('a crawl of three servers with every feature', () => {
  const place = workplace();
  let web: Web;
  let summary: Record<string, unknown>;
  let pages: Map<string, PageLine>;
  const show = (path: string) => skeinJson<Shown>('show', `${web.origins[0]}${path}`, '--data', place.path);
  const one = (path: string) => pages.get(`${web.origins[0]}${path}`);

  before(async () => {
    web = await openWeb({ seed: 7, servers: 3, pagesPerServer: 30, features: FEATURES });
    summary = await skeinJson('crawl', ...web.seeds, '--data', place.path, ...fast, '--scope', '*');
    pages = await pagesOf(place.path);
  });
  after(async () => {
    await web.close();
    place[Symbol.dispose]();
  });

  test('finds every page that links or sitemaps lead to, and no other', () => {
    const sitemaps = web.truth().filter(({ path }) => path.startsWith('/sitemap') && path !== '/sitemap-old.xml');
    // A page that fails at every other request is collected at the second try, which is not due yet.
    const expected = [...web.mustFind(), ...sitemaps.map(({ url }) => url)].filter(url => !url.endsWith('/e/flapping'));
    const found = collected(pages).filter(url => !TRAPS.test(new URL(url).pathname));
    assert.deepEqual(found, expected.sort());
  });

  test('asks for each URL once', () => {
    const asked = web.log.map(({ url }) => url);
    assert.deepEqual(
      asked.filter((url, index) => asked.indexOf(url) !== index),
      [],
    );
  });

  test('gives every URL the outcome and the reason that is true of it', () => {
    const wrong = web
      .truth()
      .filter(({ found, path }) => found === 'links' && path !== '/e/flapping')
      .map(truth => ({ truth, page: pages.get(truth.url) }))
      .filter(({ truth, page }) => !agrees(truth, page))
      .map(({ truth, page }) => `${truth.path}: ${truth.expect} ${truth.reason}, not ${page?.outcome} ${page?.reason}`);
    assert.deepEqual(wrong, []);
  });

  test('never asks for what robots.txt or nofollow forbids', () => {
    const forbidden = web.truth().filter(({ expect, found }) => expect === 'refused' || found === 'nofollow');
    assert.ok(forbidden.length >= 20);
    assert.deepEqual(
      forbidden.filter(({ url }) => web.requests(url) > 0).map(({ url }) => url),
      [],
    );
    for (const { url, found } of forbidden) {
      assert.equal(pages.get(url)?.outcome, 'refused');
      assert.equal(pages.get(url)?.reason, found === 'nofollow' ? 'nofollow' : 'robots');
    }
  });

  test('leaves traps, and says why', () => {
    const inside = [...pages.values()].filter(({ url }) => TRAPS.test(new URL(url).pathname));
    const reasons = new Set(inside.filter(({ outcome }) => outcome === 'refused').map(({ reason }) => reason));
    assert.ok(reasons.has('near-identical'), [...reasons].join(' '));
    assert.ok(reasons.has('repeated-path'), [...reasons].join(' '));
    assert.ok(web.log.length < 10_000, `${web.log.length} requests`);
    // The ids of sessions are folded: two rooms, two pages.
    const rooms = inside.filter(({ url }) => url.includes('/session/')).map(({ url }) => url);
    assert.equal(rooms.length, 2 * web.origins.length, rooms.join(' '));
  });

  test('keeps aliases, and ends stairs of redirects without end', async () => {
    const moved = await show('/r/301');
    assert.equal(moved.details['movedTo'], `${web.origins[0]}/p/29.html`);
    const stairs = [...pages.values()].filter(({ url }) => url.includes('/r/stairs'));
    assert.ok(stairs.some(({ outcome, reason }) => outcome === 'failed' && reason === 'redirect-loop'));
    assert.equal(web.requests(`${web.origins[0]}/r/stairs?step=20`), 0);
  });

  test('folds the spellings of one URL, and notes the canonical one', async () => {
    assert.equal(web.log.filter(({ url }) => url.startsWith(`${web.origins[0]}/v/page.html`)).length, 1);
    assert.equal(web.requests(`${web.origins[0]}/v/%70age.html`), 0);
    assert.equal((await show('/v/printable.html')).details['canonical'], `${web.origins[0]}/v/page.html`);
  });

  test('notes directives, duplicates and the lastmod of sitemaps', () => {
    using look = lookInto(place.path);
    const known = (path: string) => look.page(`${web.origins[0]}${path}`).known!;
    assert.ok(known('/m/noindex.html').flags & FLAG_NOINDEX);
    assert.ok(known('/m/header-noindex.html').flags & FLAG_NOARCHIVE);
    assert.ok(known('/m/noarchive.html').flags & FLAG_NOARCHIVE);
    assert.equal(known('/m/noarchive.html').segment, null);
    assert.ok(known('/m/none.html').flags & FLAG_NOFOLLOW);
    const copies = ['/d/exact-1.html', '/d/exact-2.html'].filter(path => known(path).same_as !== null);
    assert.equal(copies.length, 1);
    const near = ['/d/near-1.html', '/d/near-2.html', '/d/near-3.html'].filter(path => known(path).near !== null);
    assert.equal(near.length, 2);
    for (const number of [1, 2, 3, 4]) {
      assert.ok(Number(look.page(`${web.origins[0]}/s/${number}.html`).page.lastmod) > 0, `lastmod of ${number}`);
    }
  });

  test('reads every charset', () => {
    using look = lookInto(place.path);
    for (const [path, text] of charsetTexts) {
      const name = path.slice(3, -5);
      assert.equal(one(path)?.title, name);
      assert.ok(new TextDecoder(name).decode(look.body(`${web.origins[0]}${path}`)).includes(text), path);
    }
  });

  test('tries a failure again when its time has come, and not before', async () => {
    const path = '/e/flapping';
    assert.match((await show(path)).state, /^Checked .* ago, failed \(http-5xx\).* Retry in/);
    const requests = web.requests();
    await crawlHere({ data: place.path, scope: '*' }, []);
    assert.equal(web.requests(), requests, 'nothing is due');
    const clockShift = new SharedArrayBuffer(8);
    new Float64Array(clockShift)[0] = 11 * 60_000;
    await crawlHere({ data: place.path, scope: '*' }, [], { clockShift });
    assert.deepEqual(
      (await show(path)).visits.map(({ outcome }) => outcome),
      ['failed', 'fetched'],
    );
  });

  test('ends with books that agree', async () => {
    const report = await skeinJson('verify', '--data', place.path);
    assert.deepEqual(report['problems'], []);
    assert.ok(Number(report['copies']) > 100);
    const outcomes = ['fetched', 'same', 'moved', 'gone', 'refused', 'failed'].map(name => Number(summary[name]));
    assert.ok(outcomes.every(Number.isInteger));
    const sitemaps = web.log.filter(({ url, status }) => url.includes('/sitemap') && status === 200);
    assert.equal(summary['pages'], outcomes[0]! + outcomes[1]! - sitemaps.length);
    assert.equal(summary['sitemaps'], sitemaps.length);
    for (const name of ['bytes', 'seconds']) assert.ok(Number(summary[name]) > 0, name);
  });
});

function agrees(truth: Truth, page: PageLine | undefined): boolean {
  const outcome = page?.outcome === 'fetched' ? 'page' : page?.outcome;
  return outcome === truth.expect && (truth.reason === undefined || truth.reason === page?.reason);
}
