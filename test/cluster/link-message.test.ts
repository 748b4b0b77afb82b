/** Links between partitions as they cross the wire: what was sent comes out, and nothing else is taken. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { decodeLinks, encodeLinks, MOST_BATCHES } from '../../src/cluster/exchange/link-message.ts';
import { randomly } from '../random.ts';

test('batches come out as they went in', async () => {
  const random = randomly(2);
  for (let round = 0; round < 20; round++) {
    const batches = Array.from({ length: 1 + random.below(20) }, () => random.bytes(500));
    const message = { from: random.below(64), first: 1 + random.below(1e9), batches };
    const read = await decodeLinks(await encodeLinks(message), 64);
    assert.deepEqual([read.from, read.first], [message.from, message.first]);
    assert.deepEqual(
      read.batches.map(batch => new Uint8Array(batch)),
      batches,
    );
  }
});

test('what is no message of links is refused, also where it grows without end', async () => {
  const good = Buffer.from(await encodeLinks({ from: 3, first: 7, batches: [new Uint8Array(40), new Uint8Array(9)] }));
  const changed = (at: number, value: number) => {
    const copy = Buffer.from(good);
    copy.writeUInt8(value, at);
    return copy;
  };
  const head = good.subarray(0, 16);
  const bomb = Buffer.concat([head, deflateRawSync(Buffer.alloc(MOST_BATCHES * 3))]);
  const short = Buffer.concat([head, deflateRawSync(Buffer.from([0, 0, 0, 9, 1]))]);
  const bad = [
    Buffer.alloc(0),
    Buffer.from('nothing'),
    good.subarray(0, 20),
    changed(0, 1),
    changed(7, 64),
    bomb,
    short,
  ];
  for (const [i, each] of bad.entries()) await assert.rejects(decodeLinks(each, 64), { code: 'bad-frame' }, `${i}`);
  const zero = Buffer.from(good);
  zero.writeDoubleBE(0, 8);
  await assert.rejects(decodeLinks(zero, 64), { code: 'bad-frame' });
  const random = randomly(5);
  for (let i = 0; i < 500; i++) {
    const garbled = Uint8Array.from(good, byte => (random.below(9) === 0 ? random.below(256) : byte));
    await decodeLinks(garbled, 64).catch((error: { code: string }) => assert.equal(error.code, 'bad-frame'));
  }
});
