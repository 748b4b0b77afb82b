/** No two bodies ever lie in the same memory, whatever is given back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BodyMemory } from '../../src/crawler/fetch/body-memory.ts';

test('memory that comes back holds the next body of its size', () => {
  const memory = new BodyMemory();
  for (const length of [1, 4096, 4097, 100_000, 1 << 20]) {
    const first = memory.take(length);
    assert.ok(first.length >= length);
    memory.giveBack(first.subarray(0, length));
    const second = memory.take(length);
    assert.equal(second.buffer, first.buffer);
    assert.ok(second.length >= length);
  }
});

test('what is given back twice is given out once', () => {
  const memory = new BodyMemory();
  const body = memory.take(5000);
  memory.giveBack(body);
  memory.giveBack(body);
  assert.notEqual(memory.take(5000).buffer, memory.take(5000).buffer);
});

test('memory of others is left to them: that which small buffers share, and any of a fitting size', () => {
  const memory = new BodyMemory();
  const shared = Buffer.from('a few words');
  const strange = Buffer.allocUnsafeSlow(8192);
  for (const body of [shared, strange, new Uint8Array(new SharedArrayBuffer(8192)), new Uint8Array(0)]) {
    memory.giveBack(body);
    for (const length of [4096, 8192, 16_384, 65_536]) assert.notEqual(memory.take(length).buffer, body.buffer);
  }
});

test('memory that went to another thread, and memory of large bodies, does not come back', () => {
  const memory = new BodyMemory();
  const sent = memory.take(5000);
  structuredClone(sent, { transfer: [sent.buffer as ArrayBuffer] });
  memory.giveBack(sent);
  assert.equal(memory.take(5000).length, 8192);
  const large = memory.take((1 << 20) + 1);
  memory.giveBack(large);
  assert.notEqual(memory.take(large.length).buffer, large.buffer);
});
