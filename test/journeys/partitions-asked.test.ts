/** What people ask of sixteen partitions, and say to them, has the same answers and effects as with one. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { HomeState, Obeyed } from '../../src/home/control.ts';
import { openWeb, type Web } from '../web/web.ts';
import { toldBy } from './all-partitions.ts';
import { collected, crawlHere, fast, pagesOf, skein, skeinJson, start, workplace } from './skein.ts';

const SIXTEEN = ['--set', 'partitions=16'];

/**
 * What differs from run to run: times, numbers of rows, places in files. `kind`: equal bodies are kept once in each
 * partition, so that more of them are responses where there are several.
 */
const fleeting = new Set([
  ...['time', 'found', 'due', 'id', 'page', 'server', 'file', 'offset', 'changed', 'depth', 'parent', 'kind'],
]);

/** An answer as lines of JSON, sorted, without what is fleeting. */
async function lines(data: string, ...words: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await skein([...words, '--data', data]);
  assert.equal(code, 0, `${words.join(' ')}: ${stderr}`);
  const lasting = (name: string, value: unknown) => {
    // Who links to a page stands in the order in which it was found, which time decides.
    if (name === 'in') return (value as { url: string }[]).toSorted((a, b) => (a.url < b.url ? -1 : 1));
    return fleeting.has(name) ? undefined : value;
  };
  const rows = stdout.toString().trimEnd().split('\n').filter(Boolean);
  return rows.map(row => JSON.stringify(JSON.parse(row), lasting)).sort();
}

async function both(web: Web, ask: (data: string) => Promise<unknown>): Promise<void> {
  using one = workplace();
  using many = workplace();
  await crawlHere({ data: one.path, scope: '*' }, web.seeds);
  await crawlHere({ data: many.path, scope: '*', set: ['partitions=16'] }, web.seeds);
  assert.deepEqual(await ask(many.path), await ask(one.path));
}

test('lists, search, links, checks and exports say the same', async () => {
  await using web = await openWeb({ seed: 41, servers: 6, pagesPerServer: 6, features: ['redirects'] });
  const [page] = web.seeds;
  await both(web, async data => {
    const search = await skeinJson<{ hits: { url: string }[] }>('search', 'the', '--limit', '50', '--data', data);
    const { problems, copies } = await skeinJson<Record<string, unknown>>('verify', '--data', data);
    const { known, stored, servers, outcomes } = await skeinJson<Record<string, unknown>>('status', '--data', data);
    const { causes } = await skeinJson<Record<string, unknown>>('account', '--data', data);
    assert.deepEqual(problems, []);
    assert.ok(search.hits.length > 5);
    return {
      ...{ copies, known, stored, servers, outcomes, causes },
      found: search.hits.map(({ url }) => url).sort(),
      pages: await lines(data, 'pages', '--json', '--limit', '1000'),
      seeds: await lines(data, 'seeds', '--json'),
      links: await lines(data, 'links', page!, '--json'),
      news: await lines(data, 'changes', '--new', '--json', '--limit', '1000'),
      exported: await lines(data, 'export', '--format', 'jsonl'),
    };
  });
});

test('a notice, a rule and a seed that is taken back reach the partition that they are about', async () => {
  await using web = await openWeb({ seed: 42, servers: 5, pagesPerServer: 12 });
  const seeds = web.origins.slice(0, 3).map(origin => `${origin}/`);
  using place = workplace();
  const data = place.path;
  const crawl = (...more: string[]) => skeinJson('crawl', '--data', data, ...fast, ...more);
  await crawl(...seeds, ...SIXTEEN, '--max-pages', '12');
  const before = collected(await pagesOf(data));
  const notices = await lines(data, 'ping', ...before.slice(0, 7), '--json');
  assert.deepEqual(notices.map(line => (JSON.parse(line) as { url: string }).url).sort(), before.slice(0, 7).sort());
  assert.equal((await skein(['ping', 'http://nobody.test/', '--data', data])).code, 3);
  await skeinJson('notify', 'add', 'all', '--feed', join(data, 'all.atom'), '--data', data);

  const { stdout } = await skein(['seeds', 'remove', seeds[1]!, '--data', data]);
  assert.match(stdout.toString(), /; 2 seeds left\./);
  assert.equal((await skein(['seeds', 'remove', seeds[1]!, '--data', data])).code, 3, 'it is no seed any more');
  assert.equal((await lines(data, 'seeds', '--json')).length, 2);
  const { origin } = new URL(seeds[1]!);
  const there = () => [...toldBy(data)].filter(([url]) => url.startsWith(origin));
  const visited = () => there().filter(([, { outcome }]) => outcome !== null).length;
  const earlier = visited();
  assert.ok(earlier < 12, 'some of it was still to come');
  // Without a scope the hosts of the seeds are the crawl: this one has left it.
  await crawl('--max-pages', '1000');
  assert.equal(visited(), earlier);
  const waiting = there().filter(([, { outcome, refused }]) => outcome === null && refused === null);
  assert.deepEqual(waiting, []);
});

test('a crawl in sixteen partitions is paused, steered and stopped as one', async () => {
  await using web = await openWeb({ seed: 43, servers: 4, pagesPerServer: 60 });
  using place = workplace();
  const data = join(place.path, 'data');
  const steer = (...words: string[]) => skeinJson<Obeyed>('steer', ...words, '--data', data);
  const options = ['--data', data, '--allow-private', '--pace', '0.3', ...SIXTEEN, '--json'];
  const crawl = start(['crawl', ...web.seeds, ...options]);
  while (web.requests() < 6) await new Promise(resolve => setTimeout(resolve, 50));
  assert.equal((await steer('pause')).state.state, 'paused');
  const running = async () => (await skeinJson<{ running: HomeState | null }>('status', '--data', data)).running;
  while ((await running())?.underWay !== 0) await new Promise(resolve => setTimeout(resolve, 50));
  const asked = web.requests();
  assert.equal((await steer('scope', '*')).state.settings.scope, '*');
  assert.match((await steer('add', `${web.origins[3]}/p/9.html`)).done, /^1 added/);
  assert.match((await steer('server', web.origins[2]!, 'exclude')).done, /is excluded/);
  assert.equal(web.requests(), asked, 'nothing is asked for while it is paused');
  assert.equal((await steer('pace', '0')).state.settings.pace, 0);
  assert.equal((await steer('resume')).state.state, 'working');
  const ended = await crawl.ended;
  assert.equal(ended.code, 0, ended.stderr);
  const pages = collected(await pagesOf(data));
  assert.ok(pages.includes(`${web.origins[3]}/p/9.html`));
  const wanted = web.mustFind().filter(url => url.startsWith(web.origins[0]!));
  assert.deepEqual(
    wanted.filter(url => !pages.includes(url)),
    [],
  );
});
