/** The library over a collection of several partitions. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { open } from '../../src/engine/library/skein.ts';
import { fast, skein as run, workplace } from '../journeys/skein.ts';
import { splitCollection } from '../questions/split.ts';
import { openWeb, type Web } from '../web/web.ts';

const place = workplace();
const [one, four] = [join(place.path, 'one'), join(place.path, 'four')];
let web: Web;

before(async () => {
  web = await openWeb({ servers: 5, pagesPerServer: 8 });
  const ran = await run(['crawl', ...web.origins, '--data', one, ...fast]);
  assert.equal(ran.code, 0, ran.stderr);
  splitCollection(one, four, 4);
});
after(async () => {
  await web.close();
  place[Symbol.dispose]();
});

test('pages, changes and searches are those of one partition', async () => {
  await using whole = await open({ data: one });
  await using parts = await open({ data: four });
  for (const origin of web.origins) {
    const [page, part] = [whole.page(`${origin}/`)!, parts.page(`${origin}/`)!];
    assert.equal(await part.html(), await page.html());
    assert.deepEqual(part.links(), page.links());
    assert.equal(part.time, page.time);
  }
  assert.equal(parts.page('http://127.0.0.1:1/'), undefined);
  const urls = (changes: readonly { url: string }[]) => changes.map(({ url }) => url).sort();
  assert.deepEqual(urls(parts.changes({ first: true })), urls(whole.changes({ first: true })));
  assert.equal(parts.changes({ first: true, limit: 3 }).length, 3);
  const [found, twice] = await Promise.all([parts.search('type:html'), parts.search('type:html')]);
  assert.equal(found.total, (await whole.search('type:html')).total);
  assert.deepEqual(urls(twice.hits), urls(found.hits));
});
