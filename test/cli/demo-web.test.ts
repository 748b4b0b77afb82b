/** The demo's web is whole: no link of it leads astray but those that should, and the tide changes some pages only. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDemoWeb } from '../../src/cli/demo-web.ts';

/** Status and main part of all that can be reached, the calendar only two months deep. */
async function walk(seed: string): Promise<Map<string, { status: number; main: string }>> {
  const seen = new Map<string, { status: number; main: string }>();
  const queue = [seed];
  for (let url = queue.shift(); url !== undefined; url = queue.shift()) {
    if (seen.has(url) || /calendar\/(?!2026\/[12]$)/.test(url)) continue;
    const response = await fetch(url, { redirect: 'manual' });
    const body = await response.text();
    seen.set(url, { status: response.status, main: /<main>.*<\/main>/s.exec(body)?.[0] ?? body });
    const next = [...body.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, href]) => href!);
    queue.push(...[...next, response.headers.get('location') ?? url].map(href => new URL(href, url).href));
  }
  return seen;
}

test('five sites, one seed, and every kind of answer', async t => {
  const web = await openDemoWeb();
  t.after(() => web.close());
  const seen = await walk(web.seeds[0]!);
  const origins = new Set([...seen.keys()].map(url => new URL(url).origin));
  assert.deepEqual([...origins].sort(), web.sites.map(site => site.origin).sort());
  const count = (status: number) => [...seen.values()].filter(answer => answer.status === status).length;
  assert.ok(count(200) >= 35, `${count(200)} pages`);
  assert.deepEqual([count(301), count(302), count(404), count(410), count(500), count(503)], [1, 5, 1, 1, 1, 1]);
});

test('the tide changes some pages and leaves others alone', async t => {
  const web = await openDemoWeb();
  t.after(() => web.close());
  const before = await walk(web.seeds[0]!);
  assert.equal(web.tick(), 1);
  const after = await walk(web.seeds[0]!);
  const changed = [...after]
    .filter(([url, { main }]) => before.get(url)?.main !== main)
    .map(([url]) => new URL(url).pathname);
  assert.ok(changed.includes('/news/today.html') && changed.includes('/pictures/moon.svg'));
  assert.ok(!changed.includes('/moss/silver.html') && !changed.includes('/catalogue.html'));
});
