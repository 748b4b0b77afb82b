/**
 * A store of objects that lies: lists without end, names that promise more than there can be, answers that trickle. Whoever
 * reads copies from it, or copies to it, ends with a sentence, and takes no more memory or time than an honest one costs.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { MissingSegment } from '../../src/archive/store/segment-store.ts';
import { SkeinError } from '../../src/base/errors.ts';
import { CopiedSource } from '../../src/home/offsite/pieces.ts';
import { openS3 } from '../../src/home/offsite/s3-objects.ts';

const HEAD = '<?xml version="1.0"?><ListBucketResult>';
const entry = (key: string, bytes: number) => `<Contents><Key>${key}</Key><Size>${bytes}</Size></Contents>`;
const more = (token: string) =>
  `<IsTruncated>true</IsTruncated><NextContinuationToken>${token}</NextContinuationToken></ListBucketResult>`;
const piece = (from: number, to: number) =>
  `segment-000001.warc.gz/${[from, to].map(each => String(each).padStart(13, '0')).join('-')}-${'ab'.repeat(16)}`;

async function storeThat(t: TestContext, answer: (request: IncomingMessage, response: ServerResponse) => void) {
  let asked = 0;
  const server = createServer((request, response) => {
    asked++;
    request.resume();
    answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const objects = openS3(
    's3://pages',
    {
      AWS_ENDPOINT_URL: url,
      ...{ AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'hushhush' },
    },
    { silence: 400, least: 1000, slowest: 1_000_000 },
  );
  t.after(() => {
    objects.close();
    server.closeAllConnections();
    server.close();
  });
  return { objects, url, asked: () => asked };
}

/** One sentence for people, which says nothing of the key. */
const sentence = (error: unknown): boolean =>
  error instanceof SkeinError && /\.$/.test(error.message) && !error.message.includes('hushhush');

/** Milliseconds of the processor. */
async function costOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

test('a list that opens entries and closes none costs what its length does', async t => {
  let entries = 0;
  const { objects } = await storeThat(t, (_, response) => response.end(HEAD + '<Contents>'.repeat(entries)));
  const cost = (count: number) => {
    entries = count;
    return costOf(() => objects.list('segment-'));
  };
  await cost(1000);
  const small = await cost(5000);
  const large = await cost(40_000);
  assert.ok(large < 24 * (small + 10), `${small} ms for 50 kB, ${large} ms for 400 kB`);
});

test('a list that goes round in circles ends', async t => {
  const { objects, asked } = await storeThat(t, (_, response) =>
    response.end(HEAD + entry(piece(0, 9), 9) + more('again')),
  );
  await assert.rejects(objects.list('segment-'), sentence);
  assert.ok(asked() < 10, `${asked()} requests`);
});

test('a list with more names in one answer than the protocol has is refused', async t => {
  const { objects } = await storeThat(t, (_, response) =>
    response.end(HEAD + Array.from({ length: 5000 }, (_, i) => entry(piece(i, i + 1), 1)).join('')),
  );
  await assert.rejects(objects.list('segment-'), sentence);
});

for (const [name, bytes] of [
  ['of ten terabytes', 9_999_999_999_999],
  ['of four gigabytes', 2 ** 32],
] as const)
  test(`a piece ${name} is none`, async t => {
    const { objects, asked } = await storeThat(t, (_, response) => response.end(HEAD + entry(piece(0, bytes), bytes)));
    const memory = process.memoryUsage.rss();
    await assert.rejects(async () => {
      for await (const _ of new CopiedSource(objects).whole(1));
    }, MissingSegment);
    assert.ok(asked() === 1 && process.memoryUsage.rss() - memory < 500e6);
  });

test('an answer that trickles is given up, whatever it is about', async t => {
  const { objects } = await storeThat(t, (_, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write('x'), 50);
    response.once('close', () => clearInterval(timer));
  });
  await assert.rejects(objects.list('segment-'), sentence);
  await assert.rejects(objects.get('segment-x', 0, Buffer.alloc(1000)), sentence);
  await assert.rejects(objects.put('segment-x', Buffer.alloc(1000)), sentence);
});

test('silence, nonsense and a redirect to somewhere else are one sentence each', async t => {
  const elsewhere = await storeThat(t, (_, response) => response.end());
  for (const answer of [
    () => {},
    (_: IncomingMessage, response: ServerResponse) => response.socket?.end('\u001b[2J nonsense\r\n\r\n'),
    (_: IncomingMessage, response: ServerResponse) => response.writeHead(403).end('<Code>\u001b[2J</Code>'),
    (_: IncomingMessage, response: ServerResponse) => response.writeHead(307, { location: `${elsewhere.url}/x` }).end(),
  ]) {
    const { objects } = await storeThat(t, answer);
    for (const ask of [
      () => objects.list('segment-'),
      () => objects.get('segment-x', 0, Buffer.alloc(10)),
      () => objects.put('segment-x', Buffer.alloc(10)),
      () => objects.remove('segment-x'),
    ])
      await assert.rejects(ask, error => sentence(error) && !/[\0-\x1f]/.test((error as Error).message));
  }
  assert.equal(elsewhere.asked(), 0);
});
