/** Pages of a server behind the site: what its robots.txt forbids is not told, and what it may forbid is not guessed. */
import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { openSite } from '../../src/site/site.ts';
import { folder, page } from './site-here.ts';

const RULES = 'User-agent: *\nAllow: /open\nDisallow: /private\n';

async function told(context: TestContext, robots: (response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    if (request.url === '/robots.txt') return robots(response);
    const links = '<a href="/private/plan">plan</a> <a href="/open">open</a>';
    response.writeHead(200, { 'content-type': 'text/html' }).end(page(request.url!, links));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const opened = await openSite({ public: 'https://example.org/', upstream, data: join(folder(context), 'state') });
  context.after(async () => {
    await opened.close();
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  });
  const refused = await opened.site.start().then(
    () => '',
    error => (error as Error).message,
  );
  const { sources } = opened.site.status();
  return { paths: [...opened.site.journal.pages.keys()].sort(), problem: sources[0]!.problem || refused };
}

test('a robots.txt counts whole or not at all', async context => {
  const whole = await told(context, response => void response.end(RULES));
  assert.deepEqual(whole, { paths: ['/', '/open'], problem: '' });
  const zipped = gzipSync(RULES);
  const gzip = { 'content-encoding': 'gzip' };
  const broken: Record<string, (response: ServerResponse) => void> = {
    'it is shorter than it says': response => {
      response.writeHead(200, { 'content-length': String(RULES.length) }).write(RULES.slice(0, 26));
      setTimeout(() => response.destroy(), 50);
    },
    'its coding is none': response => void response.writeHead(200, gzip).end(RULES),
    'its coding breaks off': response => void response.writeHead(200, gzip).end(zipped.subarray(0, 30)),
  };
  for (const [what, robots] of Object.entries(broken)) {
    const { paths, problem } = await told(context, robots);
    assert.deepEqual(paths, [], what);
    assert.match(problem, /robots\.txt cannot be read/, what);
  }
});
