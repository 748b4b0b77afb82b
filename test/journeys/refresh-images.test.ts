/** Images are watched by default: no request at the first crawl, headers later, bytes only of those that changed. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { changesIn } from '../../src/home/answers/changes.ts';
import { freePort } from '../free-port.ts';
import { type Collection, makeCollection } from './collection.ts';
import { invite, startOutpost } from './outpost-processes.ts';
import { html, prose } from './pages.ts';
import { fast, skeinJson, start, workplace } from './skein.ts';

interface Picture {
  body: Buffer;
  readonly tagged?: boolean;
  readonly noHead?: boolean;
  /** Tells nothing of itself. */
  readonly silent?: boolean;
  /** Another tag each time. */
  readonly fickle?: boolean;
}

type Line = `${'GET' | 'HEAD'} ${string}`;

/** One page that never changes (with a validator), and the pictures that it shows. */
async function openGallery(pictures: Record<string, Picture>) {
  const asked: Line[] = [];
  const page = html('Gallery', [prose(1), prose(2)]).replace(
    '</main>',
    `${Object.keys(pictures)
      .map(path => `<img src="${path}" alt="">`)
      .join('')}<img src="http://elsewhere.example/far.png"></main>`,
  );
  const server = createServer((request, response) => {
    const path = request.url!;
    if (path === '/robots.txt') return void response.writeHead(200).end('User-agent: *\nDisallow: /hidden');
    // A refresh asks once whether the site cooperates: this one does not.
    if (path.startsWith('/.well-known/')) return void response.writeHead(404).end();
    asked.push(`${request.method} ${path}` as Line);
    const picture = pictures[path];
    const headers: Record<string, string> = { 'content-type': picture ? 'image/png' : 'text/html' };
    const body = picture?.body ?? Buffer.from(page);
    const etag = `"${picture?.fickle ? asked.length : body.toString('hex', 0, 8)}"`;
    if (!picture || picture.tagged || picture.fickle) headers['etag'] = etag;
    if (picture?.noHead && request.method === 'HEAD') return void response.writeHead(405).end();
    if (headers['etag'] && request.headers['if-none-match'] === etag) {
      return void response.writeHead(304, headers).end();
    }
    if (!picture?.silent) headers['content-length'] = String(body.length);
    response.writeHead(200, headers).end(request.method === 'HEAD' ? undefined : body);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** What was asked for since the last call, pages left out. */
    asked: () => asked.splice(0).filter(line => !line.endsWith(' /') && !line.includes(' /.well-known/')),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

async function days(collection: Collection, count: number): Promise<void> {
  for (let day = 0; day < count; day++) {
    collection.pass(1);
    await collection.refresh({ budget: '100%' });
  }
}

const changed = (collection: Collection) =>
  collection
    .look(ledger => changesIn(ledger, { limit: 50 }))
    .map(({ url, kind, stage, shownBy }) => {
      return { path: new URL(url).pathname, kind, stage, shownBy: shownBy?.map(each => new URL(each).pathname) };
    });

const stored = (collection: Collection) =>
  collection.look(ledger =>
    ledger['database']
      .prepare('SELECT p.url FROM known k JOIN pages p ON p.id = k.page WHERE p.role = 2 AND k.segment IS NOT NULL')
      .all(),
  ).length;

test('where no length is told validators are watched, and a new one brings the bytes', async () => {
  using collection = makeCollection();
  const picture: Picture = { body: Buffer.from('first picture'), tagged: true, silent: true };
  await using gallery = await openGallery({ '/a.png': picture });
  await collection.crawl([`${gallery.origin}/`]);
  assert.deepEqual(gallery.asked(), []);
  await days(collection, 3);
  assert.deepEqual(gallery.asked(), ['HEAD /a.png', 'HEAD /a.png', 'HEAD /a.png']);
  assert.deepEqual([changed(collection), stored(collection)], [[], 0]);
  picture.body = Buffer.from('other picture'); // as long as the first
  await days(collection, 2);
  assert.deepEqual(changed(collection), [{ path: '/a.png', kind: 'changed', stage: 'image', shownBy: ['/'] }]);
  assert.equal(stored(collection), 1);
  const outcomes = collection
    .visits(`${gallery.origin}/a.png`)
    .map(({ outcome, status, cause }) => [...[outcome, status, cause]]);
  assert.deepEqual(outcomes, [
    ['same', 200, 'image'],
    ['same', 200, 'image'],
    ['same', 200, 'image'],
    ['fetched', 200, 'image'],
    ['same', 200, 'image'],
  ]);
});

test('its length is watched, whatever validators say, and a new one brings its bytes', async () => {
  using collection = makeCollection();
  const picture: Picture = { body: Buffer.from('short'), tagged: true };
  await using gallery = await openGallery({ '/a.png': picture });
  await collection.crawl([`${gallery.origin}/`]);
  await days(collection, 2);
  assert.deepEqual(gallery.asked(), ['HEAD /a.png', 'HEAD /a.png']);
  picture.body = Buffer.from('trohs'); // as a deployment that dates everything anew: another tag, the same length
  await days(collection, 1);
  assert.deepEqual([gallery.asked(), changed(collection)], [['HEAD /a.png'], []]);
  picture.body = Buffer.from('somewhat longer');
  await days(collection, 2);
  assert.deepEqual(gallery.asked(), ['HEAD /a.png', 'GET /a.png', 'HEAD /a.png']);
  assert.equal(changed(collection).length, 1);
});

test('validators that mean nothing, and no length beside them, cost two bodies and are forgotten', async () => {
  using collection = makeCollection();
  await using gallery = await openGallery({ '/a.png': { body: Buffer.from('a picture'), fickle: true, silent: true } });
  await collection.crawl([`${gallery.origin}/`]);
  await days(collection, 5);
  assert.equal(gallery.asked().filter(line => line.startsWith('GET')).length, 2);
});

test('what tells nothing without being sent is left alone, and so is what robots.txt forbids', async () => {
  using collection = makeCollection();
  const body = Buffer.from('a picture');
  await using gallery = await openGallery({
    '/no-head.png': { body, tagged: true, noHead: true },
    '/silent.png': { body, silent: true },
    '/hidden.png': { body, tagged: true },
  });
  await collection.crawl([`${gallery.origin}/`]);
  await days(collection, 5);
  assert.deepEqual(gallery.asked().sort(), ['HEAD /no-head.png', 'HEAD /silent.png']);
  assert.equal(collection.visits(`${gallery.origin}/silent.png`).at(-1)!.reason, 'unwatchable');
});

test('images=off asks for none', async () => {
  using collection = makeCollection();
  await using gallery = await openGallery({ '/a.png': { body: Buffer.from('a picture'), tagged: true } });
  await collection.crawl([`${gallery.origin}/`]);
  collection.pass(1);
  await collection.refresh({ budget: '100%', images: 'off' });
  assert.deepEqual(gallery.asked(), []);
});

test('an outpost looks at images as home does, and the commands tell what they are', async () => {
  using place = workplace();
  const picture: Picture = { body: Buffer.from('first picture'), tagged: true };
  await using gallery = await openGallery({ '/a.png': picture });
  const data = join(place.path, 'home');
  const port = await freePort();
  const outpost = await startOutpost('a', place.path, await invite(data, port));
  const run = async (...args: string[]) => {
    const far = ['--data', data, ...fast, '--set', 'threads=0', '--listen', `127.0.0.1:${port}`];
    const ran = await start([...args, ...far]).ended;
    assert.equal(ran.code, 0, ran.stderr);
  };
  try {
    await run('crawl', `${gallery.origin}/`);
    await run('refresh', '--budget', '100%');
    await run('refresh');
    const books = await skeinJson<{ problems: string[] }>('verify', '--data', data);
    assert.deepEqual(books.problems, []);
    picture.body = Buffer.from('a second picture');
    await run('refresh');
    assert.deepEqual(gallery.asked(), ['HEAD /a.png', 'HEAD /a.png', 'HEAD /a.png', 'GET /a.png']);
    const change = await skeinJson<{ url: string; shownBy: string[] }>('changes', '--data', data);
    assert.deepEqual([change.url, change.shownBy], [`${gallery.origin}/a.png`, [`${gallery.origin}/`]]);
    const why = await skeinJson<{ state: string; machine: { last: string } }>(
      ...['why', `${gallery.origin}/a.png`, '--data', data],
    );
    assert.match(why.state, /^An image used by pages\. Checked .* ago, fetched/);
    assert.equal(why.machine.last, 'a');
  } finally {
    await outpost.kill();
  }
});
