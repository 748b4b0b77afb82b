/** What is written is for its user alone, and what is secret is in no list of processes. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { open } from '../../src/engine/library/skein.ts';
import { site } from '../../src/site/middleware.ts';
import { html, openPages, prose } from '../journeys/pages.ts';
import { fast, skein, skeinJson, start, workplace } from '../journeys/skein.ts';

/** `sh -c` lets a test set a mask or a limit before the command begins. */
const under = (limit: string) => ['sh', '-c', `${limit}; exec "$@"`, 'sh'];

test('a collection is open to its user alone; an export as the user has it', async () => {
  await using pages = await openPages();
  using place = workplace();
  pages.set('/', { body: html('Geese', [prose(1)]) });
  const data = join(place.path, 'data');
  const out = join(place.path, 'all.warc.gz');
  const within = under('umask 022');
  assert.equal((await skein(['crawl', pages.origin, '--data', data, ...fast], { within })).code, 0);
  assert.equal((await skein(['search', 'geese', '--data', data], { within })).code, 0);
  assert.equal((await skein(['outpost', 'invite', '--listen', '127.0.0.1:7070', '--data', data], { within })).code, 0);
  assert.equal((await skein(['export', '--out', out, '--data', data], { within })).code, 0);
  assert.equal(statSync(data).mode & 0o777, 0o700);
  const open = readdirSync(data, { recursive: true, encoding: 'utf8' }).filter(
    name => statSync(join(data, name)).mode & 0o077,
  );
  assert.deepEqual(open, []);
  assert.equal(statSync(out).mode & 0o777, 0o644);
});

test('a directory that another user has laid in a place for all is not worked in', {
  skip: process.getuid?.() !== 0 && 'only root can give a directory away',
}, async () => {
  await using pages = await openPages();
  using place = workplace();
  pages.set('/', { body: html('Geese', [prose(1)]) });
  const [shared, own] = ['shared', 'own'].map(name => join(place.path, name)) as [string, string];
  mkdirSync(shared);
  mkdirSync(own);
  chmodSync(shared, 0o1777);
  for (const parent of [shared, own]) {
    mkdirSync(join(parent, 'skein-data'));
    symlinkSync(join(place.path, 'victim'), join(parent, 'skein-data', 'skein.log'));
    chownSync(join(parent, 'skein-data'), 65_534, 65_534);
  }
  const refused = async (...words: string[]) => {
    const { code, stderr } = await skein(words, { cwd: shared });
    assert.notEqual(code, 0);
    assert.match(stderr, /belongs to another user of this machine.*\n.*--data/s);
  };
  await refused('crawl', pages.origin, ...fast);
  await refused('site', own, '--public', 'http://geese.example/', '--data', 'skein-data');
  assert.deepEqual(readdirSync(join(shared, 'skein-data')), ['skein.log']);
  assert.ok(!existsSync(join(place.path, 'victim')));
  assert.equal((await skein(['crawl', pages.origin, ...fast], { cwd: own })).code, 0, 'as a container may have it');
});

test('a collection that others could read is closed to them by the next run that writes', async () => {
  await using pages = await openPages();
  using place = workplace();
  pages.set('/', { body: html('Geese', [prose(1)]) });
  const data = join(place.path, 'data');
  await skeinJson('crawl', pages.origin, '--data', data, ...fast);
  for (const name of readdirSync(data, { recursive: true, encoding: 'utf8' })) chmodSync(join(data, name), 0o755);
  chmodSync(data, 0o755);
  const other = join(place.path, 'other');
  writeFileSync(other, 'not ours to change', { mode: 0o644 });
  symlinkSync(other, join(data, 'link'));
  await skeinJson('crawl', pages.origin, '--data', data, ...fast);
  assert.equal(statSync(data).mode & 0o777, 0o700);
  const names = readdirSync(data, { recursive: true, encoding: 'utf8' }).filter(name => name !== 'link');
  assert.deepEqual(
    names.filter(name => statSync(join(data, name)).mode & 0o077),
    [],
  );
  assert.equal(statSync(other).mode & 0o777, 0o644, 'what a link leads to is left alone');
});

test('what a program makes with the library, or for its own site, is for its user alone, whatever its mask', async () => {
  await using pages = await openPages();
  using place = workplace();
  pages.set('/', { body: html('Geese', [prose(1)]) });
  const [one, parts, journal] = ['one', 'parts', 'journal'].map(name => join(place.path, name)) as [
    string,
    string,
    string,
  ];
  const shown = join(place.path, 'www');
  mkdirSync(shown);
  writeFileSync(join(shown, 'index.html'), html('Geese', [prose(1)]));
  const mask = process.umask(0o022);
  try {
    for (const [data, partitions] of [
      [one, 1],
      [parts, 2],
    ] as const) {
      await using skein = await open({ data, ...(partitions > 1 && { partitions }) });
      for await (const _ of skein.crawl(`${pages.origin}/`, { pace: 0 }));
    }
    const beside = site({ directory: shown, data: journal, public: 'http://geese.example/' });
    await beside.ready;
    await beside.close();
  } finally {
    process.umask(mask);
  }
  for (const directory of [one, parts, journal]) {
    const names = ['', ...readdirSync(directory, { recursive: true, encoding: 'utf8' })];
    const seen = names.filter(name => name !== 'lock' && statSync(join(directory, name)).mode & 0o077);
    assert.deepEqual(seen, [], directory);
  }
});

test('an export that cannot be finished leaves nothing under its name', async () => {
  await using pages = await openPages();
  using place = workplace();
  pages.set('/', { body: html('Geese', [randomBytes(400_000).toString('base64')]) });
  const data = join(place.path, 'data');
  await skeinJson('crawl', pages.origin, '--data', data, ...fast);
  const out = join(place.path, 'all.warc.gz');
  const { code, stderr } = await skein(['export', '--out', out, '--data', data], { within: under('ulimit -f 300') });
  assert.notEqual(code, 0);
  assert.match(stderr, /cannot be written/);
  assert.deepEqual(readdirSync(place.path), ['data'], 'neither the name nor what stood beside it');
});

test('an invitation is not in the list of processes', {
  skip: !existsSync('/proc/self/cmdline') && 'needs /proc',
}, async () => {
  using place = workplace();
  const made = await skeinJson<{ token: string }>('outpost', 'invite', '--listen', '127.0.0.1:9', '--data', place.path);
  const directory = join(place.path, 'outpost');
  const running = start(['outpost', 'join', made.token, '--directory', directory]);
  for (let looks = 0; looks < 200 && !existsSync(join(directory, 'token')); looks++)
    await new Promise(resolve => setTimeout(resolve, 50));
  const list = execFileSync('ps', ['-o', 'args=', '-p', String(running.child.pid)], { encoding: 'utf8' });
  running.child.kill('SIGKILL');
  await running.ended;
  assert.equal(list.includes(made.token.slice(0, 30)), false, list);
  const other = join(place.path, 'other');
  const { code, stderr } = await skein(['outpost', 'join', '--once', '--directory', other], {
    input: `${made.token}\n`,
  });
  assert.equal(code, 0, stderr);
  assert.ok(existsSync(join(other, 'token')));
});
