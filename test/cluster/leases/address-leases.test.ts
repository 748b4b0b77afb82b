/** Turns at addresses: one peer at a time, over a real server, and when the desk moves. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { NatsConnection } from '@nats-io/transport-node';
import { systemClock } from '../../../src/base/clock.ts';
import { connectTo } from '../../../src/cluster/connection/connect.ts';
import { AddressLeases, type LeaseRequest } from '../../../src/cluster/leases/address-leases.ts';
import { LeaseDesk, LONG_SLICE, SLICE } from '../../../src/cluster/leases/lease-desk.ts';
import { answerQuestions } from '../../../src/cluster/rpc/answering.ts';
import { scatter } from '../../../src/cluster/rpc/scatter.ts';
import { randomly } from '../../random.ts';
import { noNats, openNats } from '../nats.ts';

const skip = noNats() || false;
const ask = (held = 0, pace = 1000) => ({ address: '10.0.0.1', pace, held });
const granted = (answer: object): number => ('granted' in answer ? (answer.granted as number) : 0);

describe('the desk', () => {
  test('grants long to one alone, and in turns when others wait', () => {
    const desk = new LeaseDesk(0, 'new');
    assert.deepEqual(desk.ask('a', ask(), 0), { granted: LONG_SLICE });
    assert.deepEqual(desk.ask('a', ask(5000), 5000), { granted: LONG_SLICE }, 'prolonged');
    assert.deepEqual(desk.ask('b', ask(), 6000), { wait: 15_000 + 1000 - 6000 }, 'its lease, and the pace after it');
    assert.deepEqual(desk.ask('a', ask(8000), 7000), { granted: 8000 }, 'not prolonged: b waits');
    desk.giveBack('a', '10.0.0.1', 8000);
    assert.equal(granted(desk.ask('b', ask(), 8500)), 0, 'the pace holds between them');
    desk.ask('c', ask(), 8600);
    assert.deepEqual(desk.ask('b', ask(), 9000), { granted: SLICE });
    assert.equal(granted(desk.ask('c', ask(), 12_999)), 0);
    assert.equal(granted(desk.ask('c', ask(), 13_000)), LONG_SLICE);
    // An address that nobody else wants is another matter.
    assert.deepEqual(desk.ask('b', { ...ask(), address: '10.0.0.2' }, 13_000), { granted: LONG_SLICE });
  });

  test('who no longer asks does not keep the others waiting', () => {
    const desk = new LeaseDesk(0, 'new');
    desk.ask('a', ask(), 0);
    desk.ask('b', ask(), 100);
    assert.equal(granted(desk.ask('c', ask(), 11_000)), LONG_SLICE);
  });

  test('one that moved grants nothing new while an old lease may run, and prolongs what is held', () => {
    const desk = new LeaseDesk(100_000, 'handed-over');
    assert.equal(granted(desk.ask('b', ask(), 100_100)), 0);
    assert.ok(granted(desk.ask('a', ask(4000), 100_200)) > 0);
    assert.equal(granted(desk.ask('b', ask(), 104_300)), 0);
    const other = new LeaseDesk(100_000, 'handed-over');
    assert.equal(granted(other.ask('b', ask(), 110_999)), 0);
    assert.equal(granted(other.ask('b', ask(), 111_000)), LONG_SLICE);
  });

  test('never two at once, and never closer than the pace, whatever they do', () => {
    const random = randomly(7);
    const names = ['a', 'b', 'c'];
    for (let round = 0; round < 20; round++) {
      const desk = new LeaseDesk(0, 'new');
      const until = new Map(names.map(name => [name, 0]));
      let last: { peer: string; at: number } | undefined;
      for (let ticks = 0; ticks < 60_000; ticks += 1 + random.below(400)) {
        const peer = random.pick(names);
        const held = Math.max(0, until.get(peer)! - ticks);
        if (random.below(12) === 0) {
          desk.giveBack(peer, '10.0.0.1', ticks);
          until.set(peer, 0);
          continue;
        }
        const time = granted(desk.ask(peer, ask(held, 700), ticks));
        if (time > 0) until.set(peer, ticks + time);
        if (until.get(peer)! <= ticks) continue;
        // It makes requests all the time while it may.
        for (const other of names) if (other !== peer) assert.ok(until.get(other)! <= ticks, `${peer} beside ${other}`);
        if (last && last.peer !== peer) assert.ok(ticks - last.at >= 700, `${last.peer}, then ${peer}`);
        last = { peer, at: ticks };
      }
    }
  });
});

describe('leases of several peers', { skip }, () => {
  test('requests to one address never mix, also when its desk dies', async () => {
    await using nats = await openNats();
    const names = ['a', 'b', 'c'];
    let desk = 'a';
    let ahead = 0;
    // Time goes faster than it is: slices of seconds would make a slow test.
    const clock = { ...systemClock, ticks: () => systemClock.ticks() * 20 + ahead };
    const open: NatsConnection[] = [];
    const peers = await Promise.all(
      names.map(async me => {
        const connection = await connectTo(nats.address, { name: me });
        open.push(connection);
        const leases = new AddressLeases({
          me,
          clock,
          partitionOf: () => 0,
          holderOf: () => desk,
          ask: async (peer, request: LeaseRequest) =>
            (await scatter(connection, [peer], { name: 'lease', args: request }, { deadline: 200 })).answers.get(peer),
        });
        const answering = answerQuestions(connection, me, { lease: args => leases.answer(args) });
        await connection.flush();
        return { me, leases, answering };
      }),
    );
    peers[0]!.leases.openDesk(0, 'new');
    const PACE = 1000;
    const requests: { peer: string; at: number }[] = [];
    const crawl = async ({ me, leases }: (typeof peers)[0], enough: () => boolean) => {
      leases.want('10.0.0.1', PACE);
      let next = 0;
      while (!enough()) {
        if (leases.nextTurn() <= clock.ticks()) await leases.turn();
        const now = clock.ticks();
        if (leases.until('10.0.0.1') > now && now >= next) {
          requests.push({ peer: me, at: now });
          next = now + PACE;
        }
        await new Promise(resolve => setTimeout(resolve, 5));
      }
      leases.done('10.0.0.1');
      await leases.turn();
    };
    const turns = () => requests.filter(({ peer }, i) => i > 0 && requests[i - 1]!.peer !== peer).length;
    await Promise.all(peers.map(peer => crawl(peer, () => turns() >= 6)));
    assert.deepEqual([...new Set(requests.map(({ peer }) => peer))].sort(), names);
    // The desk's peer dies, in the middle of what b has; c keeps it from now on.
    peers[0]!.answering[Symbol.dispose]();
    const before = turns();
    const lasting = Promise.all(peers.slice(1).map(peer => crawl(peer, () => turns() >= before + 4)));
    desk = 'c';
    peers[2]!.leases.openDesk(0, 'handed-over');
    await lasting;
    for (const [i, { peer, at }] of requests.entries()) {
      const last = requests[i - 1];
      if (last) assert.ok(at - last.at >= PACE, `${last.peer} at ${last.at}, ${peer} at ${at}`);
    }
    ahead = 0;
    for (const connection of open) await connection.close();
  });

  test('a desk that answers late holds up its own addresses alone', async () => {
    const late = Promise.withResolvers<unknown>();
    const asked: string[] = [];
    const leases = new AddressLeases({
      me: 'a',
      clock: systemClock,
      partitionOf: address => (address === '10.0.0.1' ? 0 : 1),
      holderOf: partition => ['slow', 'quick'][partition],
      ask: (peer, { asks }) => {
        asked.push(...asks.map(({ address }) => `${peer} ${address}`));
        return peer === 'slow' ? late.promise : Promise.resolve(asks.map(() => ({ granted: 5000 })));
      },
    });
    leases.want('10.0.0.1', 100);
    leases.want('10.0.0.2', 100);
    let told = 0;
    const turned = leases.turn(() => told++);
    await new Promise(resolve => setImmediate(resolve));
    assert.ok(leases.until('10.0.0.2') > systemClock.ticks());
    assert.equal(told, 1, 'threads hear of it at once');
    leases.want('10.0.0.3', 100);
    await leases.turn();
    assert.ok(leases.until('10.0.0.3') > systemClock.ticks());
    assert.deepEqual(asked, ['slow 10.0.0.1', 'quick 10.0.0.2', 'quick 10.0.0.3'], 'none is asked twice at once');
    late.resolve([{ granted: 5000 }]);
    await turned;
    assert.ok(leases.until('10.0.0.1') > systemClock.ticks());
  });

  test('what is no request to a desk is refused', () => {
    const leases = new AddressLeases({
      me: 'a',
      clock: systemClock,
      partitionOf: () => 0,
      holderOf: () => 'a',
      ask: async () => undefined,
    });
    for (const wrong of [null, {}, { peer: 'b', asks: [{ address: '', pace: 1, held: 0 }], back: [] }])
      assert.throws(() => leases.answer(wrong));
    const asks = [{ address: 'x', pace: 1, held: 0 }];
    assert.deepEqual(leases.answer({ peer: 'b', asks, back: [['y', 0]] }), [{ wait: SLICE }], 'not its desk');
  });
});
