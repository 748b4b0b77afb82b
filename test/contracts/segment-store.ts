/** What every store of segments must do, this disk alone or with copies elsewhere. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MissingSegment, type SegmentSource, type SegmentStore } from '../../src/archive/store/segment-store.ts';
import { randomly } from '../random.ts';

/** An empty store, and the same opened once more as another process would. */
export interface OpenStore extends AsyncDisposable {
  readonly store: SegmentStore;
  again(): SegmentStore;
}

const bytesOf = (seed: number, length: number): Uint8Array => {
  const random = randomly(seed);
  return Uint8Array.from({ length }, () => random.below(256));
};

export async function allOf(source: SegmentSource, id: number, most = 4_000_000): Promise<Buffer> {
  const into = Buffer.alloc(most);
  return into.subarray(0, await source.read(id, 0, into));
}

export function checkSegmentStore(kind: string, open: () => Promise<OpenStore>): void {
  test(`${kind}: what was appended is read back, by any range, from any segment`, async () => {
    await using opened = await open();
    const { store } = opened;
    const parts = [bytesOf(1, 1000), bytesOf(2, 1), bytesOf(3, 200_000), bytesOf(4, 300_000)];
    const offsets = parts.map(part => store.append(1, part));
    assert.deepEqual(offsets, [0, 1000, 1001, 201_001]);
    store.seal(1);
    assert.equal(store.append(2, bytesOf(5, 10)), 0);
    await store.sync();
    const whole = Buffer.concat(parts);
    for (const source of [store, opened.again()]) {
      assert.deepEqual(await source.list(), [
        { id: 1, bytes: whole.length },
        { id: 2, bytes: 10 },
      ]);
      const random = randomly(7);
      for (let round = 0; round < 40; round++) {
        const offset = random.below(whole.length);
        const into = Buffer.alloc(1 + random.below(round < 30 ? 2000 : whole.length));
        const read = await source.read(1, offset, into);
        assert.equal(read, Math.min(into.length, whole.length - offset));
        assert.ok(into.subarray(0, read).equals(whole.subarray(offset, offset + read)));
      }
      assert.equal(await source.read(1, whole.length, Buffer.alloc(5)), 0, 'nothing is behind the end');
      source.close();
    }
  });

  test(`${kind}: reads that run at the same time do not disturb each other`, async () => {
    await using opened = await open();
    const { store } = opened;
    const segments = Array.from({ length: 20 }, (_, i) => bytesOf(i, 2000 + i));
    for (const [i, bytes] of segments.entries()) {
      store.append(i + 1, bytes);
      store.seal(i + 1);
    }
    await store.sync();
    const reads = [...segments, ...segments].map(async (bytes, i) => {
      assert.ok((await allOf(store, (i % 20) + 1)).equals(bytes));
    });
    await Promise.all(reads);
    store.close();
  });

  test(`${kind}: a segment that is not there is missing, for both kinds of reads`, async () => {
    await using opened = await open();
    const { store } = opened;
    assert.deepEqual(await store.list(), []);
    await assert.rejects(store.read(3, 0, Buffer.alloc(5)), MissingSegment);
    await assert.rejects(store.read(3, 0, Buffer.alloc(500_000)), MissingSegment);
    assert.throws(() => store.here.read(3, 0, Buffer.alloc(5)), MissingSegment);
    store.close();
  });

  test(`${kind}: what is cut is gone, and appending goes on from there`, async () => {
    await using opened = await open();
    const { store } = opened;
    store.append(1, bytesOf(1, 5000));
    store.cut(1, 1234);
    assert.equal(store.append(1, bytesOf(2, 100)), 1234);
    const expected = Buffer.concat([bytesOf(1, 5000).subarray(0, 1234), bytesOf(2, 100)]);
    assert.ok((await allOf(store, 1)).equals(expected));
    await store.sync();
    const again = opened.again();
    assert.ok((await allOf(again, 1)).equals(expected));
    assert.equal(again.append(1, bytesOf(3, 7)), 1334, 'another process goes on behind it');
    again.close();
    store.close();
  });

  test(`${kind}: what was removed is gone, here and everywhere; to remove it twice is no error`, async () => {
    await using opened = await open();
    const { store } = opened;
    for (const id of [1, 2]) {
      store.append(id, bytesOf(id, 500));
      store.seal(id);
    }
    await store.sync();
    await store.remove(1);
    await store.remove(1);
    assert.deepEqual(
      (await store.list()).map(({ id }) => id),
      [2],
    );
    await assert.rejects(store.read(1, 0, Buffer.alloc(5)), MissingSegment);
    store.removeHere(2);
    assert.deepEqual(store.here.list(), []);
    store.close();
  });
}
