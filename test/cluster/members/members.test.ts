/** Peers that hear each other over a real server. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { type ClusterEngine, openEngine } from '../../../src/cluster/engine.ts';
import { idle } from '../../../src/cluster/members/heartbeat.ts';
import { PeerMembers } from '../../../src/cluster/members/members.ts';
import { heartbeatSubject } from '../../../src/cluster/topology/layout.ts';
import { type Nats, noNats, openNats } from '../nats.ts';
import { until } from '../until.ts';

const skip = noNats() || false;

const open = (nats: Nats, name: string): Promise<ClusterEngine> =>
  openEngine({ address: nats.address, name, collection: { id: 'c', partitions: 8 } });

const join = (engine: ClusterEngine, name: string, clock: Clock = systemClock): Promise<PeerMembers> =>
  PeerMembers.join({ engine, name, clock, load: () => ({ ...idle, capacity: 2, exchanged: [['other', 1, 2]] }) });

describe('members', { skip }, () => {
  test('hear each other, and the one that leaves is gone at once', async () => {
    await using nats = await openNats();
    await using first = await open(nats, 'a');
    await using second = await open(nats, 'b');
    await using a = await join(first, 'a');
    const b = await join(second, 'b');
    a.start();
    assert.equal(b.livenessOf('holder'), 'suspect', 'not heard yet, so not dead yet');
    await until(() => a.list().length === 2 && b.list().length === 2);
    // One that has not started yet gets nothing.
    assert.deepEqual(a.ringMembers(), [{ name: 'a', capacity: 2 }]);
    b.start();
    await until(() => a.ringMembers().length === 2 && b.ringMembers().length === 2);
    assert.ok(a.mayFetch() && b.mayFetch());
    assert.deepEqual(a.list()[1]!.heartbeat.exchanged, [['other', 1, 2]]);
    b.startLeaving();
    await until(() => a.ringMembers().length === 1);
    assert.equal(a.livenessOf('b'), 'living');
    await b.leave();
    await until(() => a.livenessOf('b') === 'dead');
    assert.deepEqual(
      a.list().map(({ name }) => name),
      ['a'],
    );
    // Its name is free again, without waiting.
    await using again = await join(second, 'b');
    assert.ok(again.mayFetch());
  });

  test('whoever has joined knows who works, before any heartbeat comes', async () => {
    await using nats = await openNats();
    await using first = await open(nats, 'a');
    await using second = await open(nats, 'b');
    await using a = await join(first, 'a');
    a.start();
    await using b = await join(second, 'b');
    assert.equal(b.list().find(({ name }) => name === 'a')?.heartbeat.phase, 'working');
  });

  test('a second peer of the same name is refused in a sentence', async () => {
    await using nats = await openNats();
    await using first = await open(nats, 'a');
    await using second = await open(nats, 'a');
    await using a = await join(first, 'a');
    await assert.rejects(join(second, 'a'), {
      code: 'data-in-use',
      message: /A peer named a is already in this cluster/,
    });
    assert.ok(a.mayFetch() && !a.isFenced);
    // Two at once: one of them.
    const both = await Promise.allSettled([join(first, 'x'), join(second, 'x')]);
    assert.equal(both.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const result of both) if (result.status === 'fulfilled') await result.value.leave();
  });

  test('the name is refused also when the engine has forgotten who has it', async () => {
    await using nats = await openNats();
    await using first = await open(nats, 'a');
    await using second = await open(nats, 'a');
    await using _ = await join(first, 'a');
    await first.buckets.peers.purge('a');
    await assert.rejects(join(second, 'a'), { code: 'data-in-use' });
  });

  test('a newer Skein is refused while an older one works, and raises the versions when nobody does', async () => {
    await using nats = await openNats();
    await using first = await open(nats, 'a');
    const entry = await first.buckets.meta.get('collection');
    const older = { ...entry!.json<{ schema: number }>(), skein: '0.0.1' };
    older.schema -= 1;
    await first.buckets.meta.put('collection', JSON.stringify(older));
    const a = await join(first, 'a');
    await assert.rejects(open(nats, 'b'), { code: 'version-mismatch', message: /runs Skein 0\.0\.1/ });
    await a.leave();
    await assert.rejects(openEngine({ address: nats.address, name: 'v', looks: true }), { code: 'version-mismatch' });
    await using second = await open(nats, 'b');
    assert.equal(second.collection.schema, older.schema + 1);
    await using third = await open(nats, 'c');
    assert.deepEqual(third.collection, second.collection);
  });

  test('a peer that fell silent loses its name to its successor, and knows when it wakes', async () => {
    await using nats = await openNats();
    await using first = await open(nats, 'a');
    await using second = await open(nats, 'a');
    await using asleep = await join(first, 'a');
    // Frozen: its heartbeats are not sent, and it hears nothing.
    const publish = first.connection.publish.bind(first.connection);
    first.connection.publish = () => {};
    await using awake = await join(second, 'a');
    first.connection.publish = publish;
    await until(() => asleep.isFenced);
    assert.ok(!asleep.mayFetch());
    assert.ok(awake.mayFetch() && !awake.isFenced);
  });

  test('without the engine a peer asks nothing more, knows nothing any more after 8 s, and goes on when it is back', async () => {
    await using nats = await openNats();
    const [server] = nats.servers;
    await using engine = await open(nats, 'a');
    let ahead = 0;
    const clock: Clock = { ...systemClock, ticks: () => systemClock.ticks() + ahead };
    await using a = await join(engine, 'a', clock);
    await until(() => a.list().length === 1);
    await server!.kill();
    ahead += 7000;
    assert.ok(a.mayFetch());
    assert.ok(a.contact.asksUntil < clock.ticks(), 'what it fetched now would be fetched again by its heirs');
    ahead += 2000;
    await until(() => !a.mayFetch());
    await server!.start();
    await until(() => a.mayFetch() && a.contact.asksUntil > clock.ticks());
  });

  test('what is no heartbeat is not heard, and floods no memory', async () => {
    await using nats = await openNats();
    await using engine = await open(nats, 'a');
    await using a = await join(engine, 'a');
    for (let i = 0; i < 50; i++) engine.connection.publish(heartbeatSubject(`x${i}`), '{"name":"x"}');
    engine.connection.publish(heartbeatSubject('y'), Buffer.alloc(500_000));
    await engine.connection.flush();
    await until(() => a.list().length === 1);
  });
});
