/** The web without sockets: complete, the same every time, and usable from a worker thread. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { Response } from '../../src/crawler/stages.ts';
import type { SyntheticOptions } from './synthetic.ts';
import syntheticFetcher, { syntheticDefaults, syntheticPage, syntheticTopic, topicWord } from './synthetic.ts';

async function get(options: Partial<SyntheticOptions>, url: string, etag?: string): Promise<Response> {
  const ask = { url, maxBytes: 1e6, allowPrivate: false, ...(etag === undefined ? {} : { etag }) };
  const answer = await syntheticFetcher(options).fetch(ask);
  assert.equal(answer.kind, 'response');
  return answer as Response;
}

function linksOf(url: string, answer: Response): string[] {
  return [
    ...Buffer.from(answer.body)
      .toString()
      .matchAll(/<a href="([^"]+)"/g),
  ].map(([, to]) => new URL(to!, url).href);
}

test('links lead to every page of every server, and to nothing else', async () => {
  const options = { servers: 12, pagesPerServer: 60, domains: ['test', 'example'] };
  const seen = new Set<string>(['http://s0.test/']);
  for (const url of seen) {
    const answer = await get(options, url);
    assert.equal(answer.status, 200);
    for (const link of linksOf(url, answer)) seen.add(link);
  }
  assert.equal(seen.size, 12 * 60);
  assert.equal((await get(options, 'http://s12.test/')).status, 404);
  assert.equal((await get(options, 'http://s0.test/robots.txt')).status, 404);
});

test('a page of ten million is the same at each call and has the size and links asked for', async () => {
  const options = { servers: 10_000, pagesPerServer: 1000, links: 20 };
  const url = 'http://s9999.test/p/123';
  const [one, two] = [await get(options, url), await get(options, url)];
  assert.deepEqual(one.body, two.body);
  assert.equal(linksOf(url, one).length, 20);
  assert.ok(one.body.length > 2000 && one.body.length < 4500, `${one.body.length} bytes`);
  assert.equal(Number(one.headers.get('content-length')), one.body.length);
});

test('pages change from moment to moment, and validators say so', async () => {
  const url = 'http://s3.test/p/4';
  const moments = Array.from({ length: 12 }, (_, moment) => ({ moment, changeShare: 0.3 }));
  const answers = await Promise.all(moments.map(options => get(options, url)));
  const tags = answers.map(answer => answer.headers.get('etag')!);
  const bodies = answers.map(answer => Buffer.from(answer.body).toString());
  for (let i = 1; i < answers.length; i++) assert.equal(tags[i] === tags[i - 1], bodies[i] === bodies[i - 1]);
  assert.ok(new Set(tags).size > 1);
  assert.equal((await get(moments[5]!, url, tags[5])).status, 304);
});

test('topics keep together along the tree', async () => {
  const options = { ...syntheticDefaults, topics: 10 };
  let [same, pairs] = [0, 0];
  for (let page = 1; page < 800; page++) {
    const parent = Math.floor((page - 1) / 8);
    if (syntheticTopic(options, { server: 1, page }) === syntheticTopic(options, { server: 1, page: parent })) same++;
    pairs++;
  }
  assert.ok(same / pairs > 0.8 && same / pairs < 0.95, `${same} of ${pairs}`);
  const url = 'http://s1.test/p/77';
  const text = Buffer.from((await get(options, url)).body).toString();
  const own = topicWord(syntheticTopic(options, syntheticPage(options, url)!));
  assert.ok(text.split('<ul>')[0]!.includes(own));
});

test('a worker thread loads it by path and JSON', async () => {
  const path = new URL('./synthetic.ts', import.meta.url).href;
  const code = `const { parentPort, workerData } = require('node:worker_threads');
    import(workerData.path).then(async module => {
      const fetcher = module.default(JSON.parse(workerData.options));
      const answer = await fetcher.fetch({ url: 'http://s1.test/', maxBytes: 1e6, allowPrivate: false });
      parentPort.postMessage(answer.status);
    });`;
  const worker = new Worker(code, { eval: true, workerData: { path, options: JSON.stringify({ servers: 2 }) } });
  const status = await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  assert.equal(status, 200);
  await worker.terminate();
});
