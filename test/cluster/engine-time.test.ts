import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timeAhead } from '../../src/base/clock.ts';
import { openEngine } from '../../src/cluster/engine.ts';
import { noNats, openNats } from './nats.ts';

const MINUTE = 60_000;

test('peers go by the time of the engine, and setting it back there is followed', {
  skip: noNats() || false,
}, async () => {
  await using nats = await openNats();
  await using engine = await openEngine({
    ...{ address: nats.address, name: 'test' },
    collection: { id: 'times', partitions: 1 },
  });
  const { clock, ahead } = engine.time;
  const isRight = () => Math.abs(clock.now() - Date.now()) < MINUTE;
  assert.ok(isRight(), 'the engine of a test runs on this machine');
  assert.ok(Number.isInteger(clock.now()));
  const known = new Float64Array(ahead)[0]!;
  await engine.time.look();
  assert.equal(new Float64Array(ahead)[0], known, 'it does not jump to and fro for what an answer takes');
  // As of a server whose clock was another one.
  new Float64Array(ahead)[0]! -= 10 * MINUTE;
  assert.ok(!isRight());
  assert.ok(Math.abs(timeAhead(ahead).now() - clock.now()) < MINUTE, 'threads have the same');
  await engine.time.look();
  assert.ok(isRight());
});
