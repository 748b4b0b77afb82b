/** `skein site` as its owner runs it: a process beside nginx, killed, put back in time, asked how it does. */
import assert from 'node:assert/strict';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { schemas } from '../../src/cli/print/schemas.ts';
import { bucketDigest, bucketOf, decodeEntries } from '../../src/notices/site/manifest.ts';
import { bodyHash } from '../../src/notices/site/pages.ts';
import { freePort } from '../free-port.ts';
import { openNginx } from '../site/nginx.ts';
import { folder, type Here, page, reader, until, write } from '../site/site-here.ts';
import { type Running, skein, start } from './skein.ts';

const PUBLIC = 'https://example.org/';

type Reader = Pick<Here, 'get' | 'discovery' | 'summary' | 'changes' | 'pages' | 'at'>;

interface Process {
  readonly running: Running;
  readonly here: Reader;
}

async function run(context: TestContext, words: readonly string[], port: number): Promise<Process> {
  const running = start([
    'site',
    ...words,
    '--public',
    PUBLIC,
    '--listen',
    `127.0.0.1:${port}`,
    '--requests-a-minute',
    '100000',
  ]);
  context.after(async () => {
    running.child.kill('SIGKILL');
    await running.ended;
  });
  const here = reader(`http://127.0.0.1:${port}`);
  const ready = async () => {
    try {
      const answer = await here.get('/.well-known/skein');
      await answer.arrayBuffer();
      return answer.status === 200;
    } catch {
      if (running.child.exitCode !== null) throw new Error((await running.ended).stderr);
      return false; // it is starting
    }
  };
  await until(ready);
  return { running, here };
}

/** What a reader holds: url → content hash in hex. */
type Held = Map<string, string>;

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** Brings what a reader holds in step by the manifest; the cursor to go on from, and how many pages it was told of. */
async function reconcile(here: Reader, held: Held): Promise<{ cursor: string; read: number }> {
  const { cursor, digests } = await here.summary();
  const count = digests.length;
  const mine = (bucket: number) =>
    [...held]
      .filter(([url]) => bucketOf(url, count) === bucket)
      .map(([url, content]) => ({ url, content: Buffer.from(content, 'hex') }));
  const differing = digests.flatMap((digest, i) => (hex(bucketDigest(mine(i))) === hex(digest) ? [] : [i]));
  if (differing.length === 0) return { cursor, read: 0 };
  const answer = await here.get(`/.well-known/skein/manifest?buckets=${count}&of=${differing.join(',')}`);
  const entries = decodeEntries(new Uint8Array(await answer.arrayBuffer()), PUBLIC);
  for (const bucket of differing) for (const { url } of mine(bucket)) held.delete(url);
  for (const { url, content } of entries) held.set(url, hex(content));
  return { cursor, read: entries.length };
}

async function follow(here: Reader, held: Held, since: string): Promise<string> {
  const told = await here.changes(since);
  for (const { url, operation, content } of told?.changes ?? []) {
    if (operation === 'delete') held.delete(url);
    else held.set(url, hex(content));
  }
  return told?.cursor ?? since;
}

test('beside nginx: a change on disk is told, and comes as a difference, through the public server', async context => {
  const root = folder(context);
  const words = Array.from({ length: 3000 }, (_, i) => `word${(i * 7919) % 3001}`).join(' ');
  for (let i = 0; i < 200; i++) write(root, `p/${i}.html`, page(`Page ${i}`, `${words} ${i}`));
  write(root, 'index.html', page('Front', 'x'));
  const port = await freePort();
  const data = join(folder(context), 'state');
  await run(context, [root, '--data', data], port);
  const at = await openNginx(context, root, port);
  if (at === undefined) return context.skip('no nginx: scripts/install-debian.sh nginx-light');
  const here = reader(at);
  const held: Held = new Map();
  const { cursor, read } = await reconcile(here, held);
  assert.equal(read, 201);
  const old = Buffer.from(await (await here.get('/p/7.html')).arrayBuffer());
  const waiting = here.changes(cursor, '&wait=60');
  write(root, 'p/7.html', page('Page 7', `${words} changed`));
  const told = (await waiting)!;
  assert.deepEqual(
    told.changes.map(({ url }) => url),
    [`${PUBLIC}p/7.html`],
  );
  const [got] = await here.pages([{ url: `${PUBLIC}p/7.html`, have: bodyHash(old) }], () => old);
  assert.deepEqual(Buffer.from((got as { body: Uint8Array }).body), readFileSync(join(root, 'p/7.html')));
  assert.match(await (await here.get('/.well-known/resourcesync')).text(), /capability="description"/);

  const asked = await skein(['site', 'status', '--data', data, '--json']);
  const checked = schemas['site status']!.safeParse(JSON.parse(asked.stdout.toString()));
  assert.ok(checked.success, `${checked.error}`);
  const shown = await skein(['site', 'status', '--data', data]);
  assert.match(shown.stdout.toString(), /https:\/\/example\.org\/: running\n201 pages/);
  const second = await skein(['site', root, '--public', PUBLIC, '--data', data, '--listen', '127.0.0.1:0']);
  assert.equal(second.code, 4);
  assert.match(second.stderr, /Another skein site is running in/);
});

test('killed at any moment, it loses nothing that it told', async context => {
  const root = folder(context);
  for (let i = 0; i < 40; i++) write(root, `${i}.html`, page(`Page ${i}`, 'one'));
  const data = join(folder(context), 'state');
  const port = await freePort();
  const held: Held = new Map();
  let cursor = '';
  let version = 0;
  for (let round = 0; round < 5; round++) {
    const { running, here } = await run(context, [root, '--data', data], port);
    // A cursor of before the kill is still good: never "other history".
    if (cursor === '') ({ cursor } = await reconcile(here, held));
    else cursor = await follow(here, held, cursor);
    const writing = setInterval(() => write(root, `${version++ % 40}.html`, page('Page', `version ${version}`)), 2);
    const { cursor: first } = (await here.discovery()).journal;
    await until(async () => (await here.discovery()).journal.cursor !== first);
    cursor = await follow(here, held, cursor);
    await new Promise(resolve => setTimeout(resolve, 37 * round));
    running.child.kill('SIGKILL');
    clearInterval(writing);
    await running.ended;
  }
  const { here } = await run(context, [root, '--data', data], port);
  const isListed = async () => {
    const { stdout } = await skein(['site', 'status', '--data', data, '--json']);
    return (JSON.parse(stdout.toString()) as { sources: { time: string | null }[] }).sources[0]!.time !== null;
  };
  await until(isListed);
  cursor = await follow(here, held, cursor);
  assert.deepEqual(await reconcile(here, held), { cursor, read: 0 }, 'what the changes said is what there is');
});

test('put back from a backup, it says that its history is another one, and the reader reconciles', async context => {
  const root = folder(context);
  const state = folder(context);
  const data = join(state, 'state');
  for (let i = 0; i < 300; i++) write(root, `${i}.html`, page(`Page ${i}`, 'one'));
  const port = await freePort();
  const first = await run(context, [root, '--data', data], port);
  const held: Held = new Map();
  let { cursor } = await reconcile(first.here, held);
  cpSync(root, join(state, 'old-root'), { recursive: true });
  cpSync(join(data, 'journal'), join(state, 'old-journal'));
  write(root, '1.html', page('Page 1', 'two'));
  write(root, '2.html', page('Page 2', 'two'));
  await until(async () => (cursor = await follow(first.here, held, cursor)).startsWith('2-'));
  first.running.child.kill('SIGTERM');
  assert.equal((await first.running.ended).code, 0);

  rmSync(root, { recursive: true });
  cpSync(join(state, 'old-root'), root, { recursive: true });
  cpSync(join(state, 'old-journal'), join(data, 'journal'));
  // Since then it made as many changes as the reader had seen: the number alone would not tell.
  for (const i of [3, 4, 5]) write(root, `${i}.html`, page(`Page ${i}`, 'three'));
  const { here } = await run(context, [root, '--data', data], port);
  await until(async () => (await here.discovery()).journal.cursor.startsWith('3-'));
  await assert.rejects(here.changes(cursor), /409 .*other-history/);
  const after = await reconcile(here, held);
  assert.ok(after.read < 300, `${after.read} pages were read, not all`);
  assert.deepEqual(await reconcile(here, held), { cursor: after.cursor, read: 0 });
  assert.equal(held.size, 300);
});

test('hub and subscriber killed in the middle: what changed meanwhile is delivered once both are back', async context => {
  const root = folder(context);
  write(root, 'a.html', page('A', 'one'));
  const [port, callbackPort] = [await freePort(), await freePort()];
  const words = [root, '--data', join(folder(context), 'state'), '--hub', 'own', '--allow-private'];
  const first = await run(context, words, port);
  const bodies: string[] = [];
  const subscriber = () => {
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      if (request.method === 'POST') bodies.push(body);
      response.end(new URL(request.url!, PUBLIC).searchParams.get('hub.challenge') ?? '');
    });
    return new Promise<typeof server>(resolve => server.listen(callbackPort, '127.0.0.1', () => resolve(server)));
  };
  let listening = await subscriber();
  context.after(() => listening.closeAllConnections());
  context.after(() => listening.close());
  const topic = `${PUBLIC}.well-known/skein/atom.xml`;
  const form = { 'hub.mode': 'subscribe', 'hub.topic': topic, 'hub.callback': `http://127.0.0.1:${callbackPort}/` };
  await fetch(`${first.here.at}/.well-known/skein/hub`, { method: 'POST', body: new URLSearchParams(form) });
  write(root, 'a.html', page('A', 'two'));
  await until(() => bodies.length > 0);
  listening.closeAllConnections();
  await new Promise(resolve => listening.close(resolve));
  const { cursor } = (await first.here.discovery()).journal;
  write(root, 'b.html', page('B', 'one'));
  await until(async () => (await first.here.changes(cursor)) !== undefined);
  first.running.child.kill('SIGKILL');
  await first.running.ended;
  write(root, 'c.html', page('C', 'one'));
  const before = bodies.length;
  listening = await subscriber();
  await run(context, words, port);
  const told = () => bodies.slice(before).join('');
  await until(() => told().includes('/b.html') && told().includes('/c.html'));
});
