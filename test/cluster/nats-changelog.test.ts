/** Changelog and snapshots in a real nats-server, also while it is killed and started again. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { Fenced } from '../../src/cluster/changelog/changelog.ts';
import { readChanges } from '../../src/cluster/changelog/changelog-reader.ts';
import { ChangelogWriter } from '../../src/cluster/changelog/changelog-writer.ts';
import { natsChangelog } from '../../src/cluster/changelog/nats-changelog.ts';
import { type ClusterEngine, openEngine } from '../../src/cluster/engine.ts';
import { natsSnapshots } from '../../src/cluster/snapshots/nats-snapshots.ts';
import { changelogSubject } from '../../src/cluster/topology/layout.ts';
import { checkChangelog } from '../contracts/changelog.ts';
import { randomly } from '../random.ts';
import { type Nats, noNats, openNats } from './nats.ts';

const missing = noNats();
const collection = { id: randomUUID(), partitions: 4 };
const open = (nats: Nats): Promise<ClusterEngine> => openEngine({ address: nats.address, name: 'test', collection });

if (missing !== '') test('changelog in an engine', { skip: missing }, () => {});
else {
  checkChangelog('engine', async () => {
    const nats = await openNats();
    const engine = await open(nats);
    const dispose = async () => {
      await engine.close();
      await nats[Symbol.asyncDispose]();
    };
    return { ...natsChangelog(engine), [Symbol.asyncDispose]: dispose };
  });

  test('a server that is killed and comes back takes the changes once, and the fence stands', async () => {
    await using nats = await openNats();
    await using engine = await open(nats);
    const log = natsChangelog(engine);
    const writer = new ChangelogWriter(log, 1, { writer: { peer: 'ann', epoch: 1 }, sequence: 0, number: 0 });
    await writer.claim();
    const writing = (async () => {
      for (let number = 1; number <= 60; number++) await writer.append({ number, bytes: new Uint8Array(number) });
    })();
    for (let round = 0; round < 3; round++) {
      await nats.servers[0]!.kill();
      await nats.servers[0]!.start();
    }
    await writing;
    const numbers: number[] = [];
    for await (const { number, bytes } of readChanges(log, 1, 0)) {
      assert.equal(bytes.length, number);
      numbers.push(number);
    }
    assert.deepEqual(
      [...new Set(numbers)],
      Array.from({ length: 60 }, (_, i) => i + 1),
    );
    assert.deepEqual(
      numbers,
      [...numbers].sort((a, b) => a - b),
    );
    const { sequence } = (await log.last(1))!;
    const heir = new ChangelogWriter(log, 1, { writer: { peer: 'bob', epoch: 2 }, sequence, number: 60 });
    await heir.claim();
    await assert.rejects(writer.append({ number: 61, bytes: new Uint8Array(1) }), Fenced);
  });

  test('what no peer wrote into a changelog is passed over, and the fence stands beside it', async () => {
    await using nats = await openNats();
    await using engine = await open(nats);
    const log = natsChangelog(engine);
    const random = randomly(9);
    const litter = () => engine.jetstream.publish(changelogSubject(engine.layout, 1), random.bytes(2000));
    await litter();
    assert.equal(await log.last(1), undefined);
    const ann = new ChangelogWriter(log, 1, { writer: { peer: 'ann', epoch: 1 }, sequence: 0, number: 0 });
    await ann.claim();
    for (let number = 1; number <= 5; number++) {
      await ann.append({ number, bytes: new Uint8Array(number) });
      await litter();
    }
    const last = (await log.last(1))!;
    assert.deepEqual([last.writer.peer, last.number], ['ann', 5]);
    const bob = new ChangelogWriter(log, 1, {
      writer: { peer: 'bob', epoch: 2 },
      ...{ sequence: last.sequence, number: last.number },
    });
    await bob.claim();
    await litter();
    await assert.rejects(ann.append({ number: 6, bytes: new Uint8Array(1) }), Fenced);
    await bob.append({ number: 6, bytes: new Uint8Array(6) });
    const numbers: number[] = [];
    for await (const { number } of readChanges(log, 1, 0)) numbers.push(number);
    assert.deepEqual(numbers, [1, 2, 3, 4, 5, 6]);
  });

  test('what no peer wrote about a snapshot is as if there were none, and the next one goes over it', async () => {
    await using nats = await openNats();
    await using engine = await open(nats);
    const snapshots = natsSnapshots(engine);
    const note = { number: 4, sequence: 9, epoch: 1, schema: 1, time: 0 };
    const one = async function* () {
      yield new Uint8Array(10);
    };
    await engine.buckets.snapidx.put('p.3', '{"object":"../../etc"}');
    assert.equal(await snapshots.newest(3), undefined);
    await snapshots.put(3, note, one());
    assert.equal((await snapshots.newest(3))?.number, 4);
    await engine.buckets.snapidx.put('p.3', 'x');
    await snapshots.put(3, { ...note, number: 5 }, one());
    assert.equal((await snapshots.newest(3))?.number, 5);
  });

  test('the newest snapshot is the one that is read, two are kept, and an older one does not replace it', async () => {
    await using nats = await openNats();
    await using engine = await open(nats);
    const snapshots = natsSnapshots(engine);
    const random = randomly(4);
    const bytes = Uint8Array.from({ length: 1_300_000 }, () => random.below(256));
    async function* chunks(from: Uint8Array) {
      for (let at = 0; at < from.length; at += 500_000) yield from.subarray(at, at + 500_000);
    }
    const note = (number: number, epoch = 1) => ({ number, sequence: number * 2, epoch, schema: 1, time: number });
    assert.equal(await snapshots.newest(2), undefined);
    for (const number of [1, 2, 3]) await snapshots.put(2, note(number), chunks(bytes.subarray(0, number * 400_000)));
    await snapshots.put(2, note(2), chunks(bytes.subarray(0, 10)));
    const newest = (await snapshots.newest(2))!;
    assert.deepEqual([newest.number, newest.sequence, newest.bytes], [3, 6, 1_200_000]);
    const read: Uint8Array[] = [];
    for await (const chunk of snapshots.read(2)) read.push(chunk);
    assert.equal(Buffer.compare(Buffer.concat(read), bytes.subarray(0, 1_200_000)), 0);
    const kept = (await engine.snapshots.list()).map(({ name }) => name).sort();
    assert.deepEqual(kept, ['p2/1-2', 'p2/1-3']);
    await assert.rejects(async () => {
      for await (const _ of snapshots.read(0));
    }, /missing/);
  });
}
