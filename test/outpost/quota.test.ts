/** An owner's quota: errands are shortened to it, ended by it, and cannot raise it. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Errand } from '../../src/errand/errand.ts';
import { keepAll } from '../../src/errand/keep.ts';
import { Quota } from '../../src/outpost/quota.ts';

const directory = mkdtempSync(join(tmpdir(), 'skein-quota-'));
after(() => rmSync(directory, { recursive: true }));

const NOW = 1_760_000_000_000;
const DAY = 86_400_000;
const origin = 'https://geese.example';
const errand: Errand = {
  ...{ id: 'k3-1', kind: 'explore', pages: [], levels: 0, detector: 'content', deadline: NOW },
  server: { origin, pace: 0, connections: 1, notBefore: 0, allowPrivate: false, auditShare: 0, trustValidators: true },
  scope: { domains: [], include: [], exclude: [], focus: [], keep: keepAll },
  limits: { pages: 5000, follow: 9, depth: 9, bodyBytes: 1e6, time: 1e6 },
};
const visits = (count: number, down = 1000) => Array.from({ length: count }, () => ({ cost: { up: 100, down } }));

test('pages: an errand gets what is left, then nothing until tomorrow, restarts or not', () => {
  const open = () => new Quota(join(directory, 'pages'), { pages: 100 });
  const quota = open();
  assert.equal(quota.admit(errand, NOW).limits.pages, 100);
  assert.equal(quota.spend(visits(60), NOW), false);
  assert.equal(open().admit(errand, NOW).limits.pages, 40);
  assert.equal(quota.spend(visits(40), NOW), true);
  for (const each of [quota, open()]) assert.throws(() => each.admit(errand, NOW), { code: 'refused' });
  assert.throws(() => open().admit(errand, NOW - DAY), { code: 'refused' });
  assert.equal(open().admit(errand, NOW + DAY).limits.pages, 100);
});

test('bytes are counted both ways', () => {
  const quota = new Quota(join(directory, 'bytes'), { bytes: 11_000 });
  assert.equal(quota.spend(visits(9), NOW), false);
  assert.equal(quota.admit(errand, NOW).limits.pages, 5000);
  assert.equal(quota.spend(visits(1), NOW), true);
  assert.throws(() => quota.admit(errand, NOW), /bytes a day/);
});

test('without a quota nothing is limited', () => {
  const quota = new Quota(join(directory, 'none'), {});
  assert.equal(quota.spend(visits(1e4), NOW), false);
  assert.deepEqual(quota.admit(errand, NOW), errand);
});
