/** Chunks are brought to a directory, a bucket and a web address, each once, whoever fails and whoever is killed. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { deliverChunks } from '../../src/engine/sinks/deliver.ts';
import { type Sink, sinkTo } from '../../src/engine/sinks/sink.ts';
import { openS3 } from '../../src/home/offsite/s3-objects.ts';
import { type TestWeb, testCollection, testWeb } from '../../src/testing/testing.ts';
import { checkSink, type Place } from '../contracts/sink.ts';
import { noSwift, type S3Server, startS3 } from '../home/offsite/s3-server.ts';
import { skein, workplace } from '../journeys/skein.ts';

describe('sinks', () => {
  const place = workplace();
  const collection = testCollection();
  let web: TestWeb;
  let server: Server;
  let number = 0;
  /** What the receiver does, and what it took: by path. */
  const taken = new Map<string, Map<string, string>>();
  let status = 200;
  let hangAfter = Number.POSITIVE_INFINITY;
  const signatures: boolean[] = [];

  before(async () => {
    const sections = Array.from(
      { length: 60 },
      (_, i) => `<h2>Part ${i}</h2><p>${`Words of part ${i}. `.repeat(20)}</p>`,
    );
    web = await testWeb({
      '/': Array.from({ length: 30 }, (_, i) => `<a href="/p${i}">page ${i}</a>`).join(' '),
      '/p*': ({ path }) => `<title>${path}</title><main><h1>${path}</h1>${sections.join('')}</main>`,
    });
    await collection.skein.crawl(web.seeds).summary();
    server = createServer(async (request, response) => {
      const body = (await request.toArray()).join('');
      const path = request.url ?? '';
      const had = taken.get(path) ?? new Map<string, string>();
      taken.set(path, had);
      if (had.size >= hangAfter) return;
      if (status !== 200) return void response.writeHead(status).end();
      const { 'idempotency-key': id, 'skein-time': time, 'skein-signature': signature } = request.headers;
      if (signature) {
        const signed = createHmac('sha256', 'a secret of ours').update(`${time}.${body}`).digest('hex');
        signatures.push(signature === `sha256=${signed}`);
      }
      had.set(String(id), body);
      response.end();
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await web.close();
    await collection.close();
    place[Symbol.dispose]();
  });

  const source = () => ({
    data: collection.data,
    async change() {
      web.set('/p7', `<title>Seven</title><main><h1>Seven</h1><p>Written anew, ${++number} times by now.</p></main>`);
      await collection.skein.refresh({ budget: { share: 1 } }).summary();
    },
  });
  const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const webhook = (): Place => {
    const path = `/hook${++number}`;
    return {
      target: `${address()}${path}`,
      has: () => [...(taken.get(path)?.values() ?? [])],
      hang: parts => {
        hangAfter = parts;
      },
      go: () => {
        hangAfter = Number.POSITIVE_INFINITY;
      },
    };
  };
  const directory = (): Place => {
    const target = join(place.path, `out${++number}`);
    const files = () => {
      try {
        return readdirSync(target)
          .filter(name => name.endsWith('.jsonl'))
          .sort();
      } catch {
        return []; // it was not made yet
      }
    };
    return { target, has: () => files().map(name => readFileSync(join(target, name), 'utf8')) };
  };

  checkSink('directory', directory, source);
  checkSink('webhook', webhook, source);

  describe('a bucket', { skip: noSwift }, () => {
    let s3: S3Server;
    before(async () => {
      s3 = await startS3();
      await s3.makeBucket('chunks');
      Object.assign(process.env, s3.environment);
    });
    after(async () => s3[Symbol.asyncDispose]());

    const bucket = (): Place => {
      const prefix = `out${++number}`;
      const target = `s3://chunks/${prefix}`;
      return {
        target,
        async has() {
          const objects = openS3(target);
          const listed = await objects.list('');
          const texts = listed.map(async ({ name, bytes }) => {
            const into = new Uint8Array(bytes);
            await objects.get(name, 0, into);
            return Buffer.from(into).toString();
          });
          return Promise.all(texts).finally(() => objects.close());
        },
      };
    };
    checkSink('bucket', bucket, source);

    test('a bucket that is not there is told at once, one that is full after some tries', async () => {
      const words = ['changes', '/p1', '--format', 'chunks', '--data', collection.data, '--to'];
      const missing = await skein([...words, 's3://nowhere/out']);
      assert.equal(missing.code, 3, missing.stderr);
      assert.match(missing.stderr, /There is no bucket nowhere/);
      await s3.makeBucket('full');
      await s3.limit('full', 10);
      const full = await skein([...words, 's3://full/out']);
      assert.match(full.stderr, /Part 1 was not delivered: The bucket full is full\.\nIt waits/);
      await s3.limit('full', 0);
      assert.equal((await skein([...words, 's3://full/out'])).code, 0);
      assert.deepEqual(await s3.names('full'), ['out/chunks-00000001.jsonl']);
    });
  });

  test('a receiver that fails is asked again, and what it did not take waits for the next run', async () => {
    const { target, has } = webhook();
    const sink = sinkTo(target, { secret: 'a secret of ours' });
    const delivery = { data: collection.data, target };
    status = 503;
    const waiting = deliverChunks(delivery, { take: part => sink.take(part, AbortSignal.timeout(5000)) });
    await new Promise(resolve => server.once('request', resolve));
    status = 200;
    const { parts } = await waiting;
    assert.equal(parts, (await has()).length);
    assert.ok(signatures.length >= parts && signatures.every(Boolean));
    assert.equal((await deliverChunks(delivery, sink)).parts, 0);
  });

  test('a last part that is not taken is not counted as brought', async () => {
    const { target, has } = webhook();
    const delivery = { data: collection.data, target, pattern: '/p1' };
    const closed = { take: () => Promise.reject(new Error('closed for good')) };
    await assert.rejects(deliverChunks(delivery, closed), /closed for good/);
    const { parts } = await deliverChunks(delivery, sinkTo(target));
    assert.ok(parts > 0);
    assert.equal((await has()).length, parts);
  });

  test('what was forgotten while parts waited shifts none of the others', async () => {
    const own = testCollection();
    await own.skein.crawl(web.seeds).summary();
    const had = new Map<string, string>();
    const ids = new Set<string>();
    let most = 1;
    const ending = new AbortController();
    const sink: Sink = {
      async take({ id, text }) {
        if (ids.size === most) ending.abort();
        if (most === 1) ending.signal.throwIfAborted();
        assert.ok(!ids.has(id), 'each part has an id of its own');
        ids.add(id);
        for (const line of text.trim().split('\n')) {
          const { kind, url = '', id: chunk, hash } = JSON.parse(line) as Record<string, string>;
          if (kind === 'cleared') for (const key of had.keys()) if (key.startsWith(`${url} `)) had.delete(key);
          if (kind === 'removed') had.delete(`${url} ${chunk}`);
          if (kind === 'added' || kind === 'changed') had.set(`${url} ${chunk}`, hash!);
        }
      },
    };
    const delivery = { data: own.data, target: 'a place' };
    await assert.rejects(deliverChunks({ ...delivery, signal: ending.signal }, sink), { name: 'AbortError' });
    assert.equal(ids.size, 1);
    await own.skein.forget(web.url('/p0'));
    most = Number.POSITIVE_INFINITY;
    await deliverChunks(delivery, { take: part => sink.take(part, AbortSignal.timeout(5000)) });
    const { stdout } = await skein(['export', '--format', 'chunks', '--data', own.data]);
    const chunks = stdout
      .toString()
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as Record<string, string>);
    const wanted = chunks.map(({ url, id, hash }): [string, string] => [`${url} ${id}`, hash!]);
    await own.close();
    assert.deepEqual(new Map([...had].sort()), new Map(wanted.sort()));
  });

  test('what cannot be brought anywhere is said in a sentence; standard output takes it, too', async () => {
    const odd = await skein(['changes', '--format', 'chunks', '--to', 'ftp://a.test/', '--data', collection.data]);
    assert.equal(odd.code, 2);
    assert.match(odd.stderr, /Nothing can be delivered to ftp/);
    const { stdout } = await skein(['changes', '/p1', '--format', 'chunks', '--to', '-', '--data', collection.data]);
    assert.match(stdout.toString(), /"kind":"added"/);
  });
});
