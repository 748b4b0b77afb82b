/** A web server that makes its pages, walked through its own door: what it cannot show stands in nobody's way. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type Here, page, startSite, until } from './site-here.ts';

interface Upstream {
  readonly at: string;
  /** Bodies by path; a number is a status. */
  readonly pages: Map<string, string | number>;
}

async function openUpstream(context: TestContext): Promise<Upstream> {
  const pages = new Map<string, string | number>();
  const server = createServer((request, response) => {
    const found = pages.get(request.url!) ?? 404;
    if (typeof found === 'number') return response.writeHead(found).end();
    return response.writeHead(200, { 'content-type': 'text/html' }).end(found);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { at: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, pages };
}

const linking = (title: string, ...links: readonly string[]) =>
  page(title, links.map(link => `<a href="${link}">${link}</a>`).join(' '));
const paths = ({ site }: Here) => [...site.journal.pages.keys()].sort();
const problem = ({ site }: Here) => site.status().sources[0]!.problem;

test('a page that is broken keeps no other from being told, and none that is gone from going', async context => {
  const { at, pages } = await openUpstream(context);
  pages.set('/', linking('Front', '/a', '/broken', '/b', '/z'));
  pages.set('/a', page('A', 'one'));
  pages.set('/b', linking('B', '/c'));
  pages.set('/c', page('C', 'one'));
  pages.set('/z', page('Z', 'one'));
  pages.set('/broken', 500);
  const here = await startSite(context, { upstream: at, every: 1, goneAfter: 0.1 });
  assert.deepEqual(paths(here), ['/', '/a', '/b', '/c', '/z']);
  assert.match(problem(here), /\/broken cannot be read: it answers 500/);
  pages.set('/c', page('C', 'two'));
  pages.set('/b', 503); // what it leads to is known
  pages.set('/', linking('Front', '/a', '/broken', '/b'));
  pages.set('/a', 500); // a page that breaks is not gone, and neither is
  pages.set('/z', 502); // one that nothing leads to any more
  await until(() => here.site.journal.cursor.sequence === 2);
  assert.deepEqual(paths(here), ['/', '/a', '/b', '/c', '/z']);
  assert.match(problem(here), /3 pages cannot be read/);
  pages.delete('/z');
  pages.set('/', linking('Front', '/broken', '/b'));
  pages.delete('/a');
  await until(() => here.site.journal.pages.size === 3);
  assert.deepEqual(paths(here), ['/', '/b', '/c']);
  pages.delete('/broken');
  pages.set('/b', linking('B', '/c'));
  await until(() => problem(here) === '');
});

test('a server that fails throughout takes nothing away', async context => {
  const { at, pages } = await openUpstream(context);
  const many = Array.from({ length: 30 }, (_, i) => `/${i}`);
  pages.set('/', linking('Front', ...many));
  for (const path of many) pages.set(path, page(path, 'one'));
  const here = await startSite(context, { upstream: at, every: 1, goneAfter: 0.1 });
  assert.equal(here.site.journal.pages.size, 31);
  for (const path of many) pages.set(path, 503);
  await until(() => problem(here) !== '');
  assert.match(problem(here), /it answers 503/);
  assert.deepEqual([here.site.journal.pages.size, here.site.journal.cursor.sequence], [31, 0]);
  for (const path of many) pages.set(path, page(path, 'two'));
  await until(() => here.site.journal.cursor.sequence === 30);
});
