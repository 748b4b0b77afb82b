/** What becomes of a link: a page to visit, a page refused with its reason, or one that is known already. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fingerprint } from '../../src/base/url.ts';
import { compileScope } from '../../src/errand/scope/scope.ts';
import { LINK_NOFOLLOW, type Links } from '../../src/errand/visit.ts';
import { Frontier } from '../../src/frontier/frontier.ts';
import { NOW, withLedger } from './known-ledger.ts';
import { plainOptions } from './plain-options.ts';

function linksTo(urls: readonly string[], flag = 0): Links {
  const fingerprints = new Uint32Array(urls.length * 2);
  const print = { high: 0, low: 0 };
  for (const [i, url] of urls.entries()) {
    fingerprint(url, print);
    fingerprints.set([print.high, print.low], i * 2);
  }
  return {
    ...{ count: urls.length, fingerprints, flags: new Uint8Array(urls.length).fill(flag) },
    ...{ relevance: new Uint8Array(urls.length), urls: Buffer.from(urls.join('\n')) },
    ...{ anchors: Buffer.from('\n'.repeat(urls.length - 1)), lastmod: new Float64Array(0) },
  };
}

/** A first crawl of http://a.test, two links deep. `follow`: links found on a page so deep; returns the pages' ids. */
function crawl(
  work: (
    follow: (depth: number, urls: string[], flag?: number) => number[],
    why: (id: number) => string | null,
    redirect: (from: number, depth: number, url: string, hops?: number) => number,
  ) => void,
) {
  withLedger(0, ledger => {
    const outside = compileScope({ domains: ['a.test'], include: [], exclude: [] });
    const { admission } = new Frontier(
      ledger,
      { ...plainOptions, mode: 'explore', depth: 2, outside },
      { now: () => NOW, ticks: () => NOW, sleep: async () => {} },
    );
    ledger.begin();
    const from = { hops: 0, time: NOW, nofollow: false };
    const seed = admission.one('http://a.test/', { ...from, page: 0, depth: 0 }, { seed: true });
    work(
      (depth, urls, flag) => Array.from(admission.links(linksTo(urls, flag), { ...from, page: seed, depth })),
      id => ledger.pages.get(id)!.refused,
      (page, depth, url, hops = 1) => admission.one(url, { ...from, page, depth, hops }),
    );
    ledger.abandon();
  });
}

test('a link to a page that is known is that page', () => {
  crawl((follow, why) => {
    const [first, other] = follow(0, ['http://a.test/x', 'http://a.test/y']);
    assert.notEqual(first, other);
    assert.deepEqual(follow(1, ['http://a.test/x']), [first]);
    assert.equal(why(first!), null);
  });
});

test('a page that names a new link twice has found one page', () => {
  crawl(follow => {
    const [first, second] = follow(0, ['http://a.test/x', 'http://a.test/x']);
    assert.equal(first, second);
  });
});

test('what is out of scope is kept with its reason', () => {
  crawl((follow, why) => assert.equal(why(follow(0, ['http://b.test/'])[0]!), 'out-of-scope'));
});

test('a page that was too deep is let in by a nearer link, and by none that is too deep itself', () => {
  crawl((follow, why) => {
    const [page] = follow(2, ['http://a.test/deep']);
    assert.equal(why(page!), 'too-deep');
    follow(5, ['http://a.test/deep']);
    assert.equal(why(page!), 'too-deep');
    follow(1, ['http://a.test/deep']);
    assert.equal(why(page!), null);
  });
});

test('a redirect leads to a page that was too deep as a link does, at the depth of the page that redirects', () => {
  crawl((follow, why, redirect) => {
    const [page] = follow(2, ['http://a.test/deep']);
    const [old] = follow(1, ['http://a.test/old']);
    redirect(old!, 3, 'http://a.test/deep');
    assert.equal(why(page!), 'too-deep');
    redirect(old!, 2, 'http://a.test/deep', 100);
    assert.equal(why(page!), 'too-deep', 'a chain without end');
    assert.equal(redirect(old!, 2, 'http://a.test/deep'), page);
    assert.equal(why(page!), null);
  });
});

test('a page behind nofollow is let in by a link without it', () => {
  crawl((follow, why) => {
    const [page] = follow(0, ['http://a.test/shy'], LINK_NOFOLLOW);
    assert.equal(why(page!), 'nofollow');
    follow(0, ['http://a.test/shy'], LINK_NOFOLLOW);
    assert.equal(why(page!), 'nofollow');
    follow(1, ['http://a.test/shy']);
    assert.equal(why(page!), null);
  });
});
