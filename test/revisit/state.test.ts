import assert from 'node:assert/strict';
import { test } from 'node:test';
import { observe } from '../../src/revisit/estimators/observe.ts';
import { newState, packState, STATE_BYTES, unpackState } from '../../src/revisit/state.ts';
import { randomFrom } from './simulation.ts';

test('a state packs into 48 bytes and comes back, to the precision of 32 bits', () => {
  const random = randomFrom(1);
  let state = newState();
  for (let i = 0; i < 200; i++) {
    state = observe(state, { days: random() * 20, changed: random() < 0.4 });
    const bytes = packState(state);
    assert.equal(bytes.length, STATE_BYTES);
    const back = unpackState(bytes);
    for (const [name, value] of Object.entries(state)) {
      const got = back[name as keyof typeof back];
      if (Number.isInteger(value)) assert.equal(got, value, name);
      else assert.ok(Math.abs(got - value) <= Math.abs(value) * 1e-7, `${name}: ${got} for ${value}`);
    }
    assert.deepEqual(packState(back), bytes);
  }
});

test('a state inside a larger buffer is read from its own place', () => {
  const bytes = new Uint8Array(STATE_BYTES + 10);
  bytes.set(packState(observe(newState(), { days: 2, changed: true })), 10);
  assert.equal(unpackState(bytes.subarray(10)).visits, 1);
});

test('damaged states are named as such', () => {
  assert.throws(() => unpackState(new Uint8Array(47)), /47 bytes, not 48/);
  assert.throws(() => unpackState(new Uint8Array(48)), /contradicts itself/);
  assert.throws(() => unpackState(new Uint8Array(48).fill(0xff)), /contradicts itself/);
});
