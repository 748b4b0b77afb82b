/** A collection of sixteen partitions ends like one of a single one: the same pages, outcomes, depths and counts of links. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Feature } from '../web/options.ts';
import { openWeb } from '../web/web.ts';
import { partitionsUsed, type Told, toldBy } from './all-partitions.ts';
import { crawlHere, fast, skein, workplace } from './skein.ts';

const features = [
  ...['redirects', 'errors', 'soft-404', 'robots', 'directives', 'sitemaps', 'duplicates', 'charsets', 'variants'],
] as Feature[];

/** Answers every other request with an error, whoever asks. */
const FLAPPING = '/e/flapping';

/** What does not depend on which server answers first; depths are kept exact only where a limit makes them matter. */
function lasting(all: ReadonlyMap<string, Told>, depths: boolean): [string, Partial<Told>][] {
  const steady = [...all].filter(([url]) => !url.endsWith(FLAPPING));
  return steady.map(([url, { outcome, reason, status, refused, role, linked, moved, depth }]) => [
    url,
    { outcome, reason, status, refused, role, linked, moved, ...(depths && refused === null && { depth }) },
  ]);
}

/** Crawls with one partition and with sixteen, and compares. */
async function alike(seeds: readonly string[], given: Record<string, unknown>): Promise<Map<string, Told>> {
  using one = workplace();
  using many = workplace();
  const single = await crawlHere({ data: one.path, ...given }, seeds);
  const summary = await crawlHere({ data: many.path, ...given, set: ['partitions=16'] }, seeds);
  const depths = given['depth'] !== undefined;
  assert.deepEqual(lasting(toldBy(many.path), depths), lasting(toldBy(one.path), depths));
  assert.ok(partitionsUsed(many.path) > 1, 'the servers are spread');
  const flapping = (told: ReadonlyMap<string, Told>): number =>
    [...told].filter(([url, { outcome }]) => url.endsWith(FLAPPING) && outcome === 'fetched').length;
  assert.deepEqual(
    [summary.pages - flapping(toldBy(many.path)), summary.known, summary.servers, summary.moved],
    [single.pages - flapping(toldBy(one.path)), single.known, single.servers, single.moved],
  );
  return toldBy(many.path);
}

test('a first crawl over many servers ends alike: redirects, errors, sitemaps, robots, nofollow', async () => {
  await using web = await openWeb({ seed: 14, servers: 8, pagesPerServer: 6, features });
  const told = await alike(web.seeds, { scope: '*' });
  const fetched = [...told].filter(([, { outcome, role }]) => outcome === 'fetched' && role === 0).map(([url]) => url);
  assert.deepEqual(
    web.mustFind().filter(url => !fetched.includes(url)),
    [],
  );
});

test('a limit of depth and the hosts of the seeds bound it alike', async () => {
  await using web = await openWeb({ seed: 15, servers: 6, pagesPerServer: 8, features: ['redirects', 'sitemaps'] });
  await alike([...web.seeds, `${web.origins[3]}/`], {});
  await alike(web.seeds, { scope: '*', depth: 2 });
});

test('so many pages are fetched as may be, over all partitions together', async () => {
  await using web = await openWeb({ seed: 16, servers: 6, pagesPerServer: 20 });
  using many = workplace();
  const summary = await crawlHere({ data: many.path, scope: '*', maxPages: 31, set: ['partitions=16'] }, web.seeds);
  assert.equal(summary.pages, 31);
  const rest = await crawlHere({ data: many.path, scope: '*' }, []);
  assert.equal(summary.pages + rest.pages, web.mustFind().length);
});

test('one partition is the directory as it always was; several have one each; their number is fixed', async () => {
  await using web = await openWeb({ seed: 17, servers: 2, pagesPerServer: 3 });
  using one = workplace();
  await crawlHere({ data: one.path, scope: '*' }, web.seeds);
  assert.deepEqual(readdirSync(one.path).sort(), ['archive', 'ledger.db', 'lock.db']);
  using many = workplace();
  await crawlHere({ data: many.path, scope: '*', set: ['partitions=3'] }, web.seeds);
  assert.deepEqual(readdirSync(many.path).sort(), ['collection.json', 'lock.db', 'partitions']);
  assert.deepEqual(readdirSync(join(many.path, 'partitions')).sort(), ['0000', '0001', '0002']);
  assert.ok(existsSync(join(many.path, 'partitions', '0001', 'ledger.db')));
  const { code, stderr } = await skein(['crawl', '--data', many.path, ...fast, '--set', 'partitions=5']);
  assert.equal(code, 2);
  assert.match(stderr, /made with 3 partitions, which cannot become 5/);
});
