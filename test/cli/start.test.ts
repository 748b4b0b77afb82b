/** What a command loads before it does anything: every file costs time before the first request, and memory for good. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../journeys/skein.ts';

const listing = `
const { registerHooks } = require('node:module');
const packages = new Set();
registerHooks({
  load(url, context, next) {
    const name = /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1];
    if (name) packages.add(name);
    return next(url, context);
  },
});
import(process.argv[1]).then(() => console.log(JSON.stringify([...packages])));
`;

function packagesOf(module: string): string[] {
  const out = execFileSync(process.execPath, ['-e', listing, join(root, 'src', module)], { encoding: 'utf8' });
  return JSON.parse(out) as string[];
}

test('a crawl loads no package but the one that reads its options', () => {
  for (const command of ['crawl', 'refresh'])
    assert.deepEqual(packagesOf(`cli/commands/${command}.ts`), ['commander'], command);
});
