/** When faces are asked: what makes one wait, and for how long. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DAY, HOUR } from '../../../src/base/clock.ts';
import { NoticeDesk } from '../../../src/home/notices/desk.ts';
import { NOTHING, type Task } from '../../../src/home/notices/messages.ts';
import { Ledger } from '../../../src/ledger/ledger.ts';

const origin = 'https://site.test';
const begun = Date.UTC(2026, 0, 1);

/** A ledger with one server, and desks that run over it one after the other. */
function openDesks() {
  const directory = mkdtempSync(join(tmpdir(), 'skein-desk-'));
  const ledger = new Ledger(directory, 'write');
  ledger.begin();
  const server = ledger.servers.of(origin);
  let time = begun;
  const clock = { now: () => time, ticks: () => time, sleep: async () => {} };
  const frontier = { options: { allowPrivate: false, pace: 0 }, admission: {}, schedule: {}, news() {} };
  return {
    ledger,
    server,
    pass(milliseconds: number) {
      time += milliseconds;
    },
    /** What a run asks that begins now. */
    async run(address?: string): Promise<Task[]> {
      const asked: Task[] = [];
      const reader = {
        do: async (task: Task) => {
          asked.push(task);
          return { ...NOTHING, ...('face' in task && { state: task.face.state }), every: HOUR, granted: true };
        },
      };
      const parts = { ledger, frontier: frontier as never, clock: clock as never, reader };
      const desk = new NoticeDesk({ ...parts, ...(address !== undefined && { address }) });
      for (let turn = 0; turn < 3; turn++) {
        desk.turn();
        await new Promise(resolve => setImmediate(resolve));
        time += 2000;
      }
      return asked;
    },
    [Symbol.dispose]() {
      ledger.close();
      rmSync(directory, { recursive: true });
    },
  };
}

test('a server that rests for a moment is asked when it has rested', async () => {
  using desks = openDesks();
  const { ledger, server } = desks;
  ledger.schedule.faces.add({ server: server.id, kind: 'feed', url: `${origin}/feed.xml`, found: 'page' }, begun);
  server.notBefore = begun + 60_000;
  assert.deepEqual(await desks.run(), []);
  desks.pass(60_000);
  assert.deepEqual(
    (await desks.run()).map(({ kind }) => kind),
    ['poll'],
  );
});

test('a hub is asked by the first run with a door, and again when the door is elsewhere', async () => {
  using desks = openDesks();
  const { ledger, server } = desks;
  const face = ledger.schedule.faces.add(
    { server: server.id, kind: 'websub', url: `${origin}/feed.xml`, found: 'feed' },
    begun,
  )!;
  ledger.schedule.faces.put({ ...face, state: { hub: 'https://hub.test/', secret: 's', path: 'ab'.repeat(24) } });
  const callbacks = async (address?: string) =>
    (await desks.run(address)).map(task => (task.kind === 'subscribe' ? new URL(task.callback).origin : task.kind));
  assert.deepEqual(await callbacks(), []);
  assert.deepEqual(await callbacks('https://home.test'), ['https://home.test']);
  const asked = ledger.schedule.faces.all()[0]!;
  ledger.schedule.faces.put({ ...asked, state: { ...asked.state, lease: begun + 10 * DAY }, due: begun + 9 * DAY });
  assert.deepEqual(await callbacks('https://home.test'), []);
  assert.deepEqual(await callbacks('https://moved.test'), ['https://moved.test']);
  assert.deepEqual(await callbacks(), []);
});

test('a feed is left alone while another face tells of everything, and asked again when that misses changes', async () => {
  using desks = openDesks();
  const { ledger, server } = desks;
  const add = (kind: 'feed' | 'resourcesync') =>
    ledger.schedule.faces.add({ server: server.id, kind, url: `${origin}/${kind}.xml`, found: 'page' }, begun);
  add('feed');
  add('resourcesync');
  const trust = (missed: number) =>
    ledger.schedule.noticeTrust.put(server.id, 'resourcesync', { pings: 30, confirmed: 29, expected: 20, missed });
  const polled = async () => (await desks.run()).map(task => 'face' in task && task.face.kind).sort();
  assert.deepEqual(await polled(), ['feed', 'resourcesync']);
  trust(2);
  desks.pass(2 * DAY);
  assert.deepEqual(await polled(), ['resourcesync']);
  trust(4);
  desks.pass(2 * DAY);
  assert.deepEqual(await polled(), ['feed', 'resourcesync']);
});

test('no other face is read before a cursor that may make it needless, and all are where the cursor fails', async () => {
  using desks = openDesks();
  const { faces } = desks.ledger.schedule;
  const server = desks.server.id;
  faces.add({ server, kind: 'resourcesync', url: `${origin}/rs`, found: 'well-known' }, begun);
  faces.add({ server, kind: 'cursor', url: `${origin}/.well-known/skein`, found: 'well-known' }, begun);
  const asked = async () => (await desks.run()).flatMap(task => ('face' in task ? [task.face.kind] : []));
  assert.deepEqual(await asked(), ['cursor']);
  const cursor = faces.find(server, 'cursor', `${origin}/.well-known/skein`)!;
  faces.put({ ...cursor, failures: 1, trouble: 'damaged', due: begun + 9 * DAY });
  desks.pass(DAY + HOUR);
  assert.deepEqual(await asked(), ['resourcesync']);
});

test('a face that keeps a round waiting is asked the later, the more often it did, and is believed again once it answers', async () => {
  using desks = openDesks();
  const { ledger, server } = desks;
  ledger.schedule.faces.add(
    { server: server.id, kind: 'cursor', url: `${origin}/.well-known/skein`, found: 'well-known' },
    begun,
  );
  const { resolve, promise } = Promise.withResolvers<void>();
  const reader = {
    async do(task: Task) {
      await promise;
      return { ...NOTHING, ...('face' in task && { state: task.face.state }), every: HOUR, granted: true };
    },
  };
  const clock = { now: () => begun + HOUR, ticks: () => begun + HOUR, sleep: async () => {} };
  const frontier = { options: { allowPrivate: false, pace: 0 }, admission: {}, schedule: {}, news() {} };
  const desk = new NoticeDesk({ ledger, frontier: frontier as never, clock: clock as never, reader });
  desk.turn();
  const shown = () => {
    const { failures, trouble, due } = ledger.schedule.faces.all()[0]!;
    return { failures, trouble, after: (due! - begun - HOUR) / HOUR };
  };
  desk.late();
  assert.deepEqual(shown(), { failures: 1, trouble: 'it answers too slowly', after: 1 });
  desk.late();
  assert.deepEqual(shown(), { failures: 2, trouble: 'it answers too slowly', after: 2 });
  assert.equal(ledger.schedule.faces.tellingAll().size, 0, 'its silence says nothing meanwhile');
  resolve();
  await new Promise(done => setImmediate(done));
  desk.turn();
  assert.deepEqual([shown().failures, shown().trouble], [0, '']);
  assert.equal(ledger.schedule.faces.tellingAll().size, 1);
});

test('a face that always has more to tell is asked again the next day, and says why', async () => {
  using desks = openDesks();
  const { ledger, server } = desks;
  ledger.schedule.faces.add(
    { server: server.id, kind: 'cursor', url: `${origin}/.well-known/skein`, found: 'well-known' },
    begun,
  );
  let asked = 0;
  const reader = {
    async do(task: Task) {
      if (task.kind === 'poll') asked++;
      return { ...NOTHING, ...('face' in task && { state: task.face.state }), every: 0, granted: true };
    },
  };
  const clock = { now: () => begun + HOUR, ticks: () => begun + HOUR, sleep: async () => {} };
  const frontier = { options: { allowPrivate: false, pace: 0 }, admission: {}, schedule: {}, news() {} };
  const desk = new NoticeDesk({ ledger, frontier: frontier as never, clock: clock as never, reader });
  for (let turn = 0; turn < 100; turn++) {
    desk.turn();
    await new Promise(done => setImmediate(done));
  }
  assert.equal(asked, 51);
  const [face] = ledger.schedule.faces.all();
  assert.deepEqual([face!.trouble, face!.due], ['it has more to tell than is read in a day', begun + HOUR + DAY]);
});
