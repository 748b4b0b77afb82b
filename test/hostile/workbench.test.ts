/** A workbench that listens for others, and those who do not mean well: they keep nobody out who holds a token. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:https';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { openWorkbench, type Workbench } from '../../src/workbench/server.ts';
import { makeCertificate } from '../crawler/fetch-certificate.ts';
import { type Collection, makeCollection } from '../journeys/collection.ts';
import { html, openPages, prose } from '../journeys/pages.ts';

let collection: Collection;
let workbench: Workbench;
let port: number;
const { cert, key } = makeCertificate(['localhost']);

before(async () => {
  collection = makeCollection();
  await using pages = await openPages();
  pages.set('/', { body: html('Front', [prose(1)]) });
  await collection.crawl([`${pages.origin}/`]);
  const tls = { certificate: cert, key };
  const users = [{ name: 'ben', role: 'steer' }] as const;
  workbench = await openWorkbench({
    ...{ directory: collection.directory, port: 0, host: '0.0.0.0', version: 'test', tls, users },
  });
  ({ port } = workbench);
});

after(async () => {
  await workbench.close();
  collection[Symbol.dispose]();
});

const tokenOf = (address: string) => new URL(address).searchParams.get('token')!;

interface Asked {
  readonly method?: string;
  readonly from?: string;
  readonly token?: string;
  readonly body?: Buffer;
  /** Leaves as soon as an answer begins, or at once. */
  readonly leaves?: 'then' | 'now';
}

/** The status of the answer; 0 = there was none. */
function ask(path: string, { method = 'GET', from = '127.0.0.1', token = '', body, leaves }: Asked): Promise<number> {
  return new Promise(resolve => {
    const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) };
    const how = {
      ca: cert,
      servername: 'localhost',
      host: '127.0.0.1',
      port,
      localAddress: from,
      agent: false as const,
    };
    const sent = request({ ...how, path, method, headers }, response => {
      response.on('error', () => {});
      if (leaves) sent.destroy();
      else response.resume();
      resolve(response.statusCode!);
    });
    sent.on('error', () => resolve(0));
    sent.end(body);
    if (leaves === 'now') sent.once('finish', () => setImmediate(() => sent.destroy()));
  });
}

test("whoever asks to listen and leaves, or asks for the head alone, takes nobody's place", async () => {
  const token = tokenOf(workbench.address);
  for (let i = 0; i < 70; i += 10)
    await Promise.all(Array.from({ length: 10 }, () => ask('/api/v1/live', { token, method: 'HEAD' })));
  for (const leaves of ['then', 'now'] as const)
    for (let i = 0; i < 70; i += 10)
      await Promise.all(Array.from({ length: 10 }, () => ask('/api/v1/live', { token, leaves })));
  assert.equal(await ask('/api/v1/live', { token, leaves: 'then' }), 200);
});

test('connections that say nothing are few for each who makes them, and others come in', async () => {
  const silent: Socket[] = [];
  try {
    for (let i = 0; i < 300; i++) {
      const socket = connect({ host: '127.0.0.1', port, localAddress: '127.0.0.3' });
      socket.on('error', () => {}); // closed by the other side
      silent.push(socket);
      await once(socket, 'connect');
    }
    assert.equal(await ask('/api/v1/now', { token: tokenOf(workbench.address) }), 200);
    const open = silent.filter(
      ({ closed, destroyed, readableEnded }) => !closed && !destroyed && !readableEnded,
    ).length;
    assert.ok(open <= 150, `${open} are open`);
  } finally {
    for (const socket of silent) socket.destroy();
  }
});

test('an order has a length', async () => {
  const [ben] = workbench.users;
  const body = Buffer.from(JSON.stringify({ order: { kind: 'add', urls: ['x'.repeat(20_000_000)] } }));
  assert.ok([0, 413].includes(await ask('/api/v1/steer', { method: 'POST', token: tokenOf(ben!.address), body })));
  assert.equal(await ask('/api/v1/now', { token: tokenOf(ben!.address) }), 200);
});
