/** What npm would publish, built and run from a place of its own: no sources, and a whole crawl all the same. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root, workplace } from '../journeys/skein.ts';

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  files: string[];
  scripts: Record<string, string>;
  exports: Record<string, { types: string }>;
};

test('the published package works without its sources', () => {
  using place = workplace();
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  assert.equal(
    manifest.scripts['build'],
    'tsc -p tsconfig.build.json && node scripts/copy-wasm.js && node scripts/bundle.js',
  );
  assert.equal(manifest.scripts['prepack'], 'npm run build', 'npm pack takes no stale build, or none at all');
  const dist = join(place.path, 'dist');
  const node = (...args: string[]) => execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  node(compiler, '-p', 'tsconfig.build.json', '--outDir', dist);
  node('scripts/copy-wasm.js', dist);
  node('scripts/bundle.js', dist);
  const rest = manifest.files.filter(name => name !== 'dist' && existsSync(join(root, name)));
  for (const name of [...rest, 'package.json']) cpSync(join(root, name), join(place.path, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(place.path, 'node_modules'));
  assert.ok(!existsSync(join(place.path, 'src', 'cli')), 'no sources to fall back on');

  const skein = (...args: string[]) =>
    execFileSync(process.execPath, [join(place.path, 'bin', 'skein.js'), ...args], {
      cwd: place.path,
      encoding: 'utf8',
    });
  assert.match(skein('--help'), /Usage: skein/);
  const summary = JSON.parse(skein('demo', '--keep-data', 'demo', '--json').trim().split('\n').at(-1)!);
  assert.ok((summary as Record<string, number>)['fetched']! > 10, JSON.stringify(summary));
  // What it loads are copies of its modules in few files: they do what the sources do.
  const data = ['--data', join(place.path, 'demo')];
  for (const words of [
    ['pages', '--json'],
    ['changes', '--json'],
    ['verify', '--json'],
    ['account', '--json'],
  ])
    assert.equal(skein(...words, ...data), node(join(root, 'bin', 'skein.js'), ...words, ...data), words.join(' '));
  assert.throws(() => skein('crawl', 'ftp://a', '--data', 'demo'), /Skein reads http and https, not ftp/);

  // A program that has Skein as a dependency names its parts by what package.json exports.
  for (const part of ['.', './site', './testing'])
    assert.ok(existsSync(join(place.path, manifest.exports[part]!.types)), `types of ${part} come along`);
  writeFileSync(join(place.path, 'app.js'), app);
  const told = execFileSync(process.execPath, ['app.js'], { cwd: place.path, encoding: 'utf8' });
  assert.equal(told.trim(), '/a /records/1');
});

/** A site with a page that the program tells of, and one of a database. */
const app = `
import { DatabaseSync } from 'node:sqlite';
import { writeFileSync } from 'node:fs';
import { site } from 'skein/site';
new DatabaseSync('app.db').exec("CREATE TABLE t (id, name, changed); INSERT INTO t VALUES (1, 'one', 1)");
const described = { name: 't', sqlite: 'app.db', query: 'SELECT * FROM t', key: 'id', since: 'changed' };
const shown = { url: '/records/{id}', title: '{name}', columns: [] };
writeFileSync('records.json', JSON.stringify({ records: [{ ...described, ...shown }] }));
const made = site({ public: 'https://example.org', pages: () => [{ url: '/a', body: '<p>a</p>' }], records: 'records.json' });
await made.ready;
const { createServer } = await import('node:http');
const server = createServer(made).listen(0, '127.0.0.1', async () => {
  const text = await (await fetch('http://127.0.0.1:' + server.address().port + '/.well-known/skein/sitemap-1.xml')).text();
  console.log([...text.matchAll(/<loc>https:..example.org([^<]*)/g)].map(match => match[1]).join(' '));
  server.closeAllConnections();
  server.close();
  await made.close();
});
`;

test('npm run sbom lists what Skein consists of, without a network', () => {
  const words = ['run', '-s', 'sbom', '--', '--offline'];
  const text = execFileSync('npm', words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const { components } = JSON.parse(text) as { components: readonly { name: string }[] };
  const names = components.map(({ name }) => name);
  for (const name of ['hono', 'sharp', 'zod']) assert.ok(names.includes(name), `${name} is missing`);
});
