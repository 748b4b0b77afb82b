/** A collection in a directory that cannot be written: it can be looked at, and whatever would write says why not. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { searchFile } from '../../src/home/indexing/indexing.ts';
import { html, openPages, prose } from './pages.ts';
import { fast, root, skeinJson, workplace } from './skein.ts';

const NOBODY = 65_534;

/** Runs a command as someone who may not write there; for root that has to be somebody else. */
function run(data: string, args: readonly string[]) {
  const who = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const all = [join(root, 'bin', 'skein.js'), ...args, '--data', data];
  return spawnSync(process.execPath, all, { ...who, encoding: 'utf8', cwd: data, env: { HOME: data } });
}

function startable(data: string, context: TestContext): boolean {
  if (run(data, ['--version']).status === 0) return true;
  context.skip('another user than root cannot start Skein here');
  return false;
}

test('a collection that cannot be written can be looked at', async context => {
  await using pages = await openPages();
  using place = workplace();
  using elsewhere = workplace();
  chmodSync(elsewhere.path, 0o777);
  pages.set('/', { body: html('Geese', [prose(1)], ['/a']) });
  pages.set('/a', { body: html('Ducks', [prose(2)]) });
  await skeinJson('crawl', pages.origin, '--data', place.path, ...fast);
  // A collection is for its owner alone; this one shares it.
  execFileSync('chmod', ['-R', 'a+rX', place.path]);
  chmodSync(place.path, 0o555);
  if (!startable(place.path, context)) return;
  const looks = [
    ['status'],
    ['pages'],
    ['show', pages.origin],
    ['cat', pages.origin],
    ['verify'],
    ['export'],
    ['export', '--format', 'cdxj'],
    ['export', '--out', join(elsewhere.path, 'all.warc.gz')],
    ['changes'],
  ];
  for (const command of looks) {
    const { status, stderr } = run(place.path, command);
    assert.equal(status, 0, `${command[0]}: ${stderr}`);
  }
  for (const command of [['crawl'], ['refresh'], ['ping', pages.origin], ['index', 'rebuild']]) {
    const { status, stderr } = run(place.path, command);
    assert.equal(status, 1, `${command[0]}: ${stderr}`);
    assert.match(stderr, /^skein: .*(cannot be written|may not write|cannot hold a collection)/, command[0]!);
  }
  chmodSync(place.path, 0o755);
});

test('who may not write there can search: in an index that is there, or in one made for this once', async context => {
  await using pages = await openPages();
  using place = workplace();
  pages.set('/', { body: html('Geese', [prose(1)], ['/a']) });
  pages.set('/a', { body: html('Ducks', [prose(2)]) });
  await skeinJson('crawl', pages.origin, '--data', place.path, ...fast);
  execFileSync('chmod', ['-R', 'a+rX', place.path]);
  if (!startable(place.path, context)) return;
  const titles = (query: string) => {
    execFileSync('chmod', ['-R', 'a+rX', place.path]);
    chmodSync(place.path, 0o555);
    const { status, stdout, stderr } = run(place.path, ['search', query, '--json']);
    chmodSync(place.path, 0o755);
    assert.equal(status, 0, stderr);
    const { hits, behind } = JSON.parse(stdout);
    return { titles: hits.map((hit: { title: { text: string }[] }) => hit.title[0]!.text), behind };
  };
  assert.deepEqual(titles('geese'), { titles: ['Geese'], behind: 0 }, 'no index was made yet');
  await skeinJson('search', 'geese', '--data', place.path);
  assert.deepEqual(titles('ducks'), { titles: ['Ducks'], behind: 0 });
  const cursor = (sql: string, ...values: string[]) => {
    const database = new DatabaseSync(searchFile(place.path));
    const row = database.prepare(sql).get(...values);
    database.close();
    return String(row?.['value']);
  };
  const stood = cursor("SELECT value FROM meta WHERE name = 'cursor'");
  pages.set('/b', { body: html('Coots', [prose(4)]) });
  await skeinJson('crawl', `${pages.origin}/b`, '--data', place.path, ...fast);
  cursor("UPDATE meta SET value = ? WHERE name = 'cursor' RETURNING value", stood);
  assert.deepEqual(titles('ducks'), { titles: ['Ducks'], behind: 1 }, 'it says how far behind it is');
});

test('who may not steer is told so, not that nothing runs', async context => {
  if (process.getuid?.() !== 0) return context.skip('only root can be somebody else');
  using place = workplace();
  execFileSync('chmod', ['a+rX', place.path]);
  if (!startable(place.path, context)) return;
  writeFileSync(join(place.path, 'home.json'), '{"port":1,"token":"x","pid":1}', { mode: 0o600 });
  const { status, stderr } = run(place.path, ['steer', 'pause']);
  assert.equal(status, 1, stderr);
  assert.match(stderr, /may not access .*home\.json.*\n.*the user who owns it/);
});
