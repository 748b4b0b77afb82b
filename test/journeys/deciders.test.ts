/** Deciders beyond a first crawl: named in the config file, and asked again when a page has changed. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { wasm } from '../outpost/wasm-module.ts';
import { makeCollection } from './collection.ts';
import { fast, pagesOf, skein, workplace } from './skein.ts';

/** Follows and does not keep. */
const keepsNothing = wasm([0x41, 0x80, 0x04]);

async function openSite(words: () => string): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/' ? 200 : 404, { 'content-type': 'text/html' }).end(`<p>${words()}`);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

test('the config file may name it', async () => {
  using place = workplace();
  await using site = await openSite(() => 'A page about geese.');
  writeFileSync(join(place.path, 'nothing.wasm'), keepsNothing);
  writeFileSync(join(place.path, 'skein.config.json'), JSON.stringify({ decider: 'nothing.wasm' }));
  const ran = await skein(['crawl', site.url, ...fast], { cwd: place.path });
  assert.equal(ran.code, 0, ran.stderr);
  const data = join(place.path, 'skein-data');
  assert.equal((await pagesOf(data)).get(site.url)?.outcome, 'fetched');
  const stored = await skein(['cat', site.url, '--data', data]);
  assert.notEqual(stored.code, 0, 'the page was kept');
});

test('a page that changed is decided about again, one that did not is left alone', async () => {
  using collection = makeCollection();
  let words = 'A page about geese.';
  await using site = await openSite(() => words);
  const file = join(collection.directory, 'nothing.wasm');
  await collection.crawl([site.url]);
  writeFileSync(file, keepsNothing);
  const places = () => collection.visits(site.url).map(({ outcome, place }) => `${outcome} ${place !== null}`);
  collection.pass(30);
  await collection.refresh({ decider: file, budget: '100%' });
  words = 'A page about swans, and not a word of what was here.';
  collection.pass(30);
  await collection.refresh({ decider: file, budget: '100%' });
  assert.deepEqual(places().sort(), ['fetched false', 'fetched true', 'same false']);
});
