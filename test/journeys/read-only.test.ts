/** A collection in a directory that cannot be written: it can be looked at, and whatever would write says why not. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
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
  pages.set('/', { body: html('Geese', [prose(1)], ['/a']) });
  pages.set('/a', { body: html('Ducks', [prose(2)]) });
  await skeinJson('crawl', pages.origin, '--data', place.path, ...fast);
  chmodSync(place.path, 0o555);
  if (!startable(place.path, context)) return;
  const looks = [
    ['status'],
    ['pages'],
    ['show', pages.origin],
    ['cat', pages.origin],
    ['verify'],
    ['export'],
    ['changes'],
  ];
  for (const command of looks) {
    const { status, stderr } = run(place.path, command);
    assert.equal(status, 0, `${command[0]}: ${stderr}`);
  }
  for (const command of [['crawl'], ['refresh'], ['ping', pages.origin], ['index', 'rebuild'], ['search', 'geese']]) {
    const { status, stderr } = run(place.path, command);
    assert.equal(status, 1, `${command[0]}: ${stderr}`);
    assert.match(stderr, /^skein: .*(cannot be written|may not be written|cannot hold a collection)/, command[0]!);
  }
  chmodSync(place.path, 0o755);
});
