import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gather } from '../../src/transfer/bundle.ts';
import { depthOf, nameBelow, pruned, readTrees } from '../../src/transfer/ssh/machine-tree.ts';
import { makePlace } from './places.ts';

const leaf = (url: string) => ({ url, below: [] });

test('machines are written as ways; ways that begin alike are one tree', () => {
  assert.deepEqual(readTrees(['ssh://me@a:22/~/skein']), [leaf('ssh://me@a:22/~/skein')]);
  const trees = readTrees(['ssh://a/ssh://b/ssh://c', 'ssh://a/ssh://d', 'ssh://e']);
  assert.deepEqual(trees, [
    { url: 'ssh://a', below: [{ url: 'ssh://b', below: [leaf('ssh://c')] }, leaf('ssh://d')] },
    leaf('ssh://e'),
  ]);
  assert.equal(depthOf(trees), 3);
  assert.equal(depthOf([]), 0);
  assert.deepEqual(pruned(trees, 1), [leaf('ssh://a'), leaf('ssh://e')]);
  assert.deepEqual(readTrees(['ssh://a/opt/skein/ssh://b/~/x'])[0]!.below, [leaf('ssh://b/~/x')]);
});

test('or in a file, those below a machine indented under it', () => {
  using place = makePlace();
  const file = join(place.path, 'machines.txt');
  writeFileSync(file, '# ours\nssh://a\n  ssh://b   # near\n    ssh://c\n\n  ssh://d\nssh://e\n');
  assert.deepEqual(readTrees([file]), readTrees(['ssh://a/ssh://b/ssh://c', 'ssh://a/ssh://d', 'ssh://e']));
  writeFileSync(file, 'ssh://a\n  b\n');
  assert.throws(() => readTrees([file]), { code: 'bad-option', message: /"b" is not an outpost/ });
  writeFileSync(file, Array.from({ length: 1001 }, (_, i) => `ssh://m${i}`).join('\n'));
  assert.throws(() => readTrees([file]), /more than 1000 machines/);
  assert.throws(() => readTrees([join(place.path, 'none')]), { code: 'bad-option', message: /nor a file of them/ });
  for (const wrong of ['ssh://a/ssh://', 'ssh://a/ssh://-o', 'near']) {
    assert.throws(() => readTrees([wrong]), { code: 'bad-option' }, wrong);
  }
});

test('names below a machine can be parts of files and ways', () => {
  assert.equal(nameBelow('ssh://me@b.example:2222/~/x'), 'me-b.example-2222-x');
});

test('what travels can send itself on', () => {
  const { files } = gather(['outpost/stdio.ts']);
  for (const name of ['outpost/machines-below.js', 'transfer/bundle.js', 'transfer/ssh/loader.js'])
    assert.ok(files.includes(name), name);
});
