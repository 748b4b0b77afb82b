/** What the user may choose: how deep, how many, in which order, where, and what is kept. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FLAG_FILTERED } from '../../src/ledger/pages/known-row.ts';
import { openWeb, type Web } from '../web/web.ts';
import { collected, crawlHere, lookInto, pagesOf, workplace } from './skein.ts';

const options = { seed: 8, servers: 2, pagesPerServer: 60, links: 2 };

/** Pages with their distance from the seed, following only what `follow` allows. */
function reach(web: Web, follow: (url: string) => boolean = () => true): Map<string, number> {
  const depths = new Map(web.seeds.map(url => [url, 0]));
  for (const [url, depth] of depths) {
    for (const target of web.page(url)?.content?.links(Date.now()) ?? []) {
      if (!depths.has(target) && follow(target)) depths.set(target, depth + 1);
    }
  }
  return depths;
}

async function crawlFor(web: Web, given: Record<string, unknown>): Promise<string[]> {
  using place = workplace();
  await crawlHere({ data: place.path, scope: '*', ...given }, web.seeds);
  return collected(await pagesOf(place.path));
}

describe('a crawl', () => {
  test('goes exactly as deep as it may, and says so of the rest', async () => {
    await using web = await openWeb(options);
    using place = workplace();
    const depths = reach(web);
    assert.ok(Math.max(...depths.values()) > 3);
    await crawlHere({ data: place.path, scope: '*', depth: 2, connections: 4 }, web.seeds);
    const pages = await pagesOf(place.path);
    const near = [...depths].filter(([, depth]) => depth <= 2).map(([url]) => url);
    assert.deepEqual(collected(pages), near.sort());
    for (const [url, depth] of depths) if (depth === 3) assert.equal(pages.get(url)?.reason, 'too-deep', url);
    // A deeper crawl goes on from there.
    await crawlHere({ data: place.path, scope: '*', depth: 3 }, web.seeds);
    const deeper = [...depths].filter(([, depth]) => depth <= 3).map(([url]) => url);
    assert.deepEqual(collected(await pagesOf(place.path)), deeper.sort());
    // So does one that is given a page that was too deep.
    const [named] = [...depths].find(([, depth]) => depth === 4)!;
    await crawlHere({ data: place.path, scope: '*', depth: 0 }, [named]);
    assert.ok(collected(await pagesOf(place.path)).includes(named));
  });

  test('fetches exactly as many pages as it may, and then the rest', async () => {
    await using web = await openWeb(options);
    using place = workplace();
    let total = 0;
    for (const maxPages of [1, 7, 30, 1000]) {
      const { pages } = await crawlHere({ data: place.path, scope: '*', maxPages, connections: 3 }, web.seeds);
      const expected = Math.min(maxPages, web.mustFind().length - total);
      assert.equal(pages, expected);
      total += pages;
      assert.equal(collected(await pagesOf(place.path)).length, total);
    }
    assert.equal(total, web.mustFind().length);
  });

  test('ends with the same pages in the order of breadth or of p-values', async () => {
    await using web = await openWeb(options);
    for (const order of ['breadth', 'pvalue']) {
      assert.deepEqual(await crawlFor(web, { order }), web.mustFind(), order);
    }
  });

  test('drops what is far from its keywords, and says so', async () => {
    await using web = await openWeb(options);
    using place = workplace();
    await crawlHere({ data: place.path, scope: '*', focus: 'nothing,like,this' }, web.seeds);
    const pages = await pagesOf(place.path);
    const got = new Set(collected(pages));
    assert.ok(got.has(web.seeds[0]!) && got.size < web.mustFind().length);
    const left = [...pages.values()].filter(({ url }) => !got.has(url));
    assert.ok(left.length > 0);
    for (const { url, reason } of left) assert.equal(reason, 'irrelevant', url);
  });

  test('stays on the hosts of its seeds unless told otherwise', async () => {
    await using web = await openWeb(options);
    using place = workplace();
    await crawlHere({ data: place.path }, web.seeds);
    const pages = await pagesOf(place.path);
    const inside = reach(web, url => url.startsWith(`${web.origins[0]}/`));
    assert.deepEqual(collected(pages), [...inside.keys()].sort());
  });

  test('stays inside the paths of its scope, and keeps what its filter lets through', async () => {
    await using web = await openWeb({ ...options, servers: 1 });
    using place = workplace();
    const inside = (url: string) => !/\/p\/2\d*\.html$/.test(url);
    const summary = await crawlHere({ data: place.path, scope: '!/p/2*', keep: 'path=/p/1*' }, web.seeds);
    const pages = await pagesOf(place.path);
    const left = collected(pages).filter(url => !/\/p\/1\d*\.html$/.test(url));
    assert.equal(summary.filtered, left.length, 'the summary tells how many were left out');
    assert.deepEqual(collected(pages), [...reach(web, inside).keys()].sort());
    const outside = [...pages.values()].filter(({ url }) => !inside(url));
    assert.ok(outside.length > 0);
    for (const { url, reason } of outside) assert.equal(reason, 'out-of-scope', url);
    assert.equal(web.log.filter(({ url }) => !inside(url)).length, 0);
    using look = lookInto(place.path);
    for (const url of collected(pages)) {
      const { known } = look.page(url);
      const kept = /\/p\/1\d*\.html$/.test(url);
      assert.equal(known!.segment !== null, kept, url);
      assert.equal((known!.flags & FLAG_FILTERED) !== 0, !kept, url);
    }
  });

  test('leaves out top-level domains of weight 0', async () => {
    const module = new URL('../web/synthetic.ts', import.meta.url).href;
    const fetcher = { module, options: { servers: 6, pagesPerServer: 20, sentences: 3, domains: ['com', 'org'] } };
    for (const [domains, count] of [
      ['com=3,org=1', 120],
      ['com=1,org=0', undefined],
    ] as const) {
      using place = workplace();
      await crawlHere({ data: place.path, scope: '*', domains }, ['http://s0.com/'], { fetcher });
      const pages = await pagesOf(place.path);
      if (count !== undefined) assert.equal(collected(pages).length, count);
      else {
        assert.ok(collected(pages).length >= 20);
        assert.ok(collected(pages).every(url => new URL(url).hostname.endsWith('.com')));
        assert.ok([...pages.values()].some(({ reason }) => reason === 'out-of-scope'));
      }
    }
  });
});
