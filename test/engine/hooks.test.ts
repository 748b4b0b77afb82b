/** Hooks in the fetching threads: what they ask for is done, what they get wrong is told with page and line. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { after, test } from 'node:test';
import type { CrawlOptions } from '../../src/engine/library/skein.ts';
import { type TestCollection, testCollection, testWeb } from '../../src/testing/testing.ts';

const place = mkdtempSync(join(tmpdir(), 'skein-hooks-'));
after(() => rmSync(place, { recursive: true }));

const hooks = (name: string, code: string): string => {
  const file = join(place, name);
  writeFileSync(file, code);
  return file;
};

const web = () =>
  testWeb({
    '/': '<title>Home</title><a href="/a">A</a> <a href="/b">B</a> <a href="/secret">S</a>',
    '/a': '<title>Page A</title><p>Words of a page.</p><a href="/far">far</a>',
    '/b': ({ headers }) =>
      `<title>B</title><p>${headers['x-token'] ?? 'nobody'} ${headers['accept-language'] ?? ''} ${headers['authorization'] ?? ''}</p>`,
    '/secret': '<title>Secret</title>',
    '/far': '<title>Far</title>',
    '/hidden': '<title>Hidden</title>',
    '/robots.txt': { status: 404 },
  });

/** URL paths of what was visited, with their outcome and reason. */
async function crawled(collection: TestCollection, seeds: readonly string[], more: CrawlOptions) {
  const said: string[] = [];
  const run = collection.skein.crawl(seeds, more).on('said', text => said.push(text));
  const pages = [];
  for await (const page of run) pages.push(page);
  const outcomes = pages
    .map(({ url, outcome, reason }) => [new URL(url).pathname, outcome, reason].join(' '))
    .toSorted();
  return { pages, outcomes, said };
}

test('before a request: header lines go out and secrets are not stored; what is skipped is not asked for', async () => {
  await using site = await web();
  await using collection = testCollection({ threads: 1 });
  const file = hooks(
    'before.ts',
    `import type { Hooks } from '${new URL('../../src/crawler/hooks.ts', import.meta.url)}';
export default {
  async beforeRequest({ url, role, first }: { url: string; role: string; first: boolean }) {
    if (url.endsWith('/secret')) return { skip: true };
    return { headers: { 'X-Token': role + first, Authorization: 'Bearer abc', 'Accept-Language': 'de' } };
  },
} satisfies Hooks;`,
  );
  const { pages, outcomes } = await crawled(collection, site.seeds, { hooks: file });
  assert.deepEqual(outcomes, [
    '/ fetched ok',
    '/a fetched ok',
    '/b fetched ok',
    '/far fetched ok',
    '/secret refused skipped',
  ]);
  assert.match((await pages.find(({ url }) => url.endsWith('/b'))!.html())!, /pagetrue de Bearer abc/);
  assert.ok(!site.log.some(({ path }) => path === '/secret'));
  const out = new PassThrough();
  const all = out.toArray();
  await collection.skein.export(out, { format: 'warc' });
  out.end();
  const { gunzipSync } = await import('node:zlib');
  const warc = gunzipSync(Buffer.concat(await all)).toString();
  assert.match(warc, /X-Token: pagetrue/);
  assert.match(warc, /Authorization: \(not stored\)/);
  assert.doesNotMatch(warc, /Authorization: Bearer/);
});

test('after a page: it is kept or not, links are followed or not, URLs are added, data stays with the visit', async () => {
  await using site = await web();
  await using collection = testCollection({ threads: 1 });
  const file = hooks(
    'after.js',
    `export default {
  afterPage(page) {
    const { pathname } = new URL(page.url);
    if (pathname === '/a') return { keep: false, follow: false, add: ['/hidden', { url: '/b', priority: 9 }, '#x', 'mailto:x@y'] };
    return { data: { title: page.title, links: page.links().map(({ url }) => new URL(url).pathname), type: page.header('Content-Type'),
      text: page.text().trim(), html: page.html().length === page.bytes, bytes: page.body().length === page.bytes } };
  },
};`,
  );
  const { pages, outcomes } = await crawled(collection, site.seeds, { hooks: file });
  assert.deepEqual(outcomes, [
    '/ fetched ok',
    '/a fetched ok',
    '/b fetched ok',
    '/hidden fetched ok',
    '/secret fetched ok',
  ]);
  const page = (path: string) => pages.find(({ url }) => new URL(url).pathname === path)!;
  assert.equal(await page('/a').html(), undefined, 'it is not stored');
  assert.equal(page('/a').data(), undefined);
  assert.deepEqual(page('/').data(), {
    ...{ title: 'Home', links: ['/a', '/b', '/secret'], type: 'text/html; charset=utf-8' },
    ...{ text: 'Home\nA B S', html: true, bytes: true },
  });
  const out = new PassThrough();
  const all = out.toArray();
  assert.equal(await collection.skein.export(out, { format: 'found', pattern: '/hidden' }), 1);
  out.end();
  const row = JSON.parse(Buffer.concat(await all).toString()) as { url: string; data: { title: string } };
  assert.equal(row.data.title, 'Hidden');
});

test('what a hook throws costs its page and is told once, with page and line; too often, and the crawl ends', async () => {
  await using site = await web();
  await using collection = testCollection({ threads: 1 });
  const file = hooks(
    'broken.mjs',
    `export default {
  afterPage({ url, text }) {
    if (url.endsWith('/a')) return { data: undefined.length };
    if (url.endsWith('/b')) return Promise.resolve({ add: [7] });
    if (url.endsWith('/secret')) return { data: 'x'.repeat(70000) };
  },
};`,
  );
  const { outcomes, said } = await crawled(collection, site.seeds, { hooks: file });
  assert.deepEqual(outcomes, ['/ fetched ok', '/a failed decider', '/b failed decider', '/secret failed decider']);
  assert.match(said.join('\n'), /The hook afterPage failed on http:\S+\/a: TypeError: .* \(broken\.mjs:3:\d+\)/);
  assert.match(said.join('\n'), /\/b: "add" has something that is not a URL/);
  assert.match(said.join('\n'), /\/secret: "data" is more than 65536 bytes of JSON/);

  await using many = await testWeb({
    '/': Array.from({ length: 40 }, (_, i) => `<a href="/p${i}">${i}</a>`).join(' '),
    '/p*': ({ path }) => `<title>${path}</title>`,
  });
  const never = hooks('never.js', `export default { beforeRequest() { return { headers: { Host: 'x' } }; } };`);
  await using other = testCollection({ threads: 1 });
  await assert.rejects(
    crawled(other, [...many.seeds, ...Array.from({ length: 30 }, (_, i) => `${many.origin}/p${i}`)], { hooks: never }),
    /beforeRequest failed 20 times in a row, at last: Skein sets the header Host itself/,
  );
});

test('hooks that cannot be used are refused in a sentence', async () => {
  await using site = await web();
  await using collection = testCollection({ threads: 1 });
  const run = (more: CrawlOptions) => collection.skein.crawl(site.seeds, more).summary();
  await assert.rejects(run({ hooks: join(place, 'none.js') }), /There are no hooks at/);
  await assert.rejects(run({ hooks: hooks('a.txt', '') }), /is not a module/);
  await assert.rejects(run({ hooks: hooks('odd.js', 'export default { afterpage() {} };') }), /no hook "afterpage"/);
  await assert.rejects(run({ hooks: hooks('syntax.js', 'export default {') }), /The hooks do not load: SyntaxError/);
  await assert.rejects(
    run({ hooks: hooks('fine.js', 'export default { afterPage() {} };'), decider: Buffer.from('') }),
    /both decide/,
  );
});

test('hooks of somebody else run in the cage', {
  skip: existsSync('/usr/bin/bwrap') ? false : 'no bubblewrap',
}, async () => {
  await using site = await web();
  await using collection = testCollection({ threads: 1 });
  const file = hooks(
    'caged.js',
    `export default {
  afterPage(page) {
    if (page.url.endsWith('/a')) return { follow: false, add: ['/hidden'], data: { title: page.title, size: page.html().length } };
    if (page.url.endsWith('/secret')) process.getBuiltinModule('node:fs').readFileSync('/etc/passwd');
  },
};`,
  );
  const { pages, outcomes, said } = await crawled(collection, site.seeds, { hooks: file, cagedHooks: true });
  assert.deepEqual(outcomes, [
    '/ fetched ok',
    '/a fetched ok',
    '/b fetched ok',
    '/hidden fetched ok',
    '/secret failed decider',
  ]);
  assert.deepEqual(pages.find(({ url }) => url.endsWith('/a'))!.data(), { title: 'Page A', size: 66 });
  assert.match(said.join('\n'), /it tried what it may not do: FileSystemRead .*secret/s);
});
