/** What someone sees who opens a large collection. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readingOf } from '../../src/cli/print/opening.ts';

test('rows pass unchanged; after a while it is told how far they are, and at the end of the line nothing is left', context => {
  let now = 0;
  context.mock.method(performance, 'now', () => now);
  const written: string[] = [];
  context.mock.method(process.stderr, 'write', (text: string) => written.push(text) > 0);
  const isTTY = process.stderr.isTTY;
  process.stderr.isTTY = true;
  context.after(() => {
    process.stderr.isTTY = isTTY;
  });
  const reading = readingOf(20_000);
  const rows = Array.from({ length: 20_000 }, (_, row) => row);
  assert.deepEqual([...reading(rows)], rows);
  assert.ok(!written.join('').includes('Opening'), 'who does not wait is told nothing');
  now = 1500;
  assert.deepEqual([...reading(rows)], rows);
  assert.deepEqual(written.slice(1), ['\r\u001b[2KOpening the collection of 20,000 pages: 62%', '\r\u001b[2K']);
});
