/** A crawl through the system's ssh: the crawler travels, works there, and leaves nothing behind. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { noSshd, openSshd } from '../transfer/sshd.ts';
import { openWeb } from '../web/web.ts';
import { askedAgain, UNAUDITED, visitedTwice } from './outpost-processes.ts';
import { collected, pagesOf, skeinJson, start, workplace } from './skein.ts';

const missing = noSshd() || false;
const node = dirname(process.execPath);

test('skein crawl --outpost ssh://… fetches nothing from here', { skip: missing }, async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 21, servers: 3, pagesPerServer: 30, features: ['redirects', 'sitemaps'] });
  await using sshd = await openSshd(place.path, { node });
  const data = join(place.path, 'home');
  const path = process.env['PATH'];
  process.env['PATH'] = `${sshd.bin}:${path}`;
  try {
    const ran = await start([
      ...['crawl', web.seeds[0]!, '--data', data, '--scope', '*', '--allow-private', '--pace', '0', '--json'],
      ...['--outpost', sshd.url, ...UNAUDITED],
    ]).ended;
    assert.equal(ran.code, 0, ran.stderr);
  } finally {
    process.env['PATH'] = path;
  }
  const pages = collected(await pagesOf(data)).filter(url => !url.includes('/sitemap'));
  assert.deepEqual(pages, web.mustFind());
  assert.deepEqual(visitedTwice(data), []);
  assert.deepEqual(askedAgain(web), []);
  // What it brought, its code and its spool, is gone.
  while (readdirSync(sshd.temporary).length > 0) await new Promise(resolve => setTimeout(resolve, 50));
  const books = await skeinJson<{ problems: string[] }>('verify', '--data', data);
  assert.deepEqual(books.problems, []);
});

test('a machine without Node gets ours once', { skip: missing }, async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 22, servers: 1, pagesPerServer: 5 });
  const home = join(place.path, 'far-home');
  mkdirSync(home);
  // Nothing but a shell there: the system's own directories, unless they hold a Node that is new enough.
  const found = execFileSync('sh', ['-c', 'PATH=/usr/bin:/bin node --version 2>/dev/null || true'], {
    encoding: 'utf8',
  });
  if (Number(/^v(\d+)/.exec(found)?.[1] ?? 0) >= 22) return; // it would be used, as it should
  await using sshd = await openSshd(place.path, { node: '/nowhere', home });
  const path = process.env['PATH'];
  process.env['PATH'] = `${sshd.bin}:${path}`;
  try {
    const ran = await start([
      ...['crawl', web.seeds[0]!, '--data', join(place.path, 'home'), '--allow-private', '--pace', '0', '--json'],
      ...['--outpost', sshd.url],
    ]).ended;
    assert.equal(ran.code, 0, ran.stderr);
    const has = found === '' ? 'it has no Node' : `its Node is ${found.trim()}.*, older than 22`;
    assert.match(
      ran.stderr,
      new RegExp(`${sshd.url} gets the Node that runs here .*because ${has}.*about \\d+ MB go up once`),
    );
    const [kept] = readdirSync(join(home, '.cache', 'skein-runtime'));
    const binary = join(home, '.cache', 'skein-runtime', kept!, 'node');
    const words = [
      ...['crawl', web.seeds[0]!, '--allow-private', '--pace', '0', '--json', '--outpost', sshd.url, '--data'],
    ];
    const again = await start([...words, join(place.path, 'again')]).ended;
    assert.equal(again.code, 0, again.stderr);
    assert.doesNotMatch(again.stderr, /gets the Node/, 'it is kept there');
    // Somebody has put another program in its place: it does not run, and ours is sent once more.
    writeFileSync(binary, `#!/bin/sh\ntouch ${join(place.path, 'ran')}\nexit 1\n`);
    const changed = await start([...words, join(place.path, 'changed')]).ended;
    assert.equal(changed.code, 0, changed.stderr);
    assert.match(changed.stderr, /gets the Node/);
    assert.ok(!existsSync(join(place.path, 'ran')), 'what lay there was not run');
  } finally {
    process.env['PATH'] = path;
  }
  assert.equal(collected(await pagesOf(join(place.path, 'home'))).length, 5);
});

test('a newer Node beside an old one is used, and ~ is the home directory', { skip: missing }, async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 23, servers: 1, pagesPerServer: 5 });
  const home = join(place.path, 'far-home');
  const newer = join(home, '.nvm', 'versions', 'node', process.version, 'bin');
  mkdirSync(newer, { recursive: true });
  symlinkSync(process.execPath, join(newer, 'node'));
  // The one that is found first is too old.
  const old = join(place.path, 'old');
  mkdirSync(old);
  writeFileSync(join(old, 'node'), '#!/bin/sh\n[ "$1" = --version ] && echo v20.1.0\nexit 94\n', { mode: 0o755 });
  await using sshd = await openSshd(place.path, { node: old, home });
  const path = process.env['PATH'];
  process.env['PATH'] = `${sshd.bin}:${path}`;
  try {
    const ran = await start([
      ...['crawl', web.seeds[0]!, '--data', join(place.path, 'home'), '--allow-private', '--pace', '0', '--json'],
      ...['--outpost', `${sshd.url}/~/skein`],
    ]).ended;
    assert.equal(ran.code, 0, ran.stderr);
    assert.doesNotMatch(ran.stderr, /go up/);
  } finally {
    process.env['PATH'] = path;
  }
  assert.equal(collected(await pagesOf(join(place.path, 'home'))).length, 5);
  assert.equal(existsSync(join(home, '.cache', 'skein-runtime')), false);
  assert.ok(readdirSync(join(home, 'skein')).some(name => name.startsWith('code-')));
  assert.equal(existsSync(join(home, '~')), false);
});

const unprivileged = process.getuid?.() !== 0 && 'only root can take bubblewrap from a part of the machine';
const unwalled = existsSync('/usr/bin/bwrap') ? false : 'bubblewrap is not installed';

test('a machine without a wall runs no JavaScript of ours, and says what to install', {
  skip: missing || unprivileged || unwalled,
}, async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 24, servers: 1, pagesPerServer: 5 });
  await using sshd = await openSshd(place.path, { node, broken: '/usr/bin/bwrap' });
  const file = join(place.path, 'decider.js');
  writeFileSync(file, 'export default () => ({ keep: true })');
  const path = process.env['PATH'];
  process.env['PATH'] = `${sshd.bin}:${path}`;
  try {
    const crawl = start([
      ...['crawl', web.seeds[0]!, '--data', join(place.path, 'home'), '--allow-private', '--pace', '0', '--json'],
      ...['--outpost', sshd.url, '--decider', file],
    ]);
    // It waits for a machine that can, until it is told to stop.
    await crawl.says('bubblewrap does not work');
    crawl.child.kill('SIGINT');
    const { stderr } = await crawl.ended;
    assert.match(stderr, /JavaScript from elsewhere is not run on \S+: bubblewrap does not work \(.*user namespaces/);
  } finally {
    process.env['PATH'] = path;
  }
});
