/** A server that sends pages as their difference from an older version (RFC 9842) is asked for that, and is checked. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { openLedger } from '../../src/engine/open-ledger.ts';
import { verifyCollection } from '../../src/home/checks/verify.ts';
import { openCopiesHere } from '../../src/home/copies/copies.ts';
import { makeCollection } from './collection.ts';
import { html, prose } from './pages.ts';

const HEAD = Buffer.from('5e2a4d1820000000', 'hex');
const page = (n: number, edition: string) =>
  html(`Page ${n}`, [prose(n, 300), `The ${edition} edition of page ${n}.`, prose(n + 1, 300)], ['/']);

async function openServer() {
  const pages = new Map<string, string>();
  const versions = new Map<string, Buffer>();
  const asked: string[] = [];
  let broken = false;
  let bytes = 0;
  const server = createServer((request, response) => {
    const path = request.url!;
    const text = pages.get(path);
    if (text === undefined) return response.writeHead(404, { 'content-type': 'text/plain' }).end('none');
    const body = Buffer.from(text);
    const etag = `"${hash('sha256', body).slice(0, 16)}"`;
    const headers = { 'content-type': 'text/html', etag, 'use-as-dictionary': `match="${path}"` };
    if (request.headers['if-none-match'] === etag) return response.writeHead(304, { etag }).end();
    versions.set(hash('sha256', body, 'base64'), body);
    const named = String(request.headers['available-dictionary'] ?? '').replaceAll(':', '');
    const dictionary = versions.get(named);
    const reads = /\bdcz\b/.test(String(request.headers['accept-encoding']));
    asked.push(dictionary && reads ? `difference ${path}` : path);
    if (!dictionary || !reads) return response.writeHead(200, headers).end(body);
    const frame = broken ? Buffer.from('nonsense') : zstdCompressSync(body, { dictionary });
    const packed = Buffer.concat([HEAD, Buffer.from(named, 'base64'), frame]);
    bytes += packed.length;
    response.writeHead(200, { ...headers, 'content-encoding': 'dcz' }).end(packed);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    ...{ pages, asked, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    bytes: () => bytes,
    spoil: () => void (broken = true),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

function furnish(pages: Map<string, string>): void {
  const numbers = Array.from({ length: 10 }, (_, n) => n);
  pages.set('/', html('Front', [prose(99)], numbers.map(n => `/${n}.html`))); // biome-ignore format: one line
  for (const n of numbers) pages.set(`/${n}.html`, page(n, 'first'));
}

test('a changed page comes as its difference, is stored whole, and the account says what that saved', async () => {
  using collection = makeCollection();
  await using server = await openServer();
  furnish(server.pages);
  await collection.crawl([`${server.origin}/`]);
  await collection.refresh({ budget: '1' });
  const [face] = collection.look(ledger => ledger.schedule.faces.all());
  assert.deepEqual([face?.kind, face?.due], ['dictionary', null]);
  for (const edition of ['second', 'third']) {
    collection.pass(1);
    server.pages.set('/4.html', page(4, edition));
    server.asked.length = 0;
    await collection.refresh({ budget: '100%' });
    // Answers "as before" are checked now and then, by a difference that says nothing.
    assert.deepEqual(
      server.asked.filter(path => path.endsWith('/4.html')),
      ['difference /4.html'],
    );
    const visit = collection.visits(`${server.origin}/4.html`).at(-1)!;
    assert.deepEqual([visit.outcome, visit.cause], ['fetched', 'dictionary']);
    const stored = collection.look(ledger => {
      using copies = openDisposable(openCopiesHere(ledger));
      return copies.value.newest(ledger.pages.known(visit.page)!)!;
    });
    assert.equal(stored.type, 'response');
    assert.equal(stored.headers.get('content-encoding'), undefined);
    assert.equal(Buffer.from(stored.body).toString(), page(4, edition));
  }
  const row = collection.look(ledger => ledger.servers.account.rows().find(({ cause }) => cause === 'dictionary'))!;
  assert.ok(row.avoided > row.spent, `${row.spent} spent, ${row.avoided} avoided`);
  const ledger = openLedger(collection.directory);
  const { problems } = await verifyCollection(ledger);
  ledger.close();
  assert.deepEqual(problems, []);
});

test('a difference that cannot be read is asked for again as a whole page', async () => {
  using collection = makeCollection();
  await using server = await openServer();
  furnish(server.pages);
  await collection.crawl([`${server.origin}/`]);
  await collection.refresh({ budget: '1' });
  collection.pass(1);
  server.pages.set('/4.html', page(4, 'second'));
  server.spoil();
  server.asked.length = 0;
  await collection.refresh({ budget: '100%' });
  assert.deepEqual(
    server.asked.filter(path => path.endsWith('/4.html')),
    ['difference /4.html', '/4.html'],
  );
  const visit = collection.visits(`${server.origin}/4.html`).at(-1)!;
  assert.deepEqual([visit.outcome, visit.cause], ['fetched', 'page']);
});

function openDisposable<T extends { close(): void }>(value: T): Disposable & { readonly value: T } {
  return { value, [Symbol.dispose]: () => value.close() };
}
