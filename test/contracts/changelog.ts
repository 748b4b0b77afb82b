/** What every changelog must do, in memory and in a real engine. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Changelog, Fenced, type Logged } from '../../src/cluster/changelog/changelog.ts';
import { readChanges } from '../../src/cluster/changelog/changelog-reader.ts';
import { ChangelogWriter } from '../../src/cluster/changelog/changelog-writer.ts';
import type { Changeset } from '../../src/ledger/replica/changes.ts';
import { randomly } from '../random.ts';

/** Each gets partitions that nobody has written to: 0 to 3. */
export type OpenChangelog = () => Promise<Changelog & AsyncDisposable>;

const writer = (log: Changelog, partition: number, peer: string, epoch: number, last?: Logged) =>
  new ChangelogWriter(log, partition, { writer: { peer, epoch }, sequence: last?.sequence ?? 0, number: 0 });

async function all<T>(from: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const each of from) list.push(each);
  return list;
}

const changes = (number: number, size = 100): Changeset => ({
  number,
  bytes: Uint8Array.from({ length: size }, (_, i) => (i * number) % 251),
});

export function checkChangelog(kind: string, open: OpenChangelog): void {
  test(`${kind}: changes come back in order, of one partition alone, from any place on`, async () => {
    await using log = await open();
    const [a, b] = [writer(log, 0, 'ann', 1), writer(log, 1, 'bob', 1)];
    await a.claim();
    await b.claim();
    const places: number[] = [];
    for (let number = 1; number <= 20; number++) {
      await a.append(changes(number));
      places.push(a.sequence);
      if (number % 3 === 0) await b.append(changes(number / 3));
    }
    assert.equal(a.acknowledged, 20);
    const read = await all(readChanges(log, 0, 0));
    assert.deepEqual(
      read.map(({ number, sequence }) => [number, sequence]),
      places.map((sequence, i) => [i + 1, sequence]),
    );
    for (const { number, bytes } of read) assert.deepEqual(new Uint8Array(bytes), changes(number).bytes);
    const later = await all(readChanges(log, 0, places[11]!));
    assert.deepEqual(
      later.map(({ number }) => number),
      [13, 14, 15, 16, 17, 18, 19, 20],
    );
    assert.deepEqual(await all(readChanges(log, 0, places[19]!)), []);
    assert.deepEqual(await all(readChanges(log, 2, 0)), []);
    const last = await log.last(0);
    assert.deepEqual([last?.writer.peer, last?.number, last?.sequence], ['ann', 20, places[19]]);
    assert.equal(await log.last(3), undefined);
  });

  test(`${kind}: who was overtaken writes nothing more`, async () => {
    await using log = await open();
    const ann = writer(log, 2, 'ann', 1);
    await ann.claim();
    await ann.append(changes(1));
    const bob = writer(log, 2, 'bob', 2, await log.last(2));
    await bob.claim();
    await assert.rejects(ann.append(changes(2)), Fenced);
    await bob.append(changes(2, 50));
    await assert.rejects(ann.append(changes(2)), Fenced);
    const again = writer(log, 2, 'ann', 1, await log.last(2));
    await again.claim(); // a claim with what is really the last: the engine's other rules keep epochs apart
    await assert.rejects(bob.append(changes(3)), Fenced);
    const numbers = (await all(readChanges(log, 2, 0))).map(({ number, bytes }) => [number, bytes.length]);
    assert.deepEqual(numbers, [
      [1, 100],
      [2, 50],
    ]);
  });

  test(`${kind}: of two who claim at the same time one wins`, async () => {
    await using log = await open();
    for (let round = 0; round < 10; round++) {
      const last = await log.last(3);
      const claims = ['ann', 'bob', 'eve'].map((peer, i) => writer(log, 3, peer, 3 * round + i, last).claim());
      const results = await Promise.allSettled(claims);
      assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
      for (const each of results) if (each.status === 'rejected') assert.ok(each.reason instanceof Fenced);
    }
  });

  test(`${kind}: what is larger than a message goes in parts, and half of it is nothing`, async () => {
    await using log = await open();
    const random = randomly(3);
    const large = { number: 2, bytes: Uint8Array.from({ length: 1_500_000 }, () => random.below(256)) };
    const ann = writer(log, 0, 'ann', 1);
    await ann.append(changes(1));
    await ann.append(large);
    assert.equal(ann.messages, 4);
    const { sequence } = (await log.last(0))!;
    const half = { writer: { peer: 'ann', epoch: 1 }, number: 3, part: 0, parts: 2, time: 5, bytes: changes(3).bytes };
    await log.publish(0, half, sequence);
    const bob = writer(log, 0, 'bob', 2, await log.last(0));
    await bob.claim();
    await bob.append(changes(3));
    const read = await all(readChanges(log, 0, 0));
    assert.deepEqual(
      read.map(({ number, bytes }) => [number, bytes.length]),
      [
        [1, 100],
        [2, 1_500_000],
        [3, 100],
      ],
    );
    assert.deepEqual(Buffer.compare(read[1]!.bytes, large.bytes), 0);
  });

  test(`${kind}: an entry whose answer was lost counts once; an attempt that was given up is no other owner`, async () => {
    await using log = await open();
    const entry = { writer: { peer: 'ann', epoch: 4 }, number: 1, part: 0, parts: 1, time: 7, bytes: changes(1).bytes };
    const first = await log.publish(1, entry, 0);
    assert.equal(await log.publish(1, entry, 0), first);
    const second = await log.publish(1, { ...entry, time: 8 }, 0);
    assert.ok(second > first);
    await assert.rejects(log.publish(1, { ...entry, writer: { peer: 'ann', epoch: 3 } }, first), Fenced);
  });
}
