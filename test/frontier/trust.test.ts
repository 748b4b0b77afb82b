/** How far a server's word is believed, and waves of changes: learned from visits, lost and won back. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import type { Visit } from '../../src/errand/visit.ts';
import { lastChangeAge, learnTrust, trustTerms } from '../../src/frontier/schedule/validator-trust.ts';
import { dueInWave, Waves } from '../../src/frontier/schedule/waves.ts';
import type { KnownRow } from '../../src/ledger/pages/known-row.ts';
import type { Server } from '../../src/ledger/servers.ts';

const newServer = (): Server =>
  ({ id: 1, origin: 'http://a', audits: 0, lies: 0, dates: 0, wrongDates: 0, wave: 0 }) as unknown as Server;

const known = (row: Partial<KnownRow>): KnownRow => ({ etag: null, last_modified: null, ...row }) as KnownRow;

function visit(outcome: 'fetched' | 'same', more: Partial<Visit> = {}, cause: Visit['cost']['cause'] = 'page'): Visit {
  return {
    ...{ url: 'http://a/', time: 100 * DAY, outcome, reason: 'ok', status: 200, depth: 0, retryAfter: 0 },
    cost: { up: 1, down: 1, cause, ms: 1 },
    ...more,
  };
}

test('audits become rarer as a server is right, down to one in five hundred', () => {
  const server = newServer();
  assert.equal(trustTerms(server).auditShare, 0.1);
  let last = 1;
  for (let i = 0; i < 450; i++) {
    learnTrust(server, visit('same', { reason: 'not-modified' }, 'audit'), known({}));
    const { auditShare } = trustTerms(server);
    assert.ok(auditShare < last || auditShare === 0.002);
    last = auditShare;
  }
  assert.ok(last < 0.0025);
  assert.ok(trustTerms(server).trustValidators);
});

test('one lie in a few audits ends the trust; bodies with the old tag win it back', () => {
  const server = newServer();
  learnTrust(server, visit('fetched', { reason: 'validator-lied' }, 'audit'), known({ etag: '"1"' }));
  assert.equal(trustTerms(server).trustValidators, false);
  for (let i = 0; i < 2000; i++) learnTrust(server, visit('same', { etag: '"1"' }), known({ etag: '"1", "0"' }));
  assert.equal(trustTerms(server).trustValidators, true);
});

test('a page that changed between a 304 and its audit is no lie', () => {
  const server = newServer();
  learnTrust(server, visit('fetched', { etag: '"2"' }, 'audit'), known({ etag: '"1"' }));
  assert.equal(server.audits, 1);
  assert.equal(server.lies, 0);
});

test('dates count once they have gone with the content often enough', () => {
  const server = newServer();
  const [old, now] = [new Date(90 * DAY).toUTCString(), new Date(98 * DAY).toUTCString()];
  const changed = visit('fetched', { lastModified: now });
  assert.equal(lastChangeAge(server, changed), undefined);
  for (let i = 0; i < 6; i++) learnTrust(server, changed, known({ last_modified: old }));
  assert.equal(lastChangeAge(server, changed), 2);
  learnTrust(server, visit('same', { lastModified: now }), known({ last_modified: old }));
  assert.equal(lastChangeAge(server, changed), undefined);
});

test('a wave begins with unforeseen changes, not with foreseen ones, and ends when nothing more is found', () => {
  const foreseen = newServer();
  const waves = new Waves();
  for (let i = 0; i < 20; i++)
    assert.equal(waves.count(foreseen, i, { changed: true, shared: false, foretold: 0.9 }), false);
  const server = { ...newServer(), id: 2 };
  const turns = Array.from({ length: 8 }, (_, i) =>
    waves.count(server, DAY + i, { changed: true, shared: false, foretold: 0.05 }),
  );
  assert.equal(turns.filter(Boolean).length, 1);
  assert.equal(server.wave, DAY);
  assert.equal(dueInWave(server, DAY - 1, 50 * DAY), 0);
  assert.equal(dueInWave(server, DAY + 1, 50 * DAY), 50 * DAY);
  for (let i = 0; i < 40; i++) waves.count(server, 2 * DAY + i, { changed: false, shared: false, foretold: 0.05 });
  assert.equal(server.wave, 0);
});

test('a wave is seen over several rounds, and three edits that many pages share are enough', () => {
  const earlier = { since: 8 * DAY, visits: 3, changed: 3, foretold: 0.2 };
  const server = { ...newServer(), id: 3 };
  const waves = new Waves(() => earlier);
  const seen = { changed: true, shared: false, foretold: 0.05 };
  assert.equal(waves.count(server, 10 * DAY, seen), false);
  assert.equal(waves.count(server, 10 * DAY + 1, seen), true);
  assert.equal(server.wave, 8 * DAY, 'what was not seen since the first of these visits comes next');
  const other = { ...newServer(), id: 4 };
  const turns = [1, 2, 3].map(i => new Waves().count(other, i, { ...seen, shared: true }));
  assert.deepEqual(turns, [false, false, false], 'each of them alone is none');
  const together = new Waves();
  assert.deepEqual(
    [1, 2, 3].map(i => together.count(other, i, { ...seen, shared: true })),
    [false, false, true],
  );
});
