/** Links are found from their far end, also in parts, and only by whole ids: bytes of one id may be part of another. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { visitedLedger } from './visited.ts';

test('links to a page are found in parts, without those that only share bytes with it', context => {
  const ledger = visitedLedger(context, 20, 0, []);
  const put = (page: number, targets: number[], anchors: string[]) => {
    const flags = Uint8Array.from(targets, target => (target === 2 ? 1 : 0));
    ledger.links.put(page, { count: targets.length, targets, flags, anchors: Buffer.from(anchors.join('\n')) }, false);
  };
  ledger.begin();
  put(1, [2, 3], ['two', 'three']);
  put(5, [300], ['\u0002']); // 300 is written as 172 2, and the anchor is a 2 as well
  put(9, [3, 2], ['', 'again']);
  put(12, [2], ['last']);
  ledger.commit();
  const { links } = ledger;
  const sources = (page: number, range = {}) => links.in(page, range).map(({ source }) => source);
  assert.deepEqual(sources(2), [1, 9, 12]);
  assert.deepEqual(sources(300), [5]);
  assert.deepEqual(sources(172), []);
  assert.deepEqual(sources(2, { after: 1, upTo: 9 }), [9]);
  assert.deepEqual(sources(2, { after: 9 }), [12]);
  assert.deepEqual(sources(2, { most: 2 }), [1, 9]);
  assert.deepEqual(links.in(2, { after: 5, most: 1 }), [{ source: 9, anchor: 'again', nofollow: true }]);
  assert.equal(links.last(), 12);
});
