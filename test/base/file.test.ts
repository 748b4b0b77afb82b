/** A file that is replaced: whole, for its owner, and nowhere else. */
import assert from 'node:assert/strict';
import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PRIVATE, replaceFile } from '../../src/base/file.ts';
import { workplace } from '../journeys/skein.ts';

test('what somebody left beside it, a link or a file that all may read, changes nothing', () => {
  using place = workplace();
  const [file, other] = [join(place.path, 'keys.json'), join(place.path, 'other')];
  writeFileSync(other, 'theirs');
  symlinkSync(other, `${file}.new`);
  replaceFile(file, 'secret', PRIVATE);
  assert.equal(readFileSync(other, 'utf8'), 'theirs');
  assert.equal(readFileSync(file, 'utf8'), 'secret');
  writeFileSync(`${file}.new`, 'half', { mode: 0o644 });
  replaceFile(file, 'secret again', PRIVATE);
  assert.equal(readFileSync(file, 'utf8'), 'secret again');
  assert.equal(statSync(file).mode & 0o777, PRIVATE);
});
