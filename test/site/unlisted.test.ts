/**
 * Pages that no list is to name (noindex, a canonical page elsewhere): readers who hold them are told of their changes by the
 * own face, and nobody learns of them there.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { decodeChanges } from '../../src/notices/site/changes.ts';
import { byPathHash } from '../../src/notices/site/paths.ts';
import { folder, type Here, PUBLIC, page, startSite, until, write } from './site-here.ts';

const quiet = (text: string) => page('Quiet', text).replace('<head>', '<head><meta name="robots" content="noindex">');

/** As a reader is told who holds these pages. */
async function told({ get }: Here, since: string, ...held: readonly string[]) {
  const answer = await get(`/.well-known/skein/changes?since=${since}`);
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const { changes } = decodeChanges(
    bytes,
    PUBLIC,
    byPathHash(() => held.map(path => PUBLIC + path)),
  );
  return { bytes: Buffer.from(bytes), changes: changes.map(({ url, operation }) => `${operation} ${url}`).sort() };
}

async function standardFaces({ get }: Here): Promise<string> {
  const names = ['sitemap-1.xml', 'atom.xml', 'resourcesync/resourcelist.xml', 'resourcesync/changelist.xml'];
  return (await Promise.all(names.map(async name => (await get(`/.well-known/skein/${name}`)).text()))).join('\n');
}

test('a page with noindex is told of to those who hold it, and named to nobody', async context => {
  const root = folder(context);
  write(root, 'a.html', page('A', 'one'));
  write(root, 'thanks.html', quiet('one'));
  const submitted: string[] = [];
  const endpoint = await receive(context, body => submitted.push(body));
  const here = await startSite(context, { directory: root, indexNow: [endpoint], allowPrivate: true });
  const { cursor } = (await here.discovery()).journal;
  write(root, 'a.html', page('A', 'two'));
  write(root, 'thanks.html', quiet('two'));
  await here.site.changed();
  const reader = await told(here, cursor, 'thanks.html', 'a.html');
  assert.deepEqual(reader.changes, [`update ${PUBLIC}a.html`, `update ${PUBLIC}thanks.html`]);
  const stranger = await told(here, cursor);
  assert.deepEqual(stranger.changes, [`update ${PUBLIC}a.html`]);
  assert.ok(!stranger.bytes.includes('thanks'));
  assert.ok(!(await standardFaces(here)).includes('thanks'));
  await until(() => submitted.length > 0);
  assert.ok(!submitted.join().includes('thanks'));
  const { pages, unlisted } = here.site.status();
  assert.deepEqual([pages, unlisted], [2, 1]);
  // It says itself what it asks for, so that it may go in bulk.
  const [given] = await here.pages([{ url: `${PUBLIC}thanks.html` }]);
  assert.equal(given!.state, 'page');
});

test('a page that turns unlisted is gone from the lists, and new there when it turns back', async context => {
  const root = folder(context);
  write(root, 'a.html', page('Quiet', 'one'));
  const here = await startSite(context, { directory: root });
  const { cursor } = (await here.discovery()).journal;
  write(root, 'a.html', quiet('one'));
  await here.site.changed();
  assert.match(await standardFaces(here), /deleted-entry[^>]*a\.html[\s\S]*change="deleted"/);
  const { changes } = await told(here, cursor, 'a.html');
  assert.deepEqual(
    changes,
    [`create ${PUBLIC}a.html`],
    'a reader who holds it is told what it is like, not that it is gone',
  );
  assert.equal(here.site.journal.cursor.sequence, 2);
  write(root, 'a.html', page('Quiet', 'one'));
  await here.site.changed();
  assert.match(await standardFaces(here), /change="deleted"[\s\S]*change="created"/);
  assert.match(await (await here.get('/.well-known/skein/sitemap-1.xml')).text(), /a\.html/);
});

test('what only a header says of a page is not lost in bulk', async context => {
  const headers = new Map<string, Record<string, string>>([
    ['/kept', { 'x-robots-tag': 'noarchive' }],
    ['/quiet', { 'x-robots-tag': 'noindex' }],
    ['/twin', {}],
  ]);
  const links = [...headers.keys()].map(path => `<a href="${path}">x</a>`).join(' ');
  const canonical = page('Twin', 'text').replace('<head>', `<head><link rel="canonical" href="${PUBLIC}">`);
  const server = createServer(({ url }, response) => {
    const body = url === '/' ? page('Front', links) : url === '/twin' ? canonical : page(url!, 'text');
    const found = url === '/' || headers.has(url!);
    response.writeHead(found ? 200 : 404, { 'content-type': 'text/html', ...headers.get(url!) }).end(body);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  context.after(() => server.close());
  const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const here = await startSite(context, { upstream, data: join(folder(context), 'state') });
  const kinds = Object.fromEntries([...here.site.journal.pages.values()].map(({ path, kind }) => [path, kind]));
  assert.deepEqual(kinds, { '/': 'page', '/kept': 'page', '/quiet': 'unlisted', '/twin': 'unlisted' });
  const wanted = ['', 'kept', 'quiet', 'twin'].map(path => ({ url: PUBLIC + path }));
  const given = (await here.pages(wanted)).map(({ state }) => state);
  assert.deepEqual(given, ['page', 'elsewhere', 'elsewhere', 'page']);
});

/** Address of a server that takes whatever is sent. */
async function receive(context: TestContext, take: (body: string) => void): Promise<string> {
  const server = createServer(async (request, response) => {
    take(await text(request));
    response.end();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
