/** Servers of the old and careless web: other charsets, bytes where text is expected, headers beyond ASCII. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { encode } from '../web/charset.ts';
import { fast, pagesOf, skein, skeinJson, workplace } from './skein.ts';

const place = workplace();
const data = join(place.path, 'data');
const PICTURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0]);
const JAPANESE = `<meta charset=shift_jis><title>渡り鳥</title>${'雁は北へ帰る。'.repeat(20)}`;

const bodies: Record<string, { readonly type: string; readonly body: Uint8Array; readonly status?: number }> = {
  '/': {
    type: 'text/html',
    body: Buffer.from(
      '<a href=/latin>l</a> <a href=/japanese>j</a> <a href=/picture>p</a> <a href=/moved>m</a> <a href=/part>p</a>',
    ),
  },
  '/latin': { type: 'text/html; charset=iso-8859-1', body: Buffer.from('<title>caf\xe9</title>', 'latin1') },
  '/japanese': { type: 'text/html', body: encode(JAPANESE, 'shift_jis') },
  '/picture': { type: 'text/html', body: PICTURE },
  '/part': { type: 'text/html', body: Buffer.from('<title>the begin'), status: 206 },
  '/limited': { type: 'text/html', body: Buffer.from('<title>at last</title>') },
  '/z%C3%BCrich': { type: 'text/html', body: Buffer.from('<title>here</title>') },
};

let server: Server;
/** Requests for the page that a server gives only to who asks twice. */
let limited = 0;
let origin: string;

before(async () => {
  server = createServer((request, response) => {
    const page = bodies[request.url!];
    // Node writes a header as one byte a character, so this leaves as UTF-8.
    if (request.url === '/moved')
      response.writeHead(302, { location: Buffer.from('/zürich').toString('latin1') }).end();
    else if (request.url === '/limited' && limited++ === 0) response.writeHead(429, { 'retry-after': '1' }).end();
    else if (request.url === '/broken') response.writeHead(500).end();
    else if (page) response.writeHead(page.status ?? 200, { 'content-type': page.type }).end(page.body);
    else response.writeHead(404).end();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await skeinJson('crawl', `${origin}/`, '--data', data, ...fast);
});
after(() => {
  server.closeAllConnections();
  server.close();
  place[Symbol.dispose]();
});

test('JSON holds pages as they read, and what is no text in base64', async () => {
  const cat = (path: string) =>
    skeinJson<{ body?: string; base64?: string }>('cat', origin + path, '--json', '--data', data);
  assert.equal((await cat('/latin')).body, '<title>café</title>');
  assert.equal((await cat('/japanese')).body, JAPANESE);
  const { body, base64 } = await cat('/picture');
  assert.equal(body, undefined);
  assert.ok(PICTURE.equals(Buffer.from(base64!, 'base64')));
  const { stdout } = await skein(['export', '--format', 'jsonl', '--data', data]);
  const lines = stdout.toString().trim().split('\n');
  const exported = new Map(lines.map(line => [JSON.parse(line).url as string, JSON.parse(line)]));
  for (const path of ['/latin', '/japanese', '/picture']) {
    const { body, base64 } = exported.get(origin + path);
    assert.deepEqual({ body, base64 }, { body: undefined, base64: undefined, ...pick(await cat(path)) });
  }
  const { code, stderr } = await skein(['export', '--no-body', '--out', join(place.path, 'x.warc.gz'), '--data', data]);
  assert.equal(code, 2);
  assert.match(stderr, /--no-body works only with --format jsonl/);
});

function pick({ body, base64 }: { body?: string; base64?: string }): object {
  return { ...(body !== undefined && { body }), ...(base64 !== undefined && { base64 }) };
}

test('a redirect in UTF-8 leads to the page that its bytes name', async () => {
  const pages = await pagesOf(data);
  assert.ok(pages.has(`${origin}/z%C3%BCrich`), [...pages.keys()].join(' '));
  const { outcome } = await skeinJson<{ outcome: string }>('pages', '/z', '--data', data);
  assert.equal(outcome, 'fetched');
});

test('a part that nobody asked for is kept, and said to be one', async () => {
  const { details } = await skeinJson<{ details: Record<string, unknown> }>('show', `${origin}/part`, '--data', data);
  assert.equal(details['truncated'], true);
});

test('a run that leaves failures says when they are tried again', async () => {
  const broken = join(place.path, 'broken');
  const summary = await skeinJson('crawl', `${origin}/broken`, `${origin}/latin`, '--data', broken, ...fast);
  assert.equal(summary['retries'], 1);
  assert.ok(Date.parse(String(summary['nextRetry'])) > Date.now());
  const { stdout } = await skein(['crawl', '--data', broken, ...fast]);
  assert.match(stdout.toString(), /A crawl or refresh after 20\d\d-.* retries 1 failed page/);
});

test('a server that says when to come back is asked again then, in the same run', async () => {
  const patient = join(place.path, 'patient');
  const summary = await skeinJson('crawl', `${origin}/limited`, '--data', patient, ...fast);
  assert.equal(summary['pages'], 1);
  assert.equal(limited, 2);
});
