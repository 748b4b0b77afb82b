/** The library as a program uses it: pages that come while a crawl goes on, several collections, and ends in good order. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { type DemoWeb, openDemoWeb } from '../../src/cli/demo-web.ts';
import { type CrawledPage, type EngineOptions, open, type Skein } from '../../src/engine/library/skein.ts';
import { root, workplace } from '../journeys/skein.ts';

let web: DemoWeb;
const place = workplace();
before(async () => {
  web = await openDemoWeb();
});
after(async () => {
  await web.close();
  place[Symbol.dispose]();
});

const options = (name: string, more: Partial<EngineOptions> = {}): EngineOptions => ({
  ...{ data: join(place.path, name), pace: 0, connections: 4, threads: 1, allowPrivate: true },
  scope: web.sites.map(site => new URL(site.origin).host),
  ...more,
});

async function collected(skein: Skein, seeds: readonly string[]): Promise<CrawledPage[]> {
  const pages: CrawledPage[] = [];
  for await (const page of skein.crawl(seeds)) pages.push(page);
  return pages;
}

test('every page that a crawl visits comes once, and can be read', async () => {
  const skein = await open(options('read'));
  const pages = await collected(skein, web.seeds);
  assert.ok(pages.length > 20, String(pages.length));
  assert.equal(new Set(pages.map(page => page.visit)).size, pages.length);
  const page = pages.find(each => each.outcome === 'fetched' && each.links().length > 3)!;
  assert.match((await page.html())!, /<html/i);
  assert.ok((await page.text())!.length > 20);
  assert.ok(page.links().every(link => URL.canParse(link.url)));
  assert.equal(await skein.page(page.url)!.html(), await page.html());
  assert.equal(skein.page(`${web.sites[0]!.origin}/never-there`), undefined);
  await skein.close();
});

test('a crawl gives its summary without its pages; then search, refresh and changes work on it', async () => {
  const skein = await open(options('whole'));
  const summary = await skein.crawl(web.seeds).summary();
  assert.ok(summary.fetched > 10 && !summary.interrupted);
  assert.deepEqual(skein.changes(), []);
  const { hits } = await skein.search('tide');
  assert.ok(hits.length > 0);
  web.tick();
  const looked: string[] = [];
  const round = skein.refresh({ budget: { share: 1 }, secondLook: 0 });
  for await (const page of round) looked.push(page.url);
  const again = await round.summary();
  assert.ok(looked.length > 10);
  assert.equal(skein.changes().filter(change => change.kind === 'changed').length, again.changed + again.images);
  await skein.close();
});

test('two collections are crawled at once in one process', async () => {
  const [one, two] = await Promise.all([open(options('one')), open(options('two'))]);
  const [first, second] = await Promise.all([collected(one, web.seeds), collected(two, web.seeds)]);
  const urls = (pages: readonly CrawledPage[]) => pages.map(page => page.url).sort();
  assert.deepEqual(urls(first), urls(second));
  await Promise.all([one.close(), two.close()]);
});

test('whoever leaves the loop stops the crawl, and a later one goes on with it', async () => {
  const skein = await open(options('left', { pace: 0.05 }));
  let seen = 0;
  for await (const _ of skein.crawl(web.seeds)) if (++seen === 3) break;
  const rest = await skein.crawl([], { pace: 0 }).summary();
  assert.ok(rest.fetched > 10 && rest.waiting === 0, JSON.stringify(rest));
  await skein.close();
});

test('a signal ends a crawl in good order and is thrown; close() ends it without', async () => {
  const stop = new AbortController();
  const stopped = await open(options('signal', { pace: 0.05, signal: stop.signal }));
  const reason = new Error('enough');
  await assert.rejects(
    async () => {
      for await (const _ of stopped.crawl(web.seeds)) stop.abort(reason);
    },
    error => error === reason,
  );
  await stopped.close();
  const skein = await open(options('signal', { pace: 0.05 }));
  const running = skein.crawl().summary();
  await skein.close();
  assert.ok((await running).interrupted);
  assert.throws(() => skein.crawl(web.seeds), { code: 'refused' });
});

test('mistakes are told in a sentence, and make no collection', async () => {
  await assert.rejects(open({ data: '' }), { code: 'bad-option', message: 'A collection needs a directory.' });
  const skein = await open(options('none'));
  assert.throws(() => skein.crawl('not a url at all'), { code: 'bad-seed' });
  await assert.rejects(skein.crawl().summary(), { code: 'not-found' });
  await assert.rejects(skein.crawl(web.seeds, { bodyBytes: 0 }).summary(), { code: 'bad-option' });
  assert.throws(() => skein.changes(), { code: 'not-found' });
  await skein.close();
});

test('threads keep what they compiled, and the process of a program keeps nothing; one that wants neither has neither', async () => {
  const library = join(root, 'src', 'engine', 'library', 'skein.ts');
  const kept = async (name: string, tuned: boolean): Promise<number> => {
    const program = `const { open } = await import(${JSON.stringify(library)});
const skein = await open({ ...${JSON.stringify(options(name, { maxPages: 10 }))}, tuned: ${tuned} });
const { fetched } = await skein.crawl(${JSON.stringify(web.seeds)}).summary();
await skein.close();
const { getCompileCacheDir } = await import('node:module');
console.log(fetched > 5, getCompileCacheDir());`;
    const cache = join(place.path, `${name}-cache`);
    const env: NodeJS.ProcessEnv = { ...process.env, XDG_CACHE_HOME: cache };
    delete env['NODE_COMPILE_CACHE'];
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { env });
    assert.equal(stdout, 'true undefined\n');
    return existsSync(cache) ? readdirSync(cache, { recursive: true }).length : 0;
  };
  assert.ok((await kept('tuned', true)) > 10);
  assert.equal(await kept('left-alone', false), 0);
});
