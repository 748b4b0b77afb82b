/** The deciders of docs/guides/deciders.md do what the guide says, through the command that a user types. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { readDecider } from '../../src/cli/options/decider-file.ts';
import { fast, lookInto, pagesOf, root, skein, skeinJson, workplace } from './skein.ts';

const guide = readFileSync(join(root, 'docs/guides/deciders.md'), 'utf8');

/** The code block that begins with this. */
function block(start: string): string {
  const found = [...guide.matchAll(/```\w*\n(.*?)```/gs)].find(match => match[1]!.startsWith(start));
  assert.ok(found, `the guide has no block that begins with "${start}"`);
  return found[1]!;
}

const words = 'Of the many birds that pass here in autumn';
const pages: Record<string, string> = {
  '/': `<p>${words}, geese are the loudest.</p><a href="/nests">Nests</a> <a href="/swans">Swans</a>`,
  '/nests': `<p>${words}, Geese and GEESE alone stay.</p>`,
  '/swans': `<p>${words}, swans are the largest.</p><a href="/ducks">Ducks</a>`,
  '/ducks': `<p>${words}, ducks are the first.</p>`,
};

async function openSite(): Promise<AsyncDisposable & { readonly origin: string }> {
  const server = createServer((request, response) => {
    const body = pages[request.url!];
    response.writeHead(body ? 200 : 404, { 'content-type': 'text/html' }).end(body ?? 'none');
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

async function follows(file: string, data: string): Promise<void> {
  await using site = await openSite();
  const { origin } = site;
  await skeinJson('crawl', origin, '--data', data, '--decider', file, ...fast);
  const found = await pagesOf(data);
  const outcomes = Object.keys(pages).map(path => {
    const page = found.get(origin + path);
    return `${path} ${page?.outcome} ${page?.reason}`;
  });
  assert.deepEqual(outcomes, ['/ fetched ok', '/nests fetched ok', '/swans fetched ok', '/ducks refused nofollow']);
  using look = lookInto(data);
  const stored = Object.keys(pages).map(path => look.page(origin + path).known?.place ?? null);
  assert.deepEqual(
    stored.map(place => place !== null),
    [true, true, false, false],
  );
  assert.equal(look.page(`${origin}/nests`).page.relevance, 50);
}

test('the decider in JavaScript', async () => {
  using place = workplace();
  const file = join(place.path, 'geese.js');
  writeFileSync(file, block('// geese.js'));
  await follows(file, join(place.path, 'data'));
});

test('the decider in AssemblyScript', async () => {
  using place = workplace();
  const file = join(place.path, 'geese.wasm');
  writeFileSync(file, await compile(block('// geese.ts'), block('npx asc').trim().split(' ').slice(2)));
  await follows(file, join(place.path, 'data'));
});

/** Compiles with the words of the guide's command. */
async function compile(source: string, command: readonly string[]): Promise<Uint8Array> {
  // Named by a variable: the compiler's types declare globals of their own, and would shadow Node's.
  const compiler: string = 'assemblyscript/asc';
  const { main } = (await import(compiler)).default;
  let bytes: Uint8Array | undefined;
  const { error, stderr } = await main(command, {
    readFile: (name: string) => (name === 'geese.ts' ? source : null),
    writeFile: (_: string, contents: Uint8Array) => {
      bytes = contents;
    },
  });
  assert.ok(!error && bytes, stderr.toString());
  return bytes;
}

test('a decider that is not one is refused before anything is fetched', async () => {
  using place = workplace();
  const crawl = ['crawl', 'http://127.0.0.1:9/', '--data', join(place.path, 'data'), '--decider'];
  writeFileSync(join(place.path, 'a.js'), 'export const nothing = 1');
  const [empty, missing] = await Promise.all([
    skein([...crawl, join(place.path, 'a.js')]),
    skein([...crawl, join(place.path, 'b.wasm')]),
  ]);
  assert.equal(empty.code, 1);
  assert.match(empty.stderr, /default export/);
  assert.equal(missing.code, 2);
  assert.match(missing.stderr, /cannot be read/);
  assert.throws(() => readDecider('c.txt'), { code: 'bad-option', message: /neither WebAssembly nor JavaScript/ });
});

test('a decider that fails costs the page its verdict, and the reason is said', async () => {
  using place = workplace();
  await using site = await openSite();
  const file = join(place.path, 'broken.js');
  writeFileSync(file, 'export default ({ url }) => { if (url.endsWith("/")) throw new Error("no such bird"); }');
  const data = join(place.path, 'data');
  const { code, stderr } = await skein(['crawl', site.origin, '--data', data, '--decider', file, ...fast]);
  assert.equal(code, 1, stderr); // the only page: nothing was collected
  assert.match(stderr, /The decider was ended: Error: no such bird\. It was at http/);
  assert.equal((await pagesOf(data)).get(`${site.origin}/`)?.reason, 'decider');
});
