/** The main journeys once more, over collections of sixteen partitions: each of their tests holds as it does for one. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

/** The others of the main ones take minutes more: SKEIN_CHAOS=1 runs them, too. */
const MORE = process.env['SKEIN_CHAOS'] ? ['hostile', 'seeds', 'robots-broken', 'followed', 'refresh-inferred'] : [];
// Without choices: how many irrelevant pages in a row led to one is not known beyond a border (src/frontier/orders/focused.ts).
const MAIN = ['complete', 'bounds', 'polite', 'killed', 'forget', 'refresh-noise', ...MORE];
/** A journey takes a minute or two by itself, and longer on a busy machine. */
const MOST = 20 * 60_000;

/** Runs a file of tests with its own runner; resolves with what it printed, if anything failed. */
function failures(name: string): Promise<string> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, ['--test', join(import.meta.dirname, `${name}.test.ts`)], {
    env: { ...env, SKEIN_TEST_PARTITIONS: '16' },
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      printed += chunk;
    });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', code => resolve(code === 0 ? '' : `ended with ${code}\n${printed}`));
  });
}

for (const name of MAIN) {
  test(`${name} with sixteen partitions`, { timeout: MOST }, async () => {
    assert.equal(await failures(name), '');
  });
}
