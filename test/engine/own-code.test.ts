/** What is wrong with the code that a user brings, a fetcher or hooks, is told with what to look for. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { open, SkeinError } from '../../src/engine/library/skein.ts';
import { workplace } from '../journeys/skein.ts';

const SITE = 'http://own.test/';

/** Crawls with this code; returns what was said, or what was thrown. */
async function said(kind: 'fetcher' | 'hooks', code: string): Promise<string> {
  using place = workplace();
  const module = join(place.path, 'own.mjs');
  writeFileSync(module, code);
  const own = kind === 'hooks' ? { hooks: module, fetcher: { module: folder(place.path) } } : { fetcher: { module } };
  const skein = await open({ data: join(place.path, 'data'), pace: 0, threads: 1, ...own });
  const heard: string[] = [];
  try {
    const run = skein.crawl(SITE);
    run.on('said', sentence => heard.push(sentence));
    await run.summary();
  } catch (error) {
    assert.ok(error instanceof SkeinError, String(error));
    heard.push(error.message);
  } finally {
    await skein.close();
  }
  return heard.join('\n');
}

const answer = (
  head: string,
  body: string,
) => `({ kind: 'response', status: 200, head: Buffer.from(${JSON.stringify(head)}),
  requestHead: Buffer.from('GET / HTTP/1.1\\r\\n\\r\\n'), headers: new Map([['content-type', 'text/html']]), body: Buffer.from(${JSON.stringify(body)}),
  protocol: 'http/1.1', address: '', wire: { up: 0, down: 1, firstByte: 0, total: 0 } })`;
const PAGE = answer('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n', '<title>Home</title>');
const fetching = (does: string) =>
  `export const makeFetcher = () => ({ fetch: async ({ url }) => { ${does} }, release() {}, close: async () => {} });`;

function folder(path: string): string {
  const file = join(path, 'pages.mjs');
  writeFileSync(file, fetching(`return ${PAGE};`));
  return file;
}

test('a fetcher that does not load, or is none, ends the crawl with the reason', async () => {
  assert.match(
    await said('fetcher', 'throw new Error("no browser here")'),
    /does not load: no browser here \(own\.mjs:1/,
  );
  assert.match(await said('fetcher', 'export const makeFetchr = 1;'), /exports no makeFetcher/);
  assert.match(await said('fetcher', 'export const makeFetcher = () => ({ fetch() {} });'), /has no release\(\)/);
});

test('what a fetcher throws, or answers wrongly, is told with the page and the line, and kills no thread', async () => {
  const robots = `if (url.endsWith('robots.txt')) return ${PAGE};`;
  const thrown = await said('fetcher', fetching(`${robots} throw new Error('the tab crashed');`));
  assert.match(thrown, /The fetcher failed on http:\/\/own\.test\/: the tab crashed \(own\.mjs:\d+:/);
  assert.match(await said('fetcher', fetching(`${robots} return 200;`)), /fetch\(\) gave no answer/);
});

test('hooks that answer what there is not are told so: a misspelt wish would do nothing', async () => {
  const hooks = (wish: string) => `export default { afterPage() { return ${wish}; } };`;
  assert.match(await said('hooks', hooks('{ dat: 1 }')), /"dat" is none of what it may answer: keep, follow/);
  assert.match(await said('hooks', hooks('{ data: () => 1 }')), /JSON cannot say/);
  const before = 'export default { beforeRequest() { return { header: {} }; } };';
  assert.match(await said('hooks', before), /"header" is none of what it may answer: headers, skip/);
});
