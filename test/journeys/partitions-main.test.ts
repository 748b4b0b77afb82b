/** The main journeys once more, over collections of sixteen partitions: each of their tests holds as it does for one. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const MAIN = [
  ...['complete', 'choices', 'hostile', 'seeds', 'bounds', 'polite', 'robots-broken', 'killed'],
  ...['followed', 'forget', 'refresh-noise', 'refresh-inferred'],
];
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
