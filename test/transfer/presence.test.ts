/** Whether an outpost is there: what it said on a line counts for that line, and its lease runs while it is away. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Line } from '../../src/transfer/line.ts';
import { Presence } from '../../src/transfer/presence.ts';
import type { Hello } from '../../src/transfer/wire/messages.ts';

const AWAY = 60_000;
const CLOSED = 10_000;

/** Of a line nothing matters here but how it ended. */
const line = (closed: boolean) => ({ silent: 5, closed }) as Line;
const hello = (room: number) => ({ room }) as Hello;

function presence(t: { mock: typeof import('node:test').mock }, errands = 0) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const lost: string[] = [];
  const lease = { away: AWAY, closed: CLOSED };
  const outpost = new Presence('near', { lease, errands: () => errands, lost: why => lost.push(why) });
  return { outpost, lost };
}

test('one that never comes is lost when its lease ends, and has no room before', t => {
  const { outpost, lost } = presence(t, 3);
  assert.deepEqual([outpost.connected, outpost.room, outpost.hello], [false, 0, undefined]);
  assert.deepEqual([outpost.status.state, outpost.status.errands, outpost.status.name], ['away', 3, 'near']);
  t.mock.timers.tick(AWAY - 1);
  assert.deepEqual(lost, []);
  t.mock.timers.tick(1);
  assert.deepEqual(lost, ['it has not connected yet']);
});

test('room is what it says last on this line; a full disk has none', t => {
  const { outpost, lost } = presence(t);
  outpost.came(line(false), hello(40));
  assert.deepEqual([outpost.room, outpost.told], [40, false]);
  outpost.says({ room: 7 });
  outpost.says({ state: 'full', trouble: 'the disk is full' });
  assert.deepEqual([outpost.room, outpost.told, outpost.status.trouble], [0, true, 'the disk is full']);
  outpost.came(line(false), hello(30));
  assert.deepEqual([outpost.room, outpost.told, outpost.status.state], [30, false, 'working']);
  t.mock.timers.tick(10 * AWAY);
  assert.deepEqual(lost, [], 'while it is there no lease runs');
});

test('its lease is short where the system closed its line, and whole where the line broke', t => {
  for (const [closed, lease] of [[true, CLOSED] as const, [false, AWAY] as const]) {
    const { outpost, lost } = presence(t);
    const last = line(closed);
    outpost.came(last, hello(1));
    outpost.left(last, 'it broke', undefined);
    assert.deepEqual([outpost.connected, outpost.room, outpost.status.state], [false, 0, 'away']);
    assert.equal(outpost.deserted !== undefined, closed);
    t.mock.timers.tick(lease - 1);
    assert.deepEqual(lost, []);
    t.mock.timers.tick(1);
    assert.deepEqual(lost, ['it broke']);
    t.mock.timers.reset();
  }
});

test('one that says that it is done is lost at once; one that comes back in time is not', t => {
  const { outpost, lost } = presence(t);
  const first = line(true);
  outpost.came(first, hello(1));
  outpost.left(first, 'it was restarted', undefined);
  t.mock.timers.tick(CLOSED - 1);
  const second = line(false);
  outpost.came(second, hello(1));
  t.mock.timers.tick(10 * AWAY);
  assert.deepEqual([lost, outpost.deserted], [[], undefined]);
  outpost.left(second, 'it was stopped', 'done');
  assert.deepEqual(lost, ['it was stopped']);
});

test('nobody is told of one that was given up here', t => {
  const { outpost, lost } = presence(t);
  outpost.came(line(false), hello(9));
  outpost.gone();
  t.mock.timers.tick(10 * AWAY);
  assert.deepEqual([lost, outpost.room, outpost.connected], [[], 0, false]);
});
