/**
 * kill -9 at twenty moments of a crawl, from the first milliseconds of the process to the last pages. Whatever the
 * ledger had committed is never asked for again; whatever it had not is; and the end is that of a crawl left alone.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openLedger } from '../../src/engine/open-ledger.ts';
import { readCollection } from '../../src/ledger/collection/collection.ts';
import { randomly } from '../random.ts';
import { openWeb, type Web } from '../web/web.ts';
import { checkBooks, killAt, pause } from './kills.ts';
import { collected, crawlHere, fast, type PageLine, pagesOf, skein, skeinJson, workplace } from './skein.ts';

const KILLS = 20;

test('a crawl that is killed twenty times ends like one that is not', async t => {
  await using web = await openWeb({
    ...{ seed: 3, servers: 4, pagesPerServer: 120, latency: 80 },
    features: ['redirects', 'robots', 'directives', 'sitemaps', 'duplicates'],
  });
  using place = workplace();
  const random = randomly(20);
  const crawl = ['crawl', ...web.seeds, '--data', place.path, ...fast, '--connections', '2', '--scope', '*'];
  const settled = new Map<string, number>();
  let early = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    // Every fifth dies while it still starts or restores, the others after some more requests.
    const moment = kill % 5 === 4 ? pause(random.below(400)) : web.hold(1 + random.below(72));
    if (!(await killAt(moment, crawl))) early++;
    web.release();
    await checkBooks(place.path, `after kill ${kill + 1}`);
    remember(web, place.path, settled);
  }
  assert.equal(early, 0, 'every process was alive when it was killed');
  assert.ok(settled.size > KILLS, `only ${settled.size} pages were committed by processes that were killed`);
  const { code, stderr } = await skein([...crawl, '--json']);
  assert.equal(code, 0, stderr);
  await checkBooks(place.path, 'at the end');

  const again = [...settled].filter(([url, before]) => web.requests(url) !== before).map(([url]) => url);
  assert.deepEqual(again, [], 'nothing that was committed is asked for again');
  const pages = await pagesOf(place.path);
  const sitemaps = web.truth().filter(({ path }) => path.startsWith('/sitemap') && path !== '/sitemap-old.xml');
  assert.deepEqual(collected(pages), [...web.mustFind(), ...sitemaps.map(({ url }) => url)].sort());
  const total = web.requests();
  using other = workplace();
  await crawlHere({ data: other.path, scope: '*', connections: 2 }, web.seeds);
  assert.deepEqual(outcomes(pages), outcomes(await pagesOf(other.path)));
  const alone = web.requests() - total;
  t.diagnostic(`${total} requests with ${KILLS} kills, ${alone} without; ${settled.size} pages settled by the killed`);
  assert.deepEqual((await skeinJson('verify', '--data', place.path))['problems'], []);
});

/** Notes how often each page that the ledger has settled was asked for. */
function remember(web: Web, data: string, settled: Map<string, number>): void {
  for (const { directory } of readCollection(data).here) {
    let rows: { url: string }[];
    try {
      const ledger = openLedger(directory);
      rows = ledger['database'].prepare('SELECT p.url FROM known k JOIN pages p ON p.id = k.page').all() as typeof rows;
      ledger.close();
    } catch {
      continue; // it died before there was a table
    }
    for (const { url } of rows) if (!settled.has(url)) settled.set(url, web.requests(url));
  }
}

function outcomes(pages: ReadonlyMap<string, PageLine>): string[] {
  return [...pages.values()].map(({ url, outcome, reason }) => `${url} ${outcome} ${reason}`).sort();
}
