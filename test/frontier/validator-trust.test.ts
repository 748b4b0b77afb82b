/** How far a server's word is believed, and waves of changes: learned from visits, lost and won back. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { DAY } from '../../src/base/clock.ts';
import type { Visit } from '../../src/errand/visit.ts';
import { lastChangeAge, learnTrust, trustTerms } from '../../src/frontier/schedule/validator-trust.ts';
import { dueInWave, partOf, type WaveSeen, Waves } from '../../src/frontier/schedule/waves.ts';
import { FLAG_CHANGED, type KnownRow } from '../../src/ledger/pages/known-row.ts';
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

const look = (changed: boolean, more: Partial<WaveSeen> = {}): WaveSeen => ({
  ...{ changed, foretold: 0.05, before: 1, part: '' },
  ...more,
});

test('a wave begins with changes that rates do not explain, and ends when nothing more is found', () => {
  const foreseen = newServer();
  const waves = new Waves();
  for (let i = 0; i < 20; i++) assert.equal(waves.count(foreseen, i, look(true, { foretold: 0.9 })), undefined);
  const server = { ...newServer(), id: 2 };
  const turns = Array.from({ length: 8 }, (_, i) => waves.count(server, DAY + i, look(true)));
  assert.deepEqual(turns.slice(0, 2), ['suspected', 'begun'], 'two of two are enough for a small server');
  assert.equal(server.wave, DAY);
  for (let i = 0; i < 80; i++) waves.count(server, 2 * DAY + i, look(false));
  assert.equal(server.wave, 0);
});

test('one change that nothing foretold raises a suspicion, which quiet looks lay to rest', () => {
  const server = { ...newServer(), id: 9 };
  const waves = new Waves();
  assert.equal(waves.count(server, DAY, look(true)), 'suspected');
  for (let i = 0; i < 12; i++) assert.equal(waves.count(server, DAY + 1 + i, look(false)), undefined);
  assert.equal(waves.count(server, DAY + 20, look(true)), undefined, 'two of fourteen are what its rates let expect');
});

test('a wave that touches a third of the pages is one; a page in ten is not', () => {
  const begins = (every: number) => {
    const waves = new Waves();
    const server = newServer();
    return Array.from({ length: 60 }, (_, i) => waves.count(server, 1 + i, look(i % every === every - 1))).includes(
      'begun',
    );
  };
  assert.equal(begins(3), true);
  assert.equal(begins(10), false);
});

test('a wave is seen over several rounds', () => {
  const earlier = { since: 8 * DAY, visits: 3, changed: 1, foretold: 0.15 };
  const server = { ...newServer(), id: 3 };
  const waves = new Waves({ earlier: () => earlier });
  assert.equal(waves.count(server, 10 * DAY, look(true)), 'suspected');
  assert.equal(waves.count(server, 10 * DAY + 1, look(true)), 'begun');
});

test('the next wave begins with pages that were seen since the last, whether that has ended or not', () => {
  const server = { ...newServer(), id: 5 };
  const waves = new Waves();
  for (let i = 0; i < 2; i++) waves.count(server, DAY + i, look(true));
  for (let i = 0; i < 30; i++) assert.notEqual(waves.count(server, DAY + 9 + i, look(true)), 'begun');
  const again = { before: DAY + 20 };
  assert.equal(waves.count(server, 2 * DAY, look(true, again)), 'suspected');
  assert.equal(waves.count(server, 2 * DAY + 1, look(true, again)), 'begun');
  assert.equal(server.wave, 2 * DAY);
});

test('looks at one part that is not touched end no wave that others have shown', () => {
  const server = newServer();
  const waves = new Waves();
  for (const part of ['downloads 6 1', 'blog 6 1']) waves.count(server, DAY, look(true, { part }));
  assert.equal(server.wave, DAY);
  for (let i = 0; i < 30; i++) waves.count(server, DAY + 1 + i, look(false, { part: 'research 5 0' }));
  assert.equal(server.wave, DAY, 'the blog was not looked at since');
  const likely = (folder: string, flags: number) =>
    waves.touched(server, { seen_time: 1, url: `http://a/${folder}/x`, wire: 4 ** 6 + 1, flags })!.likely;
  const before = likely('news', 0);
  for (const part of ['soc 6 0', 'about 6 0'])
    for (let i = 0; i < 4; i++) waves.count(server, DAY + 40, look(false, { part }));
  assert.ok(likely('blog', FLAG_CHANGED) > 0.7, 'where it was shown');
  assert.ok(likely('news', 0) < before && likely('soc', 0) < 0.15, `${likely('news', 0)} ${likely('soc', 0)}`);
  for (let i = 0; i < 14; i++) waves.count(server, DAY + 50, look(false, { part: 'blog 6 1' }));
  for (let i = 0; i < 14; i++) waves.count(server, DAY + 50, look(false, { part: 'downloads 6 1' }));
  assert.equal(server.wave, 0);
});

test('the next process goes on with all waves, and knows which of them a page has missed', () => {
  const server = newServer();
  const waves = new Waves();
  for (let i = 0; i < 2; i++) waves.count(server, DAY + i, look(true, { part: 'blog 6 1' }));
  for (let i = 0; i < 4; i++) waves.count(server, DAY + 40, look(false, { part: 'soc 6 0' }));
  const second = { before: DAY + 50, part: 'soc 6 0' };
  for (let i = 0; i < 4; i++) waves.count(server, 3 * DAY + i, look(true, second));
  const next = new Waves({ saved: JSON.parse(JSON.stringify(waves.saved)) });
  const likely = (folder: string, flags: number, seen_time: number) =>
    next.touched(server, { seen_time, url: `http://a/${folder}/x`, wire: 4 ** 6 + 1, flags })?.likely ?? 0;
  assert.ok(likely('soc', 0, 2 * DAY) > 0.9, 'the second');
  assert.ok(likely('blog', FLAG_CHANGED, 1) > 0.9, 'the first, and perhaps the second');
  assert.ok(likely('blog', FLAG_CHANGED, 2 * DAY) < 0.5, 'seen after the first; the second has shown another folder');
  assert.equal(likely('soc', 0, 4 * DAY), 0);
  assert.deepEqual(new Waves().saved, []);
});

test('waves on days that follow each other: a page that was seen in the first has missed the others', () => {
  const server = { ...newServer(), id: 7 };
  const waves = new Waves();
  for (let i = 0; i < 20; i++) waves.count(server, DAY + i, look(true));
  // A changed page that missed the first wave says nothing of a second; pages that were seen since do.
  for (let i = 0; i < 20; i++) assert.notEqual(waves.count(server, 2 * DAY + i, look(true)), 'begun');
  assert.equal(waves.saved.length, 1);
  const turns = [0, 1].map(i => waves.count(server, 2 * DAY + 50 + i, look(true, { before: DAY + i })));
  assert.equal(turns[1], 'begun');
  waves.count(server, 3 * DAY, look(true, { before: 2 * DAY + 5 }));
  assert.equal(waves.count(server, 3 * DAY + 1, look(true, { before: 2 * DAY + 6 })), 'begun');
  const seen = (seen_time: number) => waves.touched(server, { seen_time, url: 'http://a/x', wire: 1, flags: 0 });
  assert.ok(seen(DAY + 5)!.likely > 0.8, `${seen(DAY + 5)!.likely}`);
  assert.ok(seen(1)!.likely >= seen(DAY + 5)!.likely);
  assert.equal(seen(3 * DAY + 1), undefined);
});

test('what a wave explains is no sign that a page changes by itself', () => {
  const server = { ...newServer(), id: 8 };
  const waves = new Waves();
  for (let i = 0; i < 9; i++) waves.count(server, DAY + i, look(true));
  const page = { seen_time: 1, url: 'http://a/x', wire: 1, flags: 0 };
  assert.ok(waves.explains(server, page, 0.05));
  assert.ok(!waves.explains(server, page, 0.99));
  assert.ok(!waves.explains(server, { ...page, seen_time: 2 * DAY }, 0.05));
});

test('a page that a wave has probably touched comes before those that are due, if what is seen will last', () => {
  const terms = { weight: 1, theta: 2, maxInterval: 90, cycle: 10, meanRate: 0.1, recall: 0 };
  const due = (stale: number, rate: number, freshness?: number) =>
    dueInWave({ page: 0, now: 100 * DAY, stale, rate, freshness }, terms) / DAY - 100;
  assert.ok(due(0.9, 0.05) < 0);
  assert.ok(due(0.9, 0.05) < due(0.5, 0.05));
  assert.ok(due(0.9, 2) > 0, 'two waves a day: it would be stale again before long');
  assert.ok(due(0.9, 2, 0.98) < 0, 'a freshness is kept, whatever that costs');
  assert.ok(due(0.01, 2, 0.98) > 0);
  const never = due(0.9, 0);
  assert.ok(never < 0 && never >= -365, 'a page that never changed by itself has a due time, too');
});

test('what a wave does not touch is believed less with each look, and more where it does after all', () => {
  const server = { ...newServer(), id: 6 };
  const waves = new Waves();
  for (let i = 0; i < 2; i++) waves.count(server, DAY + i, look(true));
  for (let i = 0; i < 9; i++) waves.count(server, DAY + 9, look(true, { part: 'blog 6 0' }));
  const turns = Array.from({ length: 4 }, () => waves.count(server, DAY + 9, look(false, { part: 'research 3 0' })));
  assert.ok(turns.includes('turned'), 'pages are placed anew');
  const likely = (url: string, wire: number) => waves.touched(server, { seen_time: 1, url, wire, flags: 0 })!.likely;
  assert.ok(likely('http://a/research/x', 100) < 0.15);
  assert.ok(likely('http://a/blog/x', 5000) > 0.9);
  assert.equal(waves.count(server, DAY + 9, look(true, { part: 'research 3 0' })), 'turned');
  assert.ok(likely('http://a/research/x', 100) > 0.2);
  const page = { url: 'http://a/docs/x.html', wire: 9000, flags: 0 };
  assert.equal(partOf(page), partOf({ url: 'http://a/docs/y/z', wire: 11_000, flags: 0 }));
  assert.notEqual(partOf(page), partOf({ ...page, wire: 700 }));
  assert.notEqual(partOf(page), partOf({ ...page, flags: FLAG_CHANGED }), 'what changed before will again');
});

test('a wave has probably touched a page as far as looks at its part have found it', () => {
  const server = newServer();
  const waves = new Waves();
  for (const part of ['downloads 6 1', 'blog 6 1']) waves.count(server, DAY, look(true, { part }));
  for (let i = 0; i < 20; i++) waves.count(server, DAY + 1 + i, look(true, { part: 'blog 6 1' }));
  for (let i = 0; i < 3; i++) waves.count(server, DAY + 30 + i, look(false, { part: 'soc 6 0' }));
  const touched = (folder: string, flags: number) =>
    waves.touched(server, { seen_time: 1, url: `http://a/${folder}/x`, wire: 4 ** 6 + 1, flags })!.likely;
  assert.ok(touched('blog', FLAG_CHANGED) > 0.9);
  assert.ok(touched('soc', 0) < 0.4, `${touched('soc', 0)}`);
  assert.ok(touched('news', 0) > touched('soc', 0), 'nobody has looked there');
  const single = { ...newServer(), id: 9 };
  for (let i = 0; i < 4; i++) waves.count(single, DAY + i, look(true, { part: 'blog 6 1' }));
  const elsewhere = waves.touched(single, { seen_time: 1, url: 'http://a/soc/x', wire: 5000, flags: 0 })!.likely;
  assert.ok(elsewhere < touched('news', 0), `${elsewhere}: one folder alone has shown it`);
  assert.equal(waves.touched(server, { seen_time: 2 * DAY, url: 'http://a/blog/x', wire: 5000, flags: 0 }), undefined);
});

test('what a round has seen of a large server does not stay in memory', () => {
  const held = () => {
    setFlagsFromString('--expose_gc');
    (runInNewContext('gc') as () => void)();
    return process.memoryUsage().heapUsed;
  };
  const server = newServer();
  const waves = new Waves();
  const before = held();
  const looks = 200_000;
  for (let i = 0; i < looks; i++) {
    const seen = { changed: i % 50 === 0, foretold: 0.02, before: DAY, part: `folder-of-this-page 5 ${i % 2}` };
    waves.count(server, 100 * DAY + i, seen);
  }
  assert.ok(held() - before < 10 * looks, 'less than ten bytes a look');
  assert.deepEqual(waves.saved, [], 'what its rates explain is no wave');
});
