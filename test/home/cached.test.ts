import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cachedFor } from '../../src/home/judging/cached.ts';

const lines = (text: string) =>
  new Map(
    text.split('\n').map(each => {
      const [name, ...value] = each.split(': ');
      return [name!, value.join(': ')] as const;
    }),
  );

test('a cache answers with what it has until that is too old', () => {
  assert.equal(cachedFor(lines('age: 20\ncache-control: public, max-age=60')), 40_000);
  assert.equal(cachedFor(lines('x-cache: MISS\ncache-control: max-age=600, s-maxage=30')), 30_000, 'for many people');
  assert.equal(cachedFor(lines('age: 90\ncache-control: max-age=60')), 0, 'too old already');
  assert.equal(
    cachedFor(lines('via: 1.1 proxy\nexpires: Wed, 18 Nov 2026 04:01:00 GMT\ndate: Wed, 18 Nov 2026 04:00:00 GMT')),
    60_000,
  );
});

test('without a cache on the way, or where it may keep nothing, a second look is one', () => {
  assert.equal(cachedFor(lines('cache-control: max-age=60')), 0);
  assert.equal(cachedFor(lines('age: 0\ncache-control: no-cache')), 0);
  assert.equal(cachedFor(lines('age: 0\ncache-control: private, max-age=60')), 0);
  assert.equal(cachedFor(lines('age: x\ncache-control: max-age="60"')), 60_000, 'written oddly');
  assert.equal(cachedFor(lines('age: 0\nexpires: 0')), 0);
});
