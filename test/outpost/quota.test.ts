/** An owner's quota: errands are shortened to it, ended by it, and cannot raise it. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { Allowance, Meter } from '../../src/outpost/owner/meter.ts';
import { Quota, usedBy } from '../../src/outpost/owner/quota.ts';
import { plainErrand } from '../errand/plain-errand.ts';

const directory = mkdtempSync(join(tmpdir(), 'skein-quota-'));
after(() => rmSync(directory, { recursive: true }));

const NOW = 1_760_000_000_000;
const limits = { pages: 5000, follow: 9, depth: 9, bodyBytes: 1e6, time: 1e6 };
const errand = plainErrand('k3-1', 'https://geese.example', { kind: 'explore', deadline: NOW, limits });
const visits = (count: number, down = 1000) =>
  usedBy(Array.from({ length: count }, () => ({ cost: { up: 100, down } })));

test('pages: errands together are promised what is left and no more, then nothing until tomorrow, restarts or not', () => {
  const open = () => new Quota(join(directory, 'pages'), { pages: 100 });
  const quota = open();
  let promised = 0;
  for (let number = 0; quota.exhausted(NOW) === ''; number++) {
    promised += quota.admit({ ...errand, id: `e${number}` }, NOW).limits.pages;
  }
  assert.equal(promised, 100);
  assert.throws(() => quota.admit(errand, NOW), { code: 'refused', message: /errands in progress may use all/ });
  const first = open().admit(errand, NOW).limits.pages;
  assert.equal(quota.spend('e0', visits(first - 3), NOW), false);
  quota.end('e0');
  assert.equal(quota.admit(errand, NOW).limits.pages, 1, 'what one did not use is there for others');
  assert.equal(quota.spend('e1', visits(100), NOW), true);
  for (const each of [quota, open()]) assert.throws(() => each.admit(errand, NOW), { message: /are used up/ });
  assert.throws(() => open().admit(errand, NOW - DAY), { code: 'refused' });
  assert.ok(open().admit(errand, NOW + DAY).limits.pages > 0);
});

test('bytes are counted both ways', () => {
  const quota = new Quota(join(directory, 'bytes'), { bytes: 11_000 });
  assert.equal(quota.spend('a', visits(9), NOW), false);
  assert.equal(quota.admit(errand, NOW).limits.pages, 5000);
  assert.equal(quota.spend('a', visits(1), NOW), true);
  assert.throws(() => quota.admit(errand, NOW), /bytes a day/);
});

test('of what the owner and the parent allow the smaller counts', () => {
  const quota = new Quota(join(directory, 'both'), { pages: 50, bytes: 1e6 });
  quota.narrow({ pages: 10 });
  assert.equal(quota.spend('a', visits(10), NOW), true);
  quota.narrow({});
  assert.equal(quota.exhausted(NOW), '');
  assert.equal(quota.spend('a', visits(40), NOW), true);
});

test('without a quota nothing is limited', () => {
  const quota = new Quota(join(directory, 'none'), {});
  assert.equal(quota.spend('a', visits(1e4), NOW), false);
  assert.deepEqual(quota.admit(errand, NOW), errand);
});

test('a request that is made while the count is taken over is not lost', () => {
  const meter = new Meter();
  const thread = new Allowance(meter.shared);
  meter.refill({ pages: 3 });
  assert.ok(thread.request());
  const { pages } = meter.take();
  assert.ok(thread.request()); // by a thread, between the two calls
  meter.refill({ pages: 3 - pages });
  assert.equal(meter.take().pages, 1);
  meter.refill({ pages: 1 });
  assert.deepEqual([thread.request(), thread.request()], [true, false]);
});
