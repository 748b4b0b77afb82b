/** Compiled code is kept where nobody else can put any: another user of this machine must not run code as us. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { root, skein, workplace } from '../journeys/skein.ts';

const isRoot = process.getuid?.() === 0;
const STRANGER = 65_534;

/** What `skein` keeps compiled with this place for temporary files, and these settings; empty = nowhere. */
function keptBy(temporary: string, environment: Record<string, string>): string {
  const env = { PATH: process.env['PATH'] ?? '', TMPDIR: temporary, ...environment };
  const ask = `const { privateCache } = await import('./bin/private-cache.js'); process.stdout.write(privateCache() ?? '')`;
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', ask], { cwd: root, env }).toString();
  execFileSync(process.execPath, [join(root, 'bin', 'skein.js'), '--version'], { env });
  assert.deepEqual(readdirSync(temporary), [], 'nothing in a directory that is shared with others');
  return said;
}

test('a directory of ours, closed to others, in the home directory or where the user says', () => {
  using place = workplace();
  const [temporary, home, named] = ['tmp', 'home', 'named'].map(name => join(place.path, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [temporary, home, named]) mkdirSync(each);
  assert.equal(keptBy(temporary, { HOME: home }), join(home, '.cache', 'skein', 'compiled'));
  const kept = keptBy(temporary, { HOME: home, XDG_CACHE_HOME: named });
  assert.equal(kept, join(named, 'skein', 'compiled'));
  assert.equal(statSync(kept).mode & 0o777, 0o700);
  assert.ok(readdirSync(kept).length > 0, 'it is used');
  chmodSync(kept, 0o777);
  assert.equal(keptBy(temporary, { HOME: home, XDG_CACHE_HOME: named }), kept);
  assert.equal(statSync(kept).mode & 0o777, 0o700, 'one of ours that was left open is closed');
});

test('none where others can write, or put a link in the way', () => {
  using place = workplace();
  const [temporary, open, linked] = ['tmp', 'open', 'linked'].map(name => join(place.path, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [temporary, open, linked]) mkdirSync(each);
  chmodSync(open, 0o777);
  assert.equal(keptBy(temporary, { XDG_CACHE_HOME: open }), '');
  assert.equal(existsSync(join(open, 'skein')), false);
  symlinkSync(open, join(linked, 'skein'));
  assert.equal(keptBy(temporary, { XDG_CACHE_HOME: linked }), '');
  assert.equal(keptBy(temporary, { HOME: '/nonexistent', XDG_CACHE_HOME: '/proc/self/none' }), '');
});

test('none in a directory of another user', { skip: !isRoot && 'only root can give a directory away' }, () => {
  using place = workplace();
  const [temporary, theirs, early] = ['tmp', 'theirs', 'early'].map(name => join(place.path, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [temporary, theirs, early]) mkdirSync(each);
  chownSync(theirs, STRANGER, STRANGER);
  assert.equal(keptBy(temporary, { XDG_CACHE_HOME: theirs }), '');
  // Somebody was there first, where anybody may make directories.
  chmodSync(early, 0o1777);
  mkdirSync(join(early, 'skein', 'compiled'), { recursive: true });
  chownSync(join(early, 'skein'), STRANGER, STRANGER);
  chownSync(join(early, 'skein', 'compiled'), STRANGER, STRANGER);
  assert.equal(keptBy(temporary, { XDG_CACHE_HOME: early }), '');
});

test('threads keep theirs in the same place', async () => {
  using place = workplace();
  const server = createServer((_, answer) => answer.end('hello')).listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  const temporary = join(place.path, 'tmp');
  mkdirSync(temporary);
  const { port } = server.address() as AddressInfo;
  const crawl = ['crawl', `http://127.0.0.1:${port}/`, '--data', join(place.path, 'data'), '--pace', '0'];
  const within = ['env', `TMPDIR=${temporary}`, `XDG_CACHE_HOME=${join(place.path, 'cache')}`];
  const { code, stderr } = await skein(crawl, { within });
  server.close();
  assert.equal(code, 0, stderr);
  assert.deepEqual(readdirSync(temporary), []);
});
