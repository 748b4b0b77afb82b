/** Leave to ask: nothing goes out without it, also not what had its turn before the process slept. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../../src/base/clock.ts';
import { type AddressWishes, ToldLeave } from '../../src/crawler/pace/leave.ts';
import { Pace, type PaceTerms, type Turn } from '../../src/crawler/pace/pace.ts';
import { RECALLED } from '../../src/crawler/stages.ts';
import { ask, failure, fetcherFor, response, serve } from './fetch-server.ts';

const ADDRESS = '192.0.2.1';
const terms: PaceTerms = { pace: 1000, connections: 1, notBefore: 0, crawlDelay: 0 };
const settled = () => new Promise(resolve => setImmediate(resolve));
const fine = { status: 200, firstByteMs: 5, retryAfterMs: 0, failed: false, address: '' };

function paceWithLeave() {
  let time = 1_000_000;
  const clock: Clock = { now: () => time, ticks: () => time, sleep: () => new Promise(() => {}) };
  const told: AddressWishes[] = [];
  const leave = new ToldLeave(clock, wishes => told.push(wishes));
  const pace = new Pace(clock, { leave, locate: async () => ADDRESS });
  const turns: Turn[] = [];
  const want = (origin: string) => void pace.turn(origin, terms).then(turn => turns.push(turn!));
  const until = (ms: number, address?: number) =>
    leave.told({ until: time + ms, addresses: address === undefined ? [] : [[ADDRESS, time + address]] });
  return { move: (ms: number) => (time += ms), told, turns, want, until };
}

test('a turn comes with leave, for this machine and for the address', async () => {
  const { told, turns, want, until } = paceWithLeave();
  want('http://a');
  await settled();
  assert.equal(turns.length, 0);
  until(8000);
  await settled();
  await settled();
  assert.equal(turns.length, 0, 'the address is another machine’s');
  assert.deepEqual(told, [{ wanted: [[ADDRESS, 250]], done: [] }]);
  until(8000, 3000);
  await settled();
  assert.equal(turns.length, 1);
});

test('leave that ran out between the turn and the request keeps it back', async () => {
  for (const [machine, address] of [
    [8000, 9000],
    [9000, 8000],
  ] as const) {
    const { move, turns, want, until } = paceWithLeave();
    want('http://a');
    until(machine, address);
    await settled();
    await settled();
    until(machine, address);
    await settled();
    const [turn] = turns;
    assert.equal(turn!.leaves(), true);
    move(8000); // nobody woke it: a stopped process hears of nothing
    assert.equal(turn!.leaves(), false);
    turn!.done(fine);
    move(1000);
    want('http://a');
    await settled();
    assert.equal(turns.length, 1);
    until(8000, 8000);
    await settled();
    assert.equal(turns.length, 2, 'and goes on when there is leave again');
  }
});

test('the distance counts from when a request went out, not from its turn', async () => {
  const { move, turns, want, until } = paceWithLeave();
  want('http://a');
  until(60_000, 60_000);
  await settled();
  await settled();
  until(60_000, 60_000);
  await settled();
  move(700); // a connection was made meanwhile
  assert.equal(turns[0]!.leaves(), true);
  turns[0]!.done(fine);
  move(900);
  want('http://a');
  await settled();
  assert.equal(turns.length, 1);
  move(100);
  want('http://a');
  await settled();
  assert.equal(turns.length, 2);
});

test('an address that is not used is given back, one that is asked is not', async () => {
  const { move, told, turns, want, until } = paceWithLeave();
  want('http://a');
  until(60_000);
  await settled();
  await settled();
  until(60_000, 60_000);
  await settled();
  turns[0]!.leaves();
  move(5000);
  until(60_000);
  assert.equal(told.length, 1, 'an answer is awaited');
  turns[0]!.done(fine);
  move(2100);
  until(60_000);
  assert.deepEqual(told.at(-1), { wanted: [], done: [ADDRESS] });
  want('http://a');
  await settled();
  await settled();
  assert.equal(turns.length, 1, 'it has to be asked for anew');
});

test('a request that may not go out any more does not reach the server', async t => {
  const server = await serve(t, socket => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
  const fetcher = fetcherFor(t);
  const refused = failure(await fetcher.fetch(ask(`${server.origin}/a`, { leaves: () => false })));
  assert.equal(refused.reason, RECALLED);
  assert.equal(response(await fetcher.fetch(ask(`${server.origin}/b`, { leaves: () => true }))).status, 200);
  assert.equal(failure(await fetcher.fetch(ask(`${server.origin}/c`, { leaves: () => false }))).reason, RECALLED);
  assert.deepEqual(
    server.requests.map(each => each.split(' ')[1]),
    ['/b'],
  );
});
