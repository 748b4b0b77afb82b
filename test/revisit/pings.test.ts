import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  countedByPings,
  learnPing,
  NO_PINGS,
  type PingRecord,
  pingPrecision,
  pingRecall,
  pingWorth,
  silenceRecall,
} from '../../src/revisit/pings.ts';
import { randomFrom } from './simulation.ts';

test('before anything is known both are one half, and silence means nothing', () => {
  assert.equal(pingPrecision(NO_PINGS), 0.5);
  assert.equal(pingRecall(NO_PINGS), 0.5);
  assert.equal(silenceRecall(NO_PINGS), 0);
  assert.equal(learnPing(NO_PINGS, { pings: 0, changed: true, foretold: 0.5 }), NO_PINGS);
});

test('precision and recall are found from visits, several pings at a time included', () => {
  const random = randomFrom(6);
  const [precision, recall] = [0.7, 0.8];
  let record: PingRecord = NO_PINGS;
  for (let i = 0; i < 4_000; i++) {
    const pings = Math.floor(random() * 4);
    const foretold = 0.5;
    const told = Array.from({ length: pings }, () => random() < precision).some(Boolean);
    const hidden = pings === 0 && random() < foretold * (1 - recall);
    record = learnPing(record, { pings, changed: told || hidden, foretold });
  }
  assert.ok(Math.abs(pingPrecision(record) - precision) < 0.06, `${pingPrecision(record)}`);
  assert.ok(Math.abs(pingRecall(record) - recall) < 0.06, `${pingRecall(record)}`);
});

test('a server that begins to lie is found out', () => {
  let record: PingRecord = NO_PINGS;
  for (let i = 0; i < 10_000; i++) record = learnPing(record, { pings: 1, changed: true, foretold: 0 });
  assert.ok(pingPrecision(record) > 0.99);
  for (let i = 0; i < 1_000; i++) record = learnPing(record, { pings: 1, changed: false, foretold: 0 });
  assert.ok(pingPrecision(record) < 0.3, `${pingPrecision(record)}`);
});

test('a ping is worth more where pings are true, and without bound where they are certain', () => {
  const liar: PingRecord = { pings: 100, confirmed: 2, expected: 0, missed: 0 };
  const honest: PingRecord = { pings: 100, confirmed: 98, expected: 100, missed: 0 };
  assert.ok(pingWorth(honest, 0.1) > 50 * pingWorth(liar, 0.1));
  const even: PingRecord = { pings: 0, confirmed: 0, expected: 0, missed: 0 };
  assert.ok(Math.abs(pingWorth(even, 0.1) - Math.LN2 / 0.05) < 1e-9);
  assert.ok(Math.abs(pingWorth(even, 1e-6) - 90) < 1e-9, 'a page that waits longest is due, and moves no further');
  assert.ok(pingWorth(liar, 1e-6) < 10, 'however seldom it changes');
});

test('visits that notices brought about count changes', () => {
  const honest: PingRecord = { pings: 96, confirmed: 88, expected: 0, missed: 0 };
  assert.deepEqual(countedByPings(honest, 5, { changed: true }), { changes: 4.5 });
  assert.deepEqual(countedByPings(honest, 0, { changed: true }), { changes: 1 });
  assert.deepEqual(countedByPings(honest, 3, { changed: false }), {});
  assert.deepEqual(countedByPings(honest, 3, { changed: true, changes: 7 }), {});
  assert.deepEqual(countedByPings(NO_PINGS, 0, { changed: true }), {});
});
