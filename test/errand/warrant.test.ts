import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeIdentity } from '../../src/errand/keys.ts';
import {
  encodeWarrant,
  extendWarrant,
  issueWarrant,
  levelsLeft,
  readWarrant,
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
/** What the holder of this key makes of it. */
const read = (warrant: Warrant, key: string, change: object = {}) =>
  readWarrant({ errand: 'k-1', bytes, warrant: encodeWarrant(warrant), ...change }, holder(key));

const first = issueWarrant(home, terms, a.key);
const second = extendWarrant(first, a, b.key)!;
const third = extendWarrant(second, b, c.key)!;

test('a chain of two levels below the first receiver is good at every hop, and ends there', () => {
  for (const [warrant, key] of [
    [first, a.key],
    [second, b.key],
    [third, c.key],
  ] as const) {
    const hops = warrant.hops.map(hop => ({ ...hop, signature: Uint8Array.from(hop.signature) }));
    assert.deepEqual(read(warrant, key), { ...warrant, hops });
  }
  assert.deepEqual([first, second, third].map(levelsLeft), [2, 1, 0]);
  assert.equal(extendWarrant(third, c, stranger.key), undefined);
});

test('nobody can lengthen the chain', () => {
  const longer = (warrant: Warrant) => ({ ...warrant, levels: 9 });
  assert.throws(() => read(longer(third), c.key), refused);
  const forced: Warrant = extendWarrant(longer(third), c, stranger.key)!;
  assert.throws(() => read({ ...forced, levels: 2 }, stranger.key), refused);
  // The middle hop drops the one before it to win a level.
  const shortened = { ...second, hops: second.hops.slice(1) };
  assert.throws(() => read(shortened, b.key), refused);
  const skipping = extendWarrant({ ...first, hops: [{ ...first.hops[0]!, key: b.key }] }, b, c.key)!;
  assert.throws(() => read(skipping, c.key), refused);
});

test('a warrant is good for one errand, one receiver, one home and one time', () => {
  assert.throws(() => read(first, a.key, { errand: 'k-2' }), refused);
  assert.throws(() => read(first, a.key, { bytes: Buffer.from('another') }), refused);
  assert.throws(() => read(first, b.key), refused);
  const carried = { errand: 'k-1', bytes, warrant: encodeWarrant(first) };
  assert.throws(() => readWarrant(carried, { ...holder(a.key), home: stranger.key }), refused);
  assert.throws(() => readWarrant(carried, { ...holder(a.key), now: 1001 }), refused);
  assert.throws(() => read(issueWarrant(stranger, terms, a.key), a.key), refused);
});

test('bytes that are no warrant are bad frames', () => {
  const good = encodeWarrant(first);
  for (const warrant of [good.subarray(0, 50), Buffer.concat([good, Buffer.from([0])])]) {
    assert.throws(() => readWarrant({ errand: 'k-1', bytes, warrant }, holder(a.key)), { code: 'bad-frame' });
  }
});
