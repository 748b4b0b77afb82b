/** Leave to ask: nothing goes out without it, also not what had its turn before the process slept. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../../src/base/clock.ts';
import { AddressSlots, makeSlots } from '../../src/crawler/pace/address-slots.ts';
import { type AddressWishes, ToldLeave } from '../../src/crawler/pace/leave.ts';
import { Pace, type PaceTerms, type Turn } from '../../src/crawler/pace/pace.ts';
import { type Departure, RECALLED } from '../../src/crawler/stages.ts';
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
    assert.equal(turn!.leaves(), 0);
    move(8000); // nobody woke it: a stopped process hears of nothing
    assert.equal(turn!.leaves(), Number.POSITIVE_INFINITY);
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
  assert.equal(turns[0]!.leaves(), 0);
  turns[0]!.left();
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

test('a thread that was held up while it wrote counts from when it had written', async () => {
  const { move, turns, want, until } = paceWithLeave();
  want('http://a');
  until(60_000, 60_000);
  await settled();
  await settled();
  until(60_000, 60_000);
  await settled();
  assert.equal(turns[0]!.leaves(), 0);
  move(700); // others had the processor
  turns[0]!.left();
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

test('requests to one address keep their distance as they are written, however long a connection takes', async () => {
  const { move, turns, want, until } = paceWithLeave();
  want('http://a');
  want('http://b');
  until(60_000, 60_000);
  await settled();
  await settled();
  until(60_000, 60_000);
  await settled();
  assert.equal(turns.length, 1);
  move(250); // the first one is still connecting
  until(60_000, 60_000);
  await settled();
  assert.equal(turns.length, 2);
  assert.equal(turns[0]!.leaves(), 0);
  turns[0]!.left();
  move(100);
  assert.equal(turns[1]!.leaves(), 150);
  move(150);
  assert.equal(turns[1]!.leaves(), 0);
  turns[1]!.left();
  // A connection that was closed as the request was written: it goes out again, at the server's pace.
  assert.equal(turns[1]!.leaves(), 1000);
});

test('a server that goes from one thread of a machine to another keeps its pace', async () => {
  let time = 1_000_000;
  const clock: Clock = { now: () => time, ticks: () => time, sleep: () => new Promise(() => {}) };
  const memory = makeSlots();
  const threads = [0, 1].map(seat => new Pace(clock, { slots: new AddressSlots(memory, seat) }));
  const first = (await threads[0]!.turn('http://a', terms))!;
  assert.equal(first.leaves(), 0);
  first.left();
  first.done(fine);
  time += 50;
  const second = (await threads[1]!.turn('http://a', terms))!;
  assert.equal(second.leaves(), 950);
  time += 950;
  assert.equal(second.leaves(), 0);
  assert.equal((await threads[1]!.turn('http://b', terms))!.leaves(), 0, 'another server does not wait');
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

/** A departure that says these in turn. */
function departing(...waits: number[]): Departure & { asked: number; written: number } {
  return {
    asked: 0,
    written: 0,
    leaves() {
      return waits[this.asked++] ?? Number.NaN;
    },
    left() {
      this.written++;
    },
  };
}
const NEVER = Number.POSITIVE_INFINITY;

test('a request that may not go out any more does not reach the server', async t => {
  const server = await serve(t, socket => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
  const fetcher = fetcherFor(t);
  const refused = failure(await fetcher.fetch(ask(`${server.origin}/a`, { departure: departing(NEVER) })));
  assert.equal(refused.reason, RECALLED);
  assert.equal(response(await fetcher.fetch(ask(`${server.origin}/b`, { departure: departing(0) }))).status, 200);
  assert.equal(
    failure(await fetcher.fetch(ask(`${server.origin}/c`, { departure: departing(NEVER) }))).reason,
    RECALLED,
  );
  assert.deepEqual(
    server.requests.map(each => each.split(' ')[1]),
    ['/b'],
  );
});

test('a request whose moment has not come waits for it, with the connection that it has or with a new one', async t => {
  // A server that closes each connection soon after its answer: one that waits finds it gone.
  const server = await serve(t, socket => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    setTimeout(() => socket.end(), 5);
  });
  const fetcher = fetcherFor(t);
  for (const departure of [departing(1, 20, 0), departing(30, 0), departing(20, NEVER), departing(0)]) {
    const answer = await fetcher.fetch(ask(`${server.origin}/`, { departure }));
    const never = departure.written === 0;
    assert.equal(answer.kind, never ? 'failure' : 'response');
  }
  assert.equal(server.requests.length, 3);
});
