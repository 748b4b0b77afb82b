import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { applyDelta, makeDelta } from '../../src/archive/delta.ts';
import { randomly } from '../random.ts';
import { testPage } from './pages.ts';

const limits = { bytes: 1 << 24 };

test('old and delta give the new version, whatever the two are', () => {
  const random = randomly(5);
  const magic = Buffer.from('37a430ec', 'hex');
  const bodies = [
    Buffer.alloc(0),
    Buffer.from('x'),
    magic,
    Buffer.concat([magic, randomBytes(300)]),
    testPage(1).plain,
    testPage(2).plain,
    Buffer.from(randomBytes(300_000).toString('base64')),
    ...Array.from({ length: 10 }, () => Buffer.from(random.garbage(3000))),
  ];
  for (const before of bodies) {
    for (const after of bodies) {
      assert.ok(
        after.equals(applyDelta(before, makeDelta(before, after), limits)),
        `${before.length} → ${after.length}`,
      );
    }
  }
});

test('an edit of a large page costs the edit', () => {
  const before = Buffer.from(randomBytes(600_000).toString('base64'));
  const after = Buffer.concat([Buffer.from('new at the top '), before.subarray(0, 500_000), before.subarray(500_040)]);
  const delta = makeDelta(before, after);
  assert.ok(delta.length < 400, `${delta.length} bytes`);
  assert.ok(delta.length < gzipSync(after).length / 1000);
});

test('a delta that cannot be right is refused', () => {
  const before = testPage(3).plain;
  const after = Buffer.concat([before, Buffer.from('more')]);
  const delta = makeDelta(before, after);
  assert.throws(() => applyDelta(after, delta, limits), { code: 'bad-frame' });
  assert.throws(() => applyDelta(before, delta, { bytes: after.length - 1 }), { code: 'bad-frame' });
  for (let length = 0; length < delta.length; length++) {
    assert.throws(() => applyDelta(before, delta.subarray(0, length), limits), { code: 'bad-frame' });
  }
  const random = randomly(9);
  for (let round = 0; round < 300; round++) {
    const damaged = Uint8Array.from(delta);
    damaged[random.below(damaged.length)]! ^= 1 + random.below(255);
    try {
      assert.ok(applyDelta(before, damaged, limits).length <= limits.bytes); // the carrier's checksum is for the rest
    } catch (error) {
      assert.equal((error as { code: string }).code, 'bad-frame');
    }
  }
});
