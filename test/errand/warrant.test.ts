import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeIdentity } from '../../src/errand/keys.ts';
import {
  checkWarrant,
  decodeWarrant,
  encodeWarrant,
  extendWarrant,
  issueWarrant,
  levelsLeft,
  type Warrant,
} from '../../src/errand/warrant.ts';

const home = makeIdentity();
const [a, b, c, stranger] = Array.from({ length: 4 }, makeIdentity) as [
  ReturnType<typeof makeIdentity>,
  ReturnType<typeof makeIdentity>,
  ReturnType<typeof makeIdentity>,
  ReturnType<typeof makeIdentity>,
];
const bytes = Buffer.from('an errand');
const terms = { errand: 'k-1', levels: 2, deadline: 1000, bytes };
const holder = (key: string) => ({ key, home: home.key, now: 500 });
const refused = { code: 'refused' };

const first = issueWarrant(home, terms, a.key);
const second = extendWarrant(first, a, b.key)!;
const third = extendWarrant(second, b, c.key)!;

test('a chain of two levels below the first receiver is good at every hop, and ends there', () => {
  for (const [warrant, key] of [
    [first, a.key],
    [second, b.key],
    [third, c.key],
  ] as const) {
    const read = decodeWarrant(encodeWarrant(warrant));
    checkWarrant(read, 'k-1', bytes, holder(key));
  }
  assert.deepEqual([first, second, third].map(levelsLeft), [2, 1, 0]);
  assert.equal(extendWarrant(third, c, stranger.key), undefined);
});

test('nobody can lengthen the chain', () => {
  const longer = (warrant: Warrant) => ({ ...warrant, levels: 9 });
  assert.throws(() => checkWarrant(longer(third), 'k-1', bytes, holder(c.key)), refused);
  const forced: Warrant = extendWarrant(longer(third), c, stranger.key)!;
  assert.throws(() => checkWarrant({ ...forced, levels: 2 }, 'k-1', bytes, holder(stranger.key)), refused);
  // The middle hop drops the one before it to win a level.
  const shortened = { ...second, hops: second.hops.slice(1) };
  assert.throws(() => checkWarrant(shortened, 'k-1', bytes, holder(b.key)), refused);
  const skipping = extendWarrant({ ...first, hops: [{ ...first.hops[0]!, key: b.key }] }, b, c.key)!;
  assert.throws(() => checkWarrant(skipping, 'k-1', bytes, holder(c.key)), refused);
});

test('a warrant is good for one errand, one receiver, one home and one time', () => {
  assert.throws(() => checkWarrant(first, 'k-2', bytes, holder(a.key)), refused);
  assert.throws(() => checkWarrant(first, 'k-1', Buffer.from('another'), holder(a.key)), refused);
  assert.throws(() => checkWarrant(first, 'k-1', bytes, holder(b.key)), refused);
  assert.throws(() => checkWarrant(first, 'k-1', bytes, { ...holder(a.key), home: stranger.key }), refused);
  assert.throws(() => checkWarrant(first, 'k-1', bytes, { ...holder(a.key), now: 1001 }), refused);
  const forged = issueWarrant(stranger, terms, a.key);
  assert.throws(() => checkWarrant({ ...forged, home: home.key }, 'k-1', bytes, holder(a.key)), refused);
});

test('bytes that are no warrant are bad frames', () => {
  const good = encodeWarrant(first);
  assert.throws(() => decodeWarrant(good.subarray(0, 100)), { code: 'bad-frame' });
  assert.throws(() => decodeWarrant(Buffer.concat([good, Buffer.from([0])])), { code: 'bad-frame' });
});
