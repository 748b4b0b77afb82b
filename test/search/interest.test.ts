import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { Interest } from '../../src/search/ask/interest.ts';
import { openSearch } from '../../src/search/index.ts';
import { directory, NOW } from './documents.ts';

test('interest halves in a fortnight, and what comes later weighs more', context => {
  const file = join(directory(context), 'search.db');
  openSearch(file).close();
  let now = NOW;
  const interest = new Interest(file, () => now);
  interest.opened(1);
  interest.flush();
  assert.ok(Math.abs(interest.of(1) - 0.5) < 1e-9);
  now += 14 * DAY;
  assert.ok(Math.abs(interest.of(1) - (1 - 2 ** -0.5)) < 1e-9);
  interest.opened(1);
  interest.opened(2);
  interest.flush();
  assert.ok(interest.of(1) > interest.of(2));
  now += 365 * DAY;
  assert.ok(interest.of(1) < 0.01);
  interest.close();
});

test('while another connection writes, interest waits in memory and is written later', context => {
  const file = join(directory(context), 'search.db');
  openSearch(file).close();
  const interest = new Interest(file, () => NOW);
  const writer = new DatabaseSync(file);
  writer.exec('BEGIN IMMEDIATE');
  interest.opened(1);
  assert.equal(interest.flush(), false);
  assert.ok(interest.of(1) > 0.4);
  writer.exec('COMMIT');
  assert.equal(interest.flush(), true);
  assert.equal(Number(writer.prepare('SELECT count(*) AS n FROM interest').get()!['n']), 1);
  writer.close();
  interest.close();
});
