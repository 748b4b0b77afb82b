/** Seeds of a collection that exists: a new one comes first, a mistyped one can be taken back. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { openWeb } from '../web/web.ts';
import { collected, crawlHere, fast, pagesOf, skein, skeinJson, workplace } from './skein.ts';

for (const order of ['breadth', 'pvalue', 'focused']) {
  test(`a new seed is visited before what waits already, on its server and on others: ${order}`, async () => {
    await using web = await openWeb({ seed: 4, servers: 3, pagesPerServer: 30, crossLinks: 0 });
    using place = workplace();
    const [one, two] = web.origins as [string, string];
    const given = { data: place.path, order, ...(order === 'focused' && { focus: 'page' }) };
    await crawlHere({ ...given, maxPages: 8 }, [`${one}/`]);
    assert.ok((await pagesOf(place.path, '--outcome', 'waiting')).size > 5, 'there is a queue');
    const seeds = [`${two}/`, `${one}/p/25.html`];
    for (const seed of seeds) {
      await crawlHere({ ...given, maxPages: 1 }, [seed]);
      assert.ok(collected(await pagesOf(place.path)).includes(seed), seed);
    }
    assert.equal(collected(await pagesOf(place.path)).length, 8 + seeds.length);
    if (order === 'focused') return; // it leaves pages out
    await crawlHere(given, []);
    assert.deepEqual(
      collected(await pagesOf(place.path)).filter(url => url.startsWith(one)),
      web.mustFind().filter(url => url.startsWith(one)),
      'the queue is none the shorter for it',
    );
  });
}

test('a mistyped seed is taken back: nothing asks for it or its host any more, and it can be given again', async () => {
  await using web = await openWeb({ seed: 4, servers: 2, pagesPerServer: 12, crossLinks: 0 });
  using place = workplace();
  const data = ['--data', place.path];
  const [right, wrong] = web.origins.map(origin => `${origin}/`) as [string, string];
  await crawlHere({ data: place.path, maxPages: 2 }, [right, wrong]);
  assert.deepEqual((await lines('seeds', ...data)).map(({ url }) => url).sort(), [right, wrong].sort());
  const { code, stdout } = await skein(['seeds', 'remove', wrong, ...data]);
  assert.equal(code, 0);
  assert.match(stdout.toString(), /1 seed left\./);
  assert.deepEqual(
    (await lines('seeds', ...data)).map(({ url }) => url),
    [right],
  );
  const before = web.log.filter(({ url }) => url.startsWith(wrong)).length;
  await skeinJson('crawl', ...data, ...fast);
  await skeinJson('refresh', ...data, ...fast, '--budget', '100%');
  assert.equal(web.log.filter(({ url }) => url.startsWith(wrong)).length, before, 'its server is left alone');
  const again = await skein(['seeds', 'remove', wrong, ...data]);
  assert.equal(again.code, 3);
  assert.match(again.stderr, /is not a seed of this collection/);
  await skeinJson('crawl', wrong, ...data, ...fast);
  assert.deepEqual(collected(await pagesOf(place.path)), web.mustFind());
});

test('seeds stand in a config file, which --config names', async () => {
  await using web = await openWeb({ seed: 4, servers: 2, pagesPerServer: 4, crossLinks: 0 });
  using place = workplace();
  const config = join(place.path, 'sites.json');
  const [one, two] = web.origins.map(origin => `${origin}/`) as [string, string];
  const data = join(place.path, 'collection');
  writeFileSync(config, JSON.stringify({ data, seeds: [one], pace: 0, allowPrivate: true }));
  await skeinJson('crawl', '--config', config);
  assert.deepEqual(
    collected(await pagesOf(data)),
    web.mustFind().filter(url => url.startsWith(one)),
  );
  assert.deepEqual(
    (await lines('seeds', '--config', config)).map(({ url }) => url),
    [one],
    'every command reads it',
  );
  await skeinJson('crawl', two, '--config', config);
  assert.deepEqual(collected(await pagesOf(data)), web.mustFind());
  const missing = await skein(['crawl', '--config', join(place.path, 'none.json')]);
  assert.equal(missing.code, 2);
  assert.match(missing.stderr, /none\.json cannot be read/);
});

async function lines(...args: string[]): Promise<{ url: string }[]> {
  const { code, stdout, stderr } = await skein([...args, '--json']);
  assert.equal(code, 0, stderr);
  return stdout
    .toString()
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as { url: string });
}

test('what was refused as private is fetched once it is opened: by --allow-private, or by a seed that names the address', async () => {
  await using web = await openWeb({ seed: 4, servers: 2, pagesPerServer: 6, crossLinks: 1 });
  const [one, two] = web.origins.map(origin => `${origin}/`) as [string, string];
  for (const opening of [
    { allowPrivate: true, seeds: [] },
    { allowPrivate: false, seeds: [two] },
  ]) {
    using place = workplace();
    const given = { data: place.path, scope: '*' };
    await crawlHere({ ...given, allowPrivate: false }, [one]);
    const closed = collected(await pagesOf(place.path));
    assert.ok(
      closed.length > 0 && closed.every(url => url.startsWith(one)),
      'the other server is private, and nobody named it',
    );
    await crawlHere({ ...given, allowPrivate: opening.allowPrivate }, opening.seeds);
    assert.deepEqual(collected(await pagesOf(place.path)), web.mustFind());
  }
});

test('a seed that did not answer is asked again when it is named again, and not before the time that its server names', async () => {
  const asked: string[] = [];
  const server = createServer(({ url }, response) => {
    asked.push(url!);
    if (url === '/busy') response.writeHead(503, { 'retry-after': '3600' }).end();
    else response.writeHead(url === '/robots.txt' ? 404 : 200, { 'content-type': 'text/html' }).end('<p>hello');
  });
  const listen = (port: number) =>
    new Promise<number>(resolve => {
      server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
    });
  const close = () => new Promise(resolve => server.close(resolve).closeAllConnections());
  const port = await listen(0);
  await close();
  using place = workplace();
  const seed = `http://127.0.0.1:${port}/`;
  const crawl = (url: string) => crawlHere({ data: place.path }, [url]);
  assert.deepEqual((await crawl(seed)).reasons, { 'connect-refused': 1 });
  assert.deepEqual((await crawl(seed)).reasons, { 'connect-refused': 1 }, 'and again');
  await listen(port);
  try {
    assert.deepEqual((await crawl(seed)).reasons, { ok: 1 });
    assert.deepEqual((await crawl(`${seed}busy`)).reasons, { 'http-503': 1 });
    assert.deepEqual((await crawl(`${seed}busy`)).reasons, {});
    assert.deepEqual(
      asked.filter(url => url !== '/robots.txt'),
      ['/', '/busy'],
    );
  } finally {
    await close();
  }
});
