/** An outpost that tells the truth is left alone, however pages change; one that lies is found out. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { bareFacts, packFacts, unpackFacts } from '../../src/errand/facts.ts';
import type { Visit } from '../../src/errand/visit.ts';
import { Audit } from '../../src/home/audit/audit.ts';
import { plainErrand } from '../errand/plain-errand.ts';

const NOW = 1_760_000_000_000;
const SINCE = NOW - 1000;
const origin = 'https://geese.example';
const errand = plainErrand('k3-1', origin, { deadline: NOW });

const facts = (version: number) => packFacts(bareFacts(Buffer.alloc(16, version), Buffer.alloc(16, version)));

const visit = (n: number, version: number, more: Partial<Visit> = {}): Visit => ({
  ...{ url: `${origin}/${n}`, time: NOW + n, outcome: 'fetched', reason: 'ok', status: 200, depth: 1, retryAfter: 0 },
  cost: { up: 1, down: 1, cause: 'page', ms: 1 },
  facts: facts(version),
  ...more,
});

/** An audit whose second looks see what `shows` says; returns who was quarantined since when. */
async function audit(visits: readonly Visit[], shows: (look: number) => Partial<Visit> & { version: number }) {
  const quarantined: [string, number][] = [];
  let looks = 0;
  const held = new Audit({
    ...{ share: 1, pause: 1, random: () => 0, now: () => NOW },
    async look({ pages }) {
      const { version, ...more } = shows(looks++);
      const before = unpackFacts(pages[0]!.facts!)!.content[0];
      assert.equal(pages[0]!.etag, undefined);
      return [visit(0, version, { outcome: before === version ? 'same' : 'fetched', ...more })];
    },
    quarantine: (outpost, since) => quarantined.push([outpost, since]),
  });
  held.offer('near', errand, visits, SINCE);
  await held.settle();
  return { quarantined, looks, held };
}

test('who tells the truth is believed', async () => {
  const { quarantined, held } = await audit([visit(1, 7), visit(2, 7)], () => ({ version: 7 }));
  assert.deepEqual([quarantined, held.done, held.contradicted], [[], 2, 0]);
});

test('a page that differs from look to look is no evidence', async () => {
  let version = 10;
  const { quarantined, held } = await audit([visit(1, 7), visit(2, 7)], () => ({ version: version++ }));
  assert.deepEqual([quarantined, held.contradicted], [[], 0]);
});

test('one page that changed in between is forgiven, two are not', async () => {
  const once = await audit([visit(1, 7)], () => ({ version: 8 }));
  assert.deepEqual([once.quarantined, once.held.contradicted], [[], 1]);
  const twice = await audit([visit(1, 8), visit(2, 7), visit(3, 7), visit(4, 7)], () => ({ version: 8 }));
  assert.deepEqual(twice.quarantined, [['near', SINCE]]);
});

test('a server that dates the page before the visit settles it at once', async () => {
  const lastModified = new Date(NOW - DAY).toUTCString();
  const { quarantined } = await audit([visit(1, 7)], () => ({ version: 8, lastModified }));
  assert.deepEqual(quarantined, [['near', 0]]);
});

test('what cannot be looked at is no evidence', async () => {
  const { quarantined, held } = await audit([visit(1, 7)], () => ({ version: 8, outcome: 'failed' }));
  assert.deepEqual([quarantined, held.done], [[], 0]);
});
