/** Chunks are brought to a directory and to a web address, each once, whoever fails and whoever is killed. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { deliverChunks } from '../../src/engine/sinks/deliver.ts';
import { sinkTo } from '../../src/engine/sinks/sink.ts';
import { type TestWeb, testCollection, testWeb } from '../../src/testing/testing.ts';
import { checkSink, type Place } from '../contracts/sink.ts';
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

  test('a receiver that fails is asked again, and what it did not take waits for the next run', async () => {
    const { target, has } = webhook();
    const sink = sinkTo(target, { secret: 'a secret of ours' });
    const delivery = { data: collection.data, target };
    status = 503;
    const waiting = deliverChunks(delivery, { take: part => sink.take(part, AbortSignal.timeout(5000)) });
    await new Promise(resolve => server.once('request', resolve));
    status = 200;
    const { parts } = await waiting;
    assert.equal(parts, has().length);
    assert.ok(signatures.length >= parts && signatures.every(Boolean));
    assert.equal((await deliverChunks(delivery, sink)).parts, 0);
  });

  test('what cannot be brought anywhere is said in a sentence; standard output takes it, too', async () => {
    const odd = await skein(['changes', '--format', 'chunks', '--to', 'ftp://a.test/', '--data', collection.data]);
    assert.equal(odd.code, 2);
    assert.match(odd.stderr, /Nothing can be brought to ftp/);
    const { stdout } = await skein(['changes', '/p1', '--format', 'chunks', '--to', '-', '--data', collection.data]);
    assert.match(stdout.toString(), /"kind":"added"/);
  });
});
