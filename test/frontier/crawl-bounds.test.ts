/** Which redirects of a seed take the crawl along. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isMove } from '../../src/frontier/admission/crawl-bounds.ts';

test('a site that moved is told from a page that is elsewhere', () => {
  const moves = [
    ['http://example.org/', 'https://example.org/'],
    ['https://example.org/start', 'https://www.example.org/start'],
    ['https://www.example.org/', 'https://example.org/en/'],
    ['http://example.org:8080/a', 'https://example.org:8443/login'],
    ['https://www.example.org/', 'https://docs.example.org/v2/'],
    ['https://old.example/', 'https://new.example/'],
  ];
  const others = [
    ['https://shop.example/', 'https://portal.example/shops/17'],
    ['https://shop.example/', 'https://portal.example/?shop=17'],
    ['https://old.example/a/b', 'https://new.example/'],
    ['https://gone.blogs.example/', 'https://blogs.example/missing'],
    ['https://example.org/', 'https://notexample.org/home'],
  ];
  for (const [seed, target] of moves) assert.equal(isMove(seed!, target!), true, `${seed} → ${target}`);
  for (const [seed, target] of others) assert.equal(isMove(seed!, target!), false, `${seed} → ${target}`);
});
