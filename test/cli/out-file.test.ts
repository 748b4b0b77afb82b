/** A file that `--out` names is whole, or is not there; what lies beside it is replaced, and never written through. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type { SkeinError } from '../../src/base/errors.ts';
import { writeOut } from '../../src/cli/print/out-file.ts';

let root: string;
const at = (name: string) => join(root, name);
const said = (text: string) => async (out: NodeJS.WritableStream) => void out.write(text);

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'skein-out-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test('what a killed export left is replaced', async () => {
  writeFileSync(at('all.part'), 'a longer text of one that was killed');
  await writeOut(at('all'), said('new'));
  assert.deepEqual(readdirSync(root), ['all']);
  assert.equal(readFileSync(at('all'), 'utf8'), 'new');
});

test('an export that fails leaves the file of before, and nothing beside it', async () => {
  writeFileSync(at('all'), 'old');
  await assert.rejects(writeOut(at('all'), () => Promise.reject(new Error('no'))));
  assert.deepEqual(readdirSync(root), ['all']);
  assert.equal(readFileSync(at('all'), 'utf8'), 'old');
});

test('a link that somebody laid beside it is not written through', async () => {
  writeFileSync(at('secret'), 'of the user');
  symlinkSync(at('secret'), at('all.part'));
  await writeOut(at('all'), said('new'));
  assert.equal(readFileSync(at('secret'), 'utf8'), 'of the user');
  assert.equal(readFileSync(at('all'), 'utf8'), 'new');
});

test('two at once: the later one is whole, and the other says so', async () => {
  const first = writeOut(at('all'), async out => {
    out.write('first');
    await writeOut(at('all'), said('second'));
  });
  await assert.rejects(first, (error: SkeinError) => error.code === 'refused');
  assert.deepEqual(readdirSync(root), ['all']);
  assert.equal(readFileSync(at('all'), 'utf8'), 'second');
});
