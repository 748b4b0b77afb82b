/** What crosses the border of a partition: the bytes, and that each batch counts once. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fingerprint } from '../../src/base/url.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { type Crossing, decodeCrossings, encodeCrossings } from '../../src/ledger/outbox/crossing.ts';
import { randomly } from '../random.ts';

function crossing(url: string, more: Partial<Crossing> = {}): Crossing {
  const print = fingerprint(url, { high: 0, low: 0 });
  return {
    ...{ kind: 'link', ...print, url, source: 'http://a.test/', seed: '', flags: 1, relevance: 255 },
    ...{ depth: 3, hops: 0, lastmod: 0, time: 1_700_000_000_000, ...more },
  };
}

const some = [
  crossing('http://b.test/x'),
  crossing('http://b.test/y', { url: '' }),
  crossing('http://b.test/z', {
    kind: 'target',
    seed: 'http://a.test/',
    source: 'http://c.test/ä'.normalize(),
    hops: 2,
  }),
  crossing('http://b.test/s', { kind: 'listed', lastmod: 1_600_000_000_000, source: '' }),
].map(each => ({ ...each, source: each.source.replace('ä', '%C3%A4') }));

test('crossings are read as they were written', () => {
  assert.deepEqual(decodeCrossings(encodeCrossings(some)), some);
  assert.deepEqual(decodeCrossings(encodeCrossings([])), []);
});

test('bytes that are none end as one error', () => {
  const bytes = encodeCrossings(some);
  const random = randomly(14);
  for (let i = 0; i < 2000; i++) {
    const hurt = bytes.slice(0, i % 3 === 0 ? random.below(bytes.length) : bytes.length);
    for (let n = 1 + random.below(3); n > 0 && hurt.length > 0; n--)
      hurt[random.below(hurt.length)] = random.below(256);
    try {
      for (const { url, depth } of decodeCrossings(hurt)) assert.ok(url.length < 5000 && depth <= 1_000_000);
    } catch (error) {
      assert.equal((error as { code?: string }).code, 'bad-frame', String(error));
    }
  }
  assert.throws(() => decodeCrossings(encodeCrossings([{ ...some[0]!, low: 7 }])), /another fingerprint/);
});

test('a batch has the next number, stays until it was taken durably, and numbers survive', () => {
  const directory = mkdtempSync(join(tmpdir(), 'skein-border-'));
  try {
    let ledger = new Ledger(directory, 'write');
    for (const url of ['http://b.test/1', 'http://b.test/2']) {
      ledger.begin();
      ledger.outbox.border.send(5, crossing(url));
      assert.deepEqual(
        ledger.outbox.border.batches(0, 5, ledger.outbox.border.waiting.length),
        [],
        'nothing before it is committed',
      );
      ledger.commit();
    }
    assert.deepEqual(ledger.outbox.border.waiting, [5]);
    ledger.begin();
    ledger.outbox.border.took(9, 4);
    assert.deepEqual(ledger.outbox.border.taken(9), { last: 4, durable: 0 });
    ledger.outbox.border.drop(5, 1);
    ledger.commit();
    assert.deepEqual(ledger.outbox.border.taken(9), { last: 4, durable: 4 });
    ledger.close();
    ledger = new Ledger(directory, 'write');
    assert.deepEqual(
      ledger.outbox.border.batches(0, 5, 0).map(({ number }) => number),
      [2],
    );
    assert.deepEqual(ledger.outbox.border.taken(9), { last: 4, durable: 4 });
    ledger.begin();
    ledger.outbox.border.drop(5, 2);
    ledger.outbox.border.send(5, crossing('http://b.test/3'));
    ledger.commit();
    assert.deepEqual(
      ledger.outbox.border.batches(0, 5, 0).map(({ number }) => number),
      [3],
    );
    ledger.close();
  } finally {
    rmSync(directory, { recursive: true });
  }
});
