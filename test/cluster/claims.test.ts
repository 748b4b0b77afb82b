/** Claims on partitions over a real server: one holder at a time, whoever is first. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { type Claim, Claims, planClaims } from '../../src/cluster/claims.ts';
import { openEngine } from '../../src/cluster/engine.ts';
import type { Liveness } from '../../src/cluster/members/detector.ts';
import { SharedRecord } from '../../src/cluster/shared-record.ts';
import { ownerKey } from '../../src/cluster/topology/layout.ts';
import { WatchedBucket } from '../../src/cluster/watched-bucket.ts';
import { type Nats, noNats, openNats } from './nats.ts';
import { until } from './until.ts';

const skip = noNats() || false;
const open = (nats: Nats, name: string) =>
  openEngine({ address: nats.address, name, collection: { id: 'c', partitions: 16 } });

describe('the plan', () => {
  const me = { name: 'a', session: 's2' };
  const held = (peer: string | null, session = 's1', epoch = 1): Claim => ({ peer, session, epoch });
  const states: Record<string, Liveness> = { a: 'living', b: 'living', c: 'suspect', d: 'dead' };
  const plan = (claim: Claim | undefined, wanted: string | undefined) => {
    const {
      take,
      release,
      await: waiting,
    } = planClaims({
      me,
      claims: [claim],
      wanted: [wanted],
      livenessOf: name => states[name] ?? 'dead',
    });
    return (
      [take.length && 'take', release.length && 'release', waiting.length && 'await'].filter(Boolean).join() || 'none'
    );
  };

  test("takes what is free or a dead peer's, waits for what a living one has, hands over what is another's", () => {
    assert.equal(plan(undefined, 'a'), 'take');
    assert.equal(plan(held(null), 'a'), 'take');
    assert.equal(plan(held('d'), 'a'), 'take');
    assert.equal(plan(held('a', 's1'), 'a'), 'take', 'its own, of before it started again');
    assert.equal(plan(held('a', 's2'), 'a'), 'none');
    assert.equal(plan(held('b'), 'a'), 'await');
    assert.equal(plan(held('c'), 'a'), 'await', 'a suspect peer keeps what it has');
    assert.equal(plan(held('a', 's2'), 'b'), 'release');
    assert.equal(plan(held('a', 's2'), 'c'), 'none', 'and gets nothing new');
    assert.equal(plan(held('a', 's2'), undefined), 'none');
    assert.equal(plan(held('a', 's1'), 'b'), 'take', 'of before it started again: nobody else can hand it over');
    assert.equal(plan(held('a', 's1'), 'c'), 'none');
    assert.equal(plan(held('b'), 'b'), 'none');
    assert.equal(plan(undefined, 'b'), 'none');
  });
});

describe('claims', { skip }, () => {
  test('one of many wins, everybody sees who, and it moves only by hand', async () => {
    await using nats = await openNats();
    const names = ['a', 'b', 'c', 'd'];
    const engines = await Promise.all(names.map(name => open(nats, name)));
    const claims = await Promise.all(
      engines.map((engine, i) => Claims.open(engine.buckets.owner, { name: names[i]!, session: `s${i}` }, 16)),
    );
    for (let round = 0; round < 8; round++) {
      const epochs = await Promise.all(claims.map(each => each.take(round)));
      assert.equal(epochs.filter(epoch => epoch === 1).length, 1);
      assert.equal(epochs.filter(epoch => epoch === undefined).length, 3);
      const winner = epochs.indexOf(1);
      await until(() => claims.every(each => each.of(round)?.peer === names[winner]));
      assert.deepEqual(
        claims.map(each => each.isMine(round)),
        names.map((_, i) => i === winner),
      );
      const loser = (winner + 1) % 4;
      assert.equal(await claims[loser]!.release(round), false);
      assert.equal(await claims[winner]!.release(round), true);
      assert.equal(await claims[winner]!.release(round), false);
      await until(() => claims[loser]!.of(round)?.peer === null);
      assert.equal(await claims[loser]!.take(round), 3);
      assert.equal(await claims[winner]!.isStillMine(round), false);
    }
    await using late = await open(nats, 'late');
    await using reader = await Claims.open(late.buckets.owner, { name: 'late', session: 's' }, 16);
    assert.equal(reader.all().filter(claim => claim !== undefined).length, 8);
    for (const each of claims) await each[Symbol.asyncDispose]();
    for (const engine of engines) await engine.close();
  });

  test('what is no claim is as if it were not there', async () => {
    await using nats = await openNats();
    await using engine = await open(nats, 'a');
    for (const [i, text] of ['', 'x', '{}', '{"peer":"a.b","session":"s","epoch":1}'].entries())
      await engine.buckets.owner.put(ownerKey(i), text);
    const heard = new Set<number>();
    await using claims = await Claims.open(engine.buckets.owner, { name: 'a', session: 's' }, 16, p => heard.add(p));
    assert.deepEqual(claims.all().filter(Boolean), []);
    assert.equal(await claims.take(2), 1);
    assert.ok(claims.isMine(2));
    assert.deepEqual(claims.mine(), [2]);
    assert.ok(heard.has(2));
    assert.equal(await claims.take(3, 7), 8, 'no epoch comes twice, though the claim that had it is gone');
    await engine.buckets.owner.put(ownerKey(4), `{"peer":null,"session":"","epoch":${2 ** 48}}`);
    while (!claims.of(4)) await new Promise(resolve => setTimeout(resolve, 10));
    assert.equal(await claims.take(4, 2), 3, 'one at the end of what a claim may have counts no more');
    assert.ok(claims.isMine(4));
  });

  test('three servers, their leader killed in the middle: still one winner each time', async () => {
    await using nats = await openNats({ servers: 3 });
    await using first = await open(nats, 'a');
    await using second = await open(nats, 'b');
    await using a = await Claims.open(first.buckets.owner, { name: 'a', session: 's' }, 16);
    await using b = await Claims.open(second.buckets.owner, { name: 'b', session: 't' }, 16);
    const { cluster } = await first.manager.streams.info('KV_skein_owner');
    const race = async (partition: number) => {
      const [x, y] = await Promise.all([a.take(partition), b.take(partition)]);
      assert.equal([x, y].filter(epoch => epoch !== undefined).length, 1, `partition ${partition}: ${x}, ${y}`);
      assert.notEqual(await a.isStillMine(partition), await b.isStillMine(partition));
    };
    for (let partition = 0; partition < 6; partition++) await race(partition);
    const races = [6, 7, 8, 9].map(race);
    await nats.servers.find(({ name }) => name === cluster?.leader)!.kill();
    await Promise.all(races);
    for (let partition = 10; partition < 16; partition++) await race(partition);
  });
});

describe('an engine that forgot', { skip }, () => {
  test('is made again under a living connection, and claims are made anew on it', async () => {
    await using nats = await openNats();
    const [server] = nats.servers;
    await using engine = await open(nats, 'a');
    const bucket = await WatchedBucket.open(engine.buckets.meta);
    await bucket.write('settings', 'old', 0);
    await bucket.write('budget-pages', 'spent', 0);
    const claims = await Claims.open(engine.buckets.owner, { name: 'a', session: 's' }, 16);
    assert.equal(await claims.take(3), 1);
    await server!.kill();
    server!.wipe();
    await server!.start();
    await until(async () => (await engine.restore().catch(() => [])).length > 0);
    assert.deepEqual(await engine.restore(), []);
    await bucket.check();
    assert.equal(bucket.get('settings')?.text, 'old', 'what this peer knows stays, for whoever writes it again');
    assert.ok(await bucket.write('settings', 'again', bucket.get('settings')!.revision));
    assert.equal(await engine.buckets.meta.get('budget-pages'), null);
    await bucket.restore();
    assert.equal(
      (await engine.buckets.meta.get('budget-pages'))?.string(),
      'spent',
      'so does all else that peers share',
    );
    assert.equal((await engine.buckets.meta.get('settings'))?.string(), 'again');
    await claims.check();
    assert.equal(await engine.buckets.owner.get(ownerKey(3)), null);
    assert.deepEqual([await claims.restore(3), await claims.restore(4)], [true, false]);
    assert.deepEqual((await engine.buckets.owner.get(ownerKey(3)))?.json(), { peer: 'a', session: 's', epoch: 1 });
    await claims[Symbol.asyncDispose]();
    await engine.buckets.meta.put('other', 'heard');
    await until(() => bucket.get('other')?.text === 'heard');
    bucket.close();
  });
});

describe('shared records', { skip }, () => {
  const form = z.object({ pace: z.number(), seeds: z.array(z.string()) });

  test('a change on one peer holds on all, and none is lost', async () => {
    await using nats = await openNats();
    await using first = await open(nats, 'a');
    await using second = await open(nats, 'b');
    const heard: string[] = [];
    await using one = await WatchedBucket.open(first.buckets.meta);
    await using two = await WatchedBucket.open(second.buckets.meta, key => heard.push(key));
    const here = new SharedRecord(one, 'settings', form);
    const there = new SharedRecord(two, 'settings', form);
    assert.equal(here.value, undefined);
    await here.change(() => ({ pace: 1, seeds: [] }));
    await until(() => there.value?.pace === 1);
    const add = (record: SharedRecord<z.infer<typeof form>>, seed: string) =>
      record.change(value => ({ ...value!, seeds: [...value!.seeds, seed] }));
    await Promise.all(Array.from({ length: 10 }, (_, i) => [add(here, `h${i}`), add(there, `t${i}`)]).flat());
    await until(() => here.value?.seeds.length === 20 && there.value?.seeds.length === 20);
    assert.deepEqual(here.value, there.value);
    assert.ok(heard.filter(key => key === 'settings').length >= 2);
    await assert.rejects(
      here.change(value => ({ ...value!, seeds: ['x'.repeat(600_000)] })),
      { code: 'bad-option' },
    );
    // Garbage leaves a peer at work what it knew; who joins is told.
    const known = there.value;
    await first.buckets.meta.put('settings', '{"pace":"fast"}');
    await until(() => two.get('settings')?.text.includes('fast') === true);
    assert.equal(there.value, known);
    assert.throws(() => new SharedRecord(two, 'settings', form).value, { code: 'damaged' });
  });
});
