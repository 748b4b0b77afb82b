/** Every command's --json is what its schema says, and docs/json.md is what the schemas say. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { commands } from '../../src/cli/commands.ts';
import { isoTimes } from '../../src/cli/print/json.ts';
import { document, schemas } from '../../src/cli/print/schemas.ts';
import { html, openPages, prose } from '../journeys/pages.ts';
import { fast, root, skein, skeinJson, start, workplace } from '../journeys/skein.ts';

test('docs/json.md is up to date (npm run docs:json)', () => {
  assert.equal(readFileSync(join(root, 'docs', 'json.md'), 'utf8'), document());
});

/** They print no JSON, need other machines, or have a test of their own beside this one. */
const without = ['service', 'outpost', 'steer', 'peers', 'watch', 'workbench', 'serve', 'site'];

test('every command has a schema, and what it prints fits', async () => {
  await using pages = await openPages();
  using place = workplace();
  const feed = '<link rel="alternate" type="application/rss+xml" href="/feed.xml">';
  const front = html('Front', [prose(1)], ['/page', '/gone', '/moved']).replace('</head>', `${feed}</head>`);
  pages.set('/', { body: front });
  pages.set('/feed.xml', {
    body: '<rss><channel><ttl>60</ttl></channel></rss>',
    headers: { 'content-type': 'text/xml' },
  });
  pages.set('/page', count => ({ body: html('Page', [prose(2 + count)]) }));
  pages.set('/moved', { status: 301, headers: { location: '/page' } });
  const page = `${pages.origin}/page`;
  const fields = `${place.path}-fields.json`;
  writeFileSync(fields, JSON.stringify({ fields: { title: 'h1' } }));
  const runs: readonly (readonly [string, readonly string[]])[] = [
    ['crawl', ['crawl', `${pages.origin}/`, ...fast]],
    ['refresh', ['refresh', ...fast, '--budget', '100%', '--set', 'second-look=0']],
    ...(['status', 'pages', 'seeds', 'subscriptions', 'account', 'verify', 'outposts'] as const).map(
      name => [name, [name]] as const,
    ),
    ['changes', ['changes', '--new']],
    ...(['history', 'show', 'why', 'links', 'cat', 'diff', 'ping'] as const).map(name => [name, [name, page]] as const),
    ['show', ['show', `${pages.origin}/gone`]],
    ['search', ['search', 'page']],
    ['index status', ['index', 'status']],
    ['index rebuild', ['index', 'rebuild']],
    ['extract', ['extract', '--schema', fields, '--out', `${place.path}-rows.jsonl`]],
    ['export', ['export', '--format', 'csv', '--out', `${place.path}-pages.csv`]],
    ['report', ['report', '--fail-on', 'never']],
    ['notify add', ['notify', 'add', 'all', '--feed']],
    ['notify list', ['notify', 'list']],
    ['notify try', ['notify', 'try', 'all']],
    ['notify remove', ['notify', 'remove', 'all']],
    ['outpost invite', ['outpost', 'invite', '--address', '127.0.0.1:7799']],
    ['backup', ['backup', `${place.path}-backup`]],
    ['restore', ['restore', `${place.path}-backup`, '--data', `${place.path}-restored`]],
    ['demo', ['demo']],
    ['forget', ['forget', page]],
    ['seeds remove', ['seeds', 'remove', `${pages.origin}/`]],
  ];
  for (const [name, words] of runs) {
    const data = words.includes('--data') || name === 'demo' ? [] : ['--data', place.path];
    const { code, stdout, stderr } = await skein([...words, ...data, '--json']);
    assert.equal(code, 0, `${name}: ${stderr}`);
    const said = ['export', 'extract'].includes(name) ? stderr : stdout.toString();
    const lines = said.split('\n').filter(Boolean);
    assert.ok(lines.length > 0, `${name} prints something`);
    for (const line of lines) {
      const checked = schemas[name]!.safeParse(JSON.parse(line));
      assert.ok(checked.success, `${name}: ${checked.error}\n${line}`);
      assert.doesNotMatch(line, /:1[5-9]\d{11}[,.}\]]/, `${name} has a time in milliseconds`);
    }
  }
  const gone = await skein(['pages', '/gone', '--data', place.path, '--json']);
  assert.equal(JSON.parse(gone.stdout.toString()).changed, null, 'what was never there has not changed');
  const plain = await skein(['status', '--data', place.path]);
  for (const line of plain.stdout.toString().split('\n')) assert.ok(line.length <= 80, line);
  const named = new Set(runs.map(([, [command]]) => command));
  const all = commands.map(({ usage }) => usage.split(' ', 1)[0]!).filter(name => !without.includes(name));
  assert.deepEqual(
    all.filter(name => !named.has(name)),
    [],
    'these are not tried',
  );
});

test('what runs until it is stopped prints what its schema says', async () => {
  await using pages = await openPages();
  using place = workplace();
  pages.set('/', { body: html('Front', [prose(1)], []) });
  await skein(['crawl', `${pages.origin}/`, ...fast, '--data', place.path]);
  const home = ['--data', place.path];
  const runs: readonly (readonly [string, readonly string[]])[] = [
    ['serve', ['serve', ...home, '--listen', '127.0.0.1:0']],
    ['workbench', ['workbench', ...home, '--listen', '127.0.0.1:0']],
    [
      'site',
      ['site', place.path, '--public', `${pages.origin}/`, '--listen', '127.0.0.1:0', '--data', `${place.path}-site`],
    ],
  ];
  for (const [name, words] of runs) {
    const { child, ended } = start([...words, '--json']);
    const line = await new Promise<string>(resolve => {
      let said = '';
      child.stdout!.on('data', (part: Buffer) => {
        said += part.toString();
        if (said.includes('\n')) resolve(said.split('\n', 1)[0]!);
      });
      child.once('exit', () => resolve(said));
    });
    child.kill('SIGINT');
    const { stderr } = await ended;
    assert.ok(line.startsWith('{'), `${name}: ${line} ${stderr}`);
    const checked = schemas[name]!.safeParse(JSON.parse(line));
    assert.ok(checked.success, `${name}: ${checked.error}\n${line}`);
  }
  const watch = start(['watch', ...fast, ...home, '--json']);
  const isRunning = async () => (await skeinJson('status', ...home))['running'] !== null;
  while (!(await isRunning()));
  watch.child.kill('SIGINT');
  const { stdout } = await watch.ended;
  const last = stdout.toString().trim().split('\n').at(-1)!;
  const checked = schemas['watch']!.safeParse(JSON.parse(last));
  assert.ok(checked.success, `watch: ${checked.error}\n${last}`);
});

test('times are written out by key; counts and nothing stay what they are', () => {
  const time = Date.UTC(2026, 0, 2);
  assert.deepEqual(isoTimes({ time, changed: 3, list: [{ due: time, bytes: time }], notBefore: 0, since: null }), {
    ...{ time: '2026-01-02T00:00:00.000Z', changed: 3, list: [{ due: '2026-01-02T00:00:00.000Z', bytes: time }] },
    ...{ notBefore: null, since: null },
  });
});
