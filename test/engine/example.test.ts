/** What npm would publish, packed and installed into an empty project: the examples compile under `strict` and run. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { openDemoWeb } from '../../src/cli/demo-web.ts';
import { testWeb } from '../../src/testing/testing.ts';
import { root, workplace } from '../journeys/skein.ts';

const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const node = (cwd: string, ...args: string[]) => execFileSync(process.execPath, args, { cwd, encoding: 'utf8' });

/** The tarball, unpacked where npm would put it. */
function install(place: string): string {
  const built = join(place, 'built');
  node(root, compiler, '-p', 'tsconfig.build.json', '--outDir', join(built, 'dist'));
  node(root, 'scripts/copy-wasm.js', join(built, 'dist'));
  node(root, 'scripts/bundle.js', join(built, 'dist'));
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] };
  const rest = manifest.files.filter(name => name !== 'dist' && existsSync(join(root, name)));
  for (const name of rest) cpSync(join(root, name), join(built, name), { recursive: true });
  // npm 10, which Node 20 brings, runs "prepare" whatever it is told.
  writeFileSync(join(built, 'package.json'), JSON.stringify({ ...manifest, scripts: {} }));
  execFileSync('npm', ['pack', '--ignore-scripts', '--silent'], { cwd: built });
  const tarball = readdirSync(built).find(name => name.endsWith('.tgz'))!;
  const project = join(place, 'project');
  const installed = join(project, 'node_modules', 'skein');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', join(built, tarball), '-C', installed, '--strip-components=1']);
  symlinkSync(join(root, 'node_modules'), join(installed, 'node_modules'));
  writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }');
  cpSync(join(installed, 'examples'), project, { recursive: true });
  return project;
}

const place = workplace();
let project: string;
before(() => {
  project = install(place.path);
});
after(() => place[Symbol.dispose]());

const run = promisify(execFile);
/** Runs an example in the project; what it writes to standard output. */
async function example(...args: readonly string[]): Promise<string> {
  const env: NodeJS.ProcessEnv = { ...process.env, PACE: '0' };
  delete env['NODE_TEST_CONTEXT']; // an example that is a test reports by itself
  const { stdout, stderr } = await run(process.execPath, args, { cwd: project, env });
  assert.equal(stderr, '', 'the library prints nothing');
  return stdout;
}

test('the examples compile under strict, with the types of the packed tarball', () => {
  const examples = readdirSync(project).filter(name => name.endsWith('.ts'));
  const types = join(root, 'node_modules', '@types');
  const strict = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2024', '--types', 'node'];
  node(project, compiler, ...strict, '--typeRoots', types, '--skipLibCheck', ...examples);
});

test('pages-to-jsonl.ts writes a line for each page', async () => {
  const web = await openDemoWeb();
  const told = await example('pages-to-jsonl.ts', web.seeds[0]!, join(place.path, 'pages'));
  await web.close();
  const lines = told
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as { url: string; words: number });
  assert.ok(lines.length > 3 && lines.every(({ url, words }) => URL.canParse(url) && words >= 0), told);
});

/** A shop of two pages; what it sells, and for how much. */
function shop(goods: Readonly<Record<string, number>>): Record<string, string> {
  const shown = Object.entries(goods).map(
    ([name, price]) =>
      `<div class="product"><h2>${name}</h2><p>Made by hand, one at a time.</p>
       <span class="price">${price}.00 €</span> <a href="/about?${name}">More</a></div>`,
  );
  const page = (title: string, body: string) =>
    `<!DOCTYPE html><title>${title}</title><main><h1>${title}</h1>${body}</main>`;
  return {
    '/': page('Shop', `<p>Come in.</p><a href="/goods">All that we sell</a>`),
    '/goods': page('Goods', shown.join('\n')),
  };
}

test('shop-to-csv.ts writes what a shop sells', async () => {
  await using web = await testWeb(shop({ Lamp: 20, Bell: 7 }));
  const file = join(place.path, 'prices.csv');
  assert.match(await example('shop-to-csv.ts', web.origin, join(place.path, 'shop'), file), /^2 products in /);
  const rows = readFileSync(file, 'utf8').trim().split(/\r?\n/);
  assert.equal(rows[0], 'url,time,name,price,link');
  assert.deepEqual(
    rows.slice(1).map(row => row.split(',').slice(2).join(' ')),
    [`Lamp 20 ${web.url('/about?Lamp')}`, `Bell 7 ${web.url('/about?Bell')}`],
  );
});

test('price-hooks.ts takes what a shop sells while it is crawled', async () => {
  await using web = await testWeb(shop({ Lamp: 20, Bell: 7 }));
  const data = join(place.path, 'hooked-shop');
  const bin = join('node_modules', 'skein', 'bin', 'skein.js');
  const skein = (...words: string[]) => run(process.execPath, [bin, ...words, '--data', data], { cwd: project });
  await skein('crawl', web.origin, '--hooks', 'price-hooks.ts', '--pace', '0');
  const found = (await skein('export', '--format', 'found')).stdout.trim().split('\n');
  assert.deepEqual(
    found.map(line => (JSON.parse(line) as { data: unknown }).data),
    [
      [
        { name: 'Lamp', price: 20 },
        { name: 'Bell', price: 7 },
      ],
    ],
  );
});

test('watch-prices.ts tells the prices that changed, once', async () => {
  await using web = await testWeb(shop({ Lamp: 20, Bell: 7 }));
  const watch = () => example('watch-prices.ts', web.origin, join(place.path, 'watched'));
  assert.equal(await watch(), '');
  web.set('/goods', shop({ Lamp: 15, Bell: 7, Horn: 9 })['/goods']);
  assert.equal(await watch(), 'Lamp: 20 → 15\nHorn: new → 9\n');
  assert.equal(await watch(), '');
});

test('docs-to-chunks.ts gives each chunk once, then those that changed or went', async () => {
  const section = (name: string, words: string) =>
    `<h2>${name}</h2><p>${words} ${'There is more to say about it. '.repeat(5)}</p>`;
  const guide = (...sections: string[]) => `<title>Guide</title><main><h1>Guide</h1>${sections.join('\n')}</main>`;
  const [begin, go] = [section('Begin', 'Open the box.'), section('Go on', 'Press the button.')];
  await using web = await testWeb({ '/': guide(begin, go) });
  const chunks = async () => {
    const told = await example('docs-to-chunks.ts', web.origin, join(place.path, 'docs'));
    const lines = told.split('\n').filter(line => line !== '');
    return lines.slice(0, -1).map(line => JSON.parse(line) as { kind: string; id: string; path: string[] });
  };
  const names = (lines: Awaited<ReturnType<typeof chunks>>) => lines.map(({ kind, path }) => `${kind} ${path.at(-1)}`);
  const first = await chunks();
  assert.deepEqual(names(first), ['added Begin', 'added Go on']);
  web.set('/', guide(section('Begin', 'Open the box with great care.')));
  const second = await chunks();
  assert.deepEqual(names(second), ['removed Go on', 'changed Begin']);
  assert.deepEqual(
    second.map(({ id }) => id).reverse(),
    first.map(({ id }) => id),
  );
  assert.deepEqual(await chunks(), []);
});

test('own-fetcher.ts crawls a folder, own-exporter.ts writes it in its form, title-hooks.ts takes titles', async () => {
  const folder = join(place.path, 'folder');
  mkdirSync(folder);
  writeFileSync(
    join(folder, 'index.html'),
    '<title>Start</title><p>Begin here.</p><a href="more.html">More</a> <a href="no.html">No</a>',
  );
  writeFileSync(join(folder, 'more.html'), '<title>More &amp; more</title><p>There is more to say.</p>');
  const data = join(place.path, 'folded');
  const told = await example('own-fetcher.ts', folder, data);
  assert.deepEqual(
    told
      .trim()
      .split('\n')
      .map(line => line.trim())
      .sort(),
    ['fetched / Start', 'fetched /more.html More & more', 'gone /no.html'],
  );
  const contents = await example('own-exporter.ts', data);
  assert.match(contents, /^<!doctype html>\n<ul>\n/);
  assert.match(contents, /<a href="http:\/\/folder.invalid\/more.html">More &amp; more<\/a> There is more/);
  await using web = await testWeb({ '/': '<title>Home</title><a href="/print/1">print</a>', '/print/1': 'no' });
  const hooked = join(place.path, 'hooked');
  const bin = join('node_modules', 'skein', 'bin', 'skein.js');
  const skein = (...words: string[]) => run(process.execPath, [bin, ...words, '--data', hooked], { cwd: project });
  await skein('crawl', web.origin, '--hooks', 'title-hooks.ts', '--pace', '0');
  const found = (await skein('export', '--format', 'found')).stdout.trim().split('\n');
  assert.deepEqual(
    found.map(line => (JSON.parse(line) as { data: unknown }).data),
    [{ title: 'Home', words: 2 }],
  );
});

test('own-test.ts passes as a test', async () => {
  assert.match(await example('--test', 'own-test.ts'), /pass 1\n/);
});
