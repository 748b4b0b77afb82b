/** Which Node runs: npx puts the one that came with Skein first, but the machine's own is preferred where it will do. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { root, workplace } from '../journeys/skein.ts';

/** A `node` on the path that tells of each start, and says that it has this version. */
function machineNode(place: string, version: string): { readonly path: string; started(): string[] } {
  const told = join(place, 'told');
  const node = join(place, 'node');
  const script = [
    '#!/bin/sh',
    `echo "$*" >> "${told}"`,
    `if [ "$1" = -p ]; then echo ${version}; else exec "${process.execPath}" "$@"; fi`,
  ];
  writeFileSync(node, script.join('\n'));
  chmodSync(node, 0o755);
  const started = () => (existsSync(told) ? readFileSync(told, 'utf8').trim().split('\n') : []);
  return { path: [join(root, 'node_modules', '.bin'), place].join(delimiter), started };
}

const version = (PATH: string, more: Record<string, string> = {}) =>
  execFileSync(process.execPath, [join(root, 'bin', 'skein.js'), '--version'], {
    env: { ...process.env, PATH, ...more },
    encoding: 'utf8',
  });

const NPX = { npm_command: 'exec' };
// Where the tests run with another Node, npx did not choose it either.
const skip = process.execPath.includes('node_modules') ? false : 'the Node that came with Skein does not run the tests';

test('npx hands over to the Node of the machine where that is new enough', { skip }, () => {
  using place = workplace();
  const own = machineNode(place.path, '99.1.0');
  assert.match(version(own.path, NPX), /^\d+\.\d+\.\d+/);
  assert.ok(own.started().some(words => words.includes('skein.js --version')));
});

test('npx keeps to the Node that came with Skein where the machine has an older one, or none', { skip }, () => {
  using place = workplace();
  const own = machineNode(place.path, '20.11.0');
  assert.match(version(own.path, NPX), /^\d+\.\d+\.\d+/);
  assert.ok(own.started().every(words => words.startsWith('-p')));
  assert.match(version(join(root, 'node_modules', '.bin'), NPX), /^\d+\.\d+\.\d+/);
});

test('whoever names a Node gets that one', { skip }, () => {
  using place = workplace();
  const own = machineNode(place.path, '99.1.0');
  version(own.path);
  assert.deepEqual(own.started(), []);
});
