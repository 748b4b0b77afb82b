/** Hubs and submissions at the public door: what is believed, what is not, and that little is done for strangers. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DAY, systemClock } from '../../../src/base/clock.ts';
import { NoticeDesk } from '../../../src/home/notices/desk.ts';
import { type Done, NOTHING, type Task } from '../../../src/home/notices/messages.ts';
import { readDelivery } from '../../../src/home/notices/reading/websub.ts';
import { Receivers } from '../../../src/home/notices/receivers.ts';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { believable } from '../../../src/notices/notice.ts';

const origin = 'https://site.test';
const feedUrl = `${origin}/feed.xml`;
const path = 'ab'.repeat(24);
const secret = 'a secret';

/** A door with a ledger behind it; what reaches the schedule is noted. */
async function open(reader: (task: Task) => Promise<Done> = async () => NOTHING) {
  const directory = mkdtempSync(join(tmpdir(), 'skein-door-'));
  const ledger = new Ledger(directory, 'write');
  ledger.begin();
  const server = ledger.servers.of(origin);
  const face = ledger.schedule.faces.add(
    { server: server.id, kind: 'websub', url: feedUrl, found: 'feed' },
    Date.now(),
  )!;
  const state = { hub: 'https://hub.test/', secret, path, asked: Date.now() };
  ledger.schedule.faces.put({ ...face, state });
  ledger.commit();
  const told: string[] = [];
  const frontier = {
    options: { allowPrivate: false, pace: 0 },
    admission: {
      find: (url: string) => {
        told.push(url);
        return 1;
      },
    },
    schedule: { ping: () => true },
  };
  const asked: Task[] = [];
  const reading = {
    do: (task: Task) => {
      asked.push(task);
      if (task.kind !== 'read') return reader(task);
      const done = readDelivery(task.face, task.bytes);
      return Promise.resolve({ ...done, notices: believable(done.notices, task.terms.origin, Date.now()) });
    },
  };
  const desk = new NoticeDesk({ ledger, frontier: frontier as never, clock: systemClock, reader: reading });
  const order = async <T>(work: () => T): Promise<T> => {
    ledger.begin();
    const result = work();
    ledger.commit();
    return result;
  };
  const rooms = [{ ledger, desk, reader: reading }];
  const receivers = new Receivers({ rooms: () => rooms, clock: systemClock, order });
  const http = createServer((request, response) => void receivers.answer(request, response));
  await new Promise<void>(resolve => http.listen(0, '127.0.0.1', resolve));
  const at = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return {
    ...{ at, ledger, told, asked },
    face: () => ledger.schedule.faces.byPath(path)!,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise(resolve => http.close(resolve));
      ledger.close();
      rmSync(directory, { recursive: true });
    },
  };
}

const feed = (n: number) =>
  `<feed><entry><link href="${origin}/${n}"/><updated>2025-01-0${n}T00:00:00Z</updated></entry>
   <entry><link href="https://other.test/x"/><updated>2025-01-09T00:00:00Z</updated></entry></feed>`;
const signed = (body: string, key = secret) => `sha256=${createHmac('sha256', key).update(body).digest('hex')}`;
const deliver = (at: string, body: string, signature: string, to = path) =>
  fetch(`${at}/notices/websub/${to}`, { method: 'POST', body, headers: { 'x-hub-signature': signature } });

test('a hub that verifies what we asked for gets its challenge back, and a lease is kept', async () => {
  await using door = await open();
  const query = new URLSearchParams({
    ...{ 'hub.mode': 'subscribe', 'hub.topic': feedUrl, 'hub.challenge': 'xyz', 'hub.lease_seconds': '86400' },
  });
  const answer = await fetch(`${door.at}/notices/websub/${path}?${query}`);
  assert.deepEqual([answer.status, await answer.text()], [200, 'xyz']);
  const { state, due, trouble } = door.face();
  assert.ok(Math.abs(state.lease! - Date.now() - DAY) < 60_000);
  assert.ok(due! < state.lease! && trouble === '');
  for (const [name, value] of [
    ['hub.topic', 'https://site.test/other'],
    ['hub.mode', 'unsubscribe'],
    ['hub.lease_seconds', 'x'],
  ] as const) {
    const other = new URLSearchParams(query);
    other.set(name, value);
    assert.equal((await fetch(`${door.at}/notices/websub/${path}?${other}`)).status, 404, name);
  }
  assert.equal((await fetch(`${door.at}/notices/websub/${'cd'.repeat(24)}?${query}`)).status, 404);
});

test('a delivery counts once, and only with the right signature', async () => {
  await using door = await open();
  for (const signature of ['', 'sha256=00', signed(feed(1), 'another'), `sha1=${'0'.repeat(40)}`]) {
    assert.equal((await deliver(door.at, feed(1), signature)).status, 202);
    assert.deepEqual(door.told, []);
  }
  assert.equal(door.asked.length, 0, 'what is not signed is not even read');
  assert.equal((await deliver(door.at, feed(1), signed(feed(1)))).status, 202);
  assert.deepEqual(door.told, [`${origin}/1`], 'of its own pages alone');
  door.told.length = 0;
  await deliver(door.at, feed(1), signed(feed(1)));
  assert.deepEqual(door.told, [], 'replayed');
  await deliver(door.at, 'x'.repeat(5 << 20), 'sha256=00').catch(() => {});
  assert.equal(door.face().words, 1);
});

const submit = (at: string, body: unknown) => fetch(`${at}/indexnow`, { method: 'POST', body: JSON.stringify(body) });
const key = '0123456789abcdef';

test('a submission is believed once the host has shown its key', async () => {
  let has = false;
  await using door = await open(async () => ({ ...NOTHING, granted: has }));
  const body = { host: 'site.test', key, urlList: [`${origin}/a`, `${origin}/b`] };
  assert.equal((await submit(door.at, body)).status, 403);
  assert.deepEqual(door.told, []);
  // The host is not asked again for whoever asks again.
  assert.equal((await submit(door.at, body)).status, 403);
  assert.equal(door.asked.length, 1);
  assert.deepEqual(door.asked[0], { ...door.asked[0], kind: 'verify', key, location: `${origin}/${key}.txt` });
  has = true;
  await using other = await open(async () => ({ ...NOTHING, granted: true }));
  assert.equal((await submit(other.at, body)).status, 200);
  assert.equal((await submit(other.at, body)).status, 200);
  assert.deepEqual(other.told, [`${origin}/a`, `${origin}/b`, `${origin}/a`, `${origin}/b`]);
  assert.equal(other.asked.length, 1, 'a key that was found is believed for a day');
});

test('nonsense, pages of others, a million pages and hosts that nobody visits make us ask nobody', async () => {
  await using door = await open(async () => ({ ...NOTHING, granted: true }));
  const many = Array.from({ length: 10_001 }, (_, i) => `${origin}/${i}`);
  const bodies = [
    { key, urlList: [`${origin}/a`, 'https://other.test/'] },
    { key: 'short', urlList: [`${origin}/a`] },
    { key, keyLocation: 'https://other.test/key.txt', urlList: [`${origin}/a`] },
    { key, keyLocation: `${origin}/folder/key.txt`, urlList: [`${origin}/a`] },
    { key, urlList: many },
    { key, urlList: 'x' },
    [],
    null,
  ];
  for (const body of bodies)
    assert.equal((await submit(door.at, body)).status, 422, JSON.stringify(body)?.slice(0, 80));
  assert.equal((await submit(door.at, { key, urlList: ['https://unknown.test/'] })).status, 202);
  const million = `{"key":"${key}","urlList":[${`"${origin}/aaaaaaaaaa",`.repeat(300_000)}""]}`;
  const large = await fetch(`${door.at}/indexnow`, { method: 'POST', body: million }).then(
    ({ status }) => status,
    () => 413, // the door has closed the connection before all was sent
  );
  assert.equal(large, 413);
  assert.equal(door.asked.length, 0);
  assert.deepEqual(door.told, []);
  const hour = { key, urlList: many.slice(0, 9000) };
  assert.deepEqual(
    [await submit(door.at, hour), await submit(door.at, hour), await submit(door.at, hour)].map(({ status }) => status),
    [200, 200, 429],
  );
  assert.equal((await fetch(`${door.at}/anything`)).status, 404);
});

/** The same from another address of this machine. */
function submitFrom(localAddress: string, at: string, body: unknown): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(`${at}/indexnow`, { method: 'POST', localAddress, agent: false }, answer => {
      answer.resume();
      resolve(answer.statusCode!);
    });
    asked.on('error', reject).end(JSON.stringify(body));
  });
}

const wrongKey = 'f'.repeat(16);
const onlyTheKey = async (task: Task): Promise<Done> => ({
  ...NOTHING,
  granted: task.kind === 'verify' && task.key === key,
});

test('who submits without the key uses up nothing of what the owner may submit', async () => {
  await using door = await open(onlyTheKey);
  const urlList = Array.from({ length: 9000 }, (_, i) => `${origin}/${i}`);
  for (let i = 0; i < 3; i++)
    assert.equal(await submitFrom('127.0.0.2', door.at, { key: `${wrongKey}${i}`, urlList }), 403);
  assert.equal((await submit(door.at, { key, urlList })).status, 200);
  assert.equal(door.told.length, 9000);
});

test('those who name wrong keys are asked for rarely, and the right key of another is still looked for', async () => {
  await using door = await open(onlyTheKey);
  const urlList = [`${origin}/a`];
  for (let i = 0; i < 30; i++)
    assert.equal(await submitFrom('127.0.0.2', door.at, { key: `${wrongKey}${i}`, urlList }), 403);
  assert.equal(door.asked.length, 1, 'one look a minute for one address');
  assert.equal((await submit(door.at, { key, urlList })).status, 200);
  for (let i = 3; i < 60; i++) await submitFrom(`127.0.0.${i}`, door.at, { key: `${wrongKey}${i}`, urlList });
  assert.ok(door.asked.length <= 8, `${door.asked.length} looks at one host for many addresses`);
  assert.equal((await submit(door.at, { key, urlList })).status, 200, 'a key that was found is believed');
});

test('strangers who never end what they say keep neither a hub out nor anybody else', async () => {
  await using door = await open(onlyTheKey);
  const { promise: full, resolve } = Promise.withResolvers<void>();
  let answered = 0;
  const slow = Array.from({ length: 40 }, (_, i) => {
    const address = { port: Number(new URL(door.at).port), host: '127.0.0.1', localAddress: `127.0.0.${2 + (i % 2)}` };
    const socket = connect(address);
    socket.on('error', () => {}); // the door may close it
    // Each of the two addresses has four places: all but those are answered.
    socket.once('data', () => ++answered === 32 && resolve());
    socket.write('POST /indexnow HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{');
    return socket;
  });
  try {
    await full;
    assert.equal((await deliver(door.at, feed(1), signed(feed(1)))).status, 202);
    assert.deepEqual(door.told, [`${origin}/1`]);
    assert.equal((await submit(door.at, { key, urlList: [`${origin}/a`] })).status, 200);
  } finally {
    for (const socket of slow) socket.destroy();
  }
});
