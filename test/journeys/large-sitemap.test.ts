/** A sitemap may have 50 MB: all of it is read, whatever the limit for pages. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { crawlHere, pagesOf, workplace } from './skein.ts';

test('the last entry of a sitemap of 20 MB is found, with a limit of 100 KB for pages', async () => {
  const server = createServer((request, answer) => {
    const { port } = server.address() as AddressInfo;
    const origin = `http://127.0.0.1:${port}`;
    if (request.url === '/robots.txt') return answer.end(`Sitemap: ${origin}/sitemap.xml\n`);
    if (request.url !== '/sitemap.xml') return answer.setHeader('content-type', 'text/html').end('<p>hello');
    const filler = `<!--${' words'.repeat(3000)}-->`;
    answer.setHeader('content-type', 'application/xml');
    answer.write('<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">');
    for (let i = 0; i < 1100; i++) answer.write(filler);
    answer.end(`<url><loc>${origin}/last</loc></url></urlset>`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  using place = workplace();
  const { port } = server.address() as AddressInfo;
  try {
    await crawlHere({ data: place.path, bodyLimit: '100KB', threads: 1 }, [`http://127.0.0.1:${port}/`]);
    const pages = await pagesOf(place.path);
    assert.equal(pages.get(`http://127.0.0.1:${port}/last`)?.outcome, 'fetched');
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
