/** Changelogs are cut up to what some partition still needs, with a real server; and what was cut is not missed. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { afterConflict, Fenced, Forgotten, type Logged } from '../../src/cluster/changelog/changelog.ts';
import { ChangelogWriter } from '../../src/cluster/changelog/changelog-writer.ts';
import { cutChangelogs, neededFrom } from '../../src/cluster/changelog/cutting.ts';
import { natsChangelog } from '../../src/cluster/changelog/nats-changelog.ts';
import { readEngineAddress } from '../../src/cluster/connection/address.ts';
import { openEngine } from '../../src/cluster/engine.ts';
import type { PeerMembers } from '../../src/cluster/members/members.ts';
import type { Custody } from '../../src/cluster/peer/custody.ts';
import { natsSnapshots } from '../../src/cluster/snapshots/nats-snapshots.ts';
import { openLine } from '../journeys/line.ts';
import { noNats, openNats } from './nats.ts';

const skip = noNats() || false;

test('what a partition needs: all after its snapshot, and its last message', () => {
  assert.equal(neededFrom(undefined, undefined), undefined);
  assert.equal(neededFrom({ sequence: 7, number: 3 }, undefined), 0, 'there is no snapshot');
  assert.equal(neededFrom({ sequence: 90, number: 8 }, { sequence: 40, number: 5 }), 41);
  assert.equal(neededFrom({ sequence: 90, number: 5 }, { sequence: 40, number: 5 }), 90, 'nothing came after it');
});

test('a fence comes after what its writer knows of; an engine that was wiped or is older does not fence', () => {
  const entry = { writer: { peer: 'a', epoch: 5 }, number: 9, part: 0, parts: 1, time: 1, bytes: new Uint8Array(1) };
  const by = (peer: string, sequence: number): Logged => ({ ...entry, writer: { peer, epoch: 5 }, sequence, time: 2 });
  assert.throws(() => afterConflict(0, entry, undefined, 7), Forgotten);
  assert.throws(() => afterConflict(0, entry, by('b', 6), 7), Forgotten);
  assert.throws(() => afterConflict(0, entry, by('a', 6), 7), Forgotten);
  assert.throws(() => afterConflict(0, entry, by('b', 8), 7), Fenced);
  assert.deepEqual(afterConflict(0, entry, by('a', 8), 7), { expect: 8 });
});

test('a connection over a slow line ends, though what waits there does not arrive in time', { skip }, async () => {
  await using nats = await openNats();
  await using line = await openLine(nats.servers[0]!.port);
  const collection = { id: crypto.randomUUID(), partitions: 2 };
  const address = readEngineAddress(`nats://127.0.0.1:${line.port}`);
  const engine = await openEngine({ address, name: 'test', collection });
  engine.connection.subscribe('skein.test');
  line.slow(1500);
  await engine.close();
  assert.ok(engine.connection.isClosed());
});

describe('a changelog', { skip }, () => {
  test('is cut behind the snapshots of all partitions, and goes on', async () => {
    await using nats = await openNats();
    const collection = { id: crypto.randomUUID(), partitions: 2 };
    await using engine = await openEngine({ address: nats.address, name: 'test', collection });
    const [log, snapshots] = [natsChangelog(engine), natsSnapshots(engine)];
    const writers = [0, 1].map(
      partition => new ChangelogWriter(log, partition, { writer: { peer: 'a', epoch: 1 }, sequence: 0, number: 0 }),
    );
    const change = (number: number) => ({ number, bytes: new Uint8Array(100).fill(number) });
    for (let number = 1; number <= 10; number++) for (const writer of writers) await writer.append(change(number));
    const members = { name: 'a', ringMembers: () => [{ name: 'b' }, { name: 'a' }] } as unknown as PeerMembers;
    const custody = { held: new Map() } as unknown as Custody;
    const cut = () => cutChangelogs({ engine, members, custody, above: 0 });
    const keep = async (partition: number) => {
      const { sequence, acknowledged: number } = writers[partition]!;
      await snapshots.put(partition, { number, sequence, epoch: 1, schema: 1, time: 1 }, chunks());
    };
    async function* chunks() {
      yield new Uint8Array(10);
    }
    assert.equal(await cut(), 0, 'nothing is in a snapshot');
    await keep(0);
    assert.equal(await cut(), 0, 'the other needs all of it');
    await keep(1);
    await writers[1]!.append(change(11));
    assert.equal(await cut(), 18, 'up to the last message of the first');
    await writers[0]!.claim(); // as Keeper.moveUp does
    assert.equal(await cut(), 2);
    for (const writer of writers) await writer.append(change(12));
    const left = [];
    for await (const { number } of log.read(0, 0)) left.push(number);
    assert.deepEqual(left, [10, 12], 'its own claim, and what came after');
    assert.equal(
      await cutChangelogs({ engine, custody, members: { ...members, name: 'b' } as PeerMembers, above: 0 }),
      0,
    );
  });
});
