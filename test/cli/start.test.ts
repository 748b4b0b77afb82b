/** What a command loads before it does anything: every file costs time before the first request, and memory for good. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root, workplace } from '../journeys/skein.ts';

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

test('a checkout starts from its bundle while that fits the sources, and from the sources else', () => {
  using place = workplace();
  for (const name of ['bin', 'scripts', 'src', 'package.json'])
    cpSync(join(root, name), join(place.path, name), {
      recursive: true,
      filter: file => !/src.workbench.ui.node_modules/.test(file),
    });
  symlinkSync(join(root, 'node_modules'), join(place.path, 'node_modules'));
  const run = (...args: string[]) =>
    execFileSync(process.execPath, args, {
      cwd: place.path,
      encoding: 'utf8',
      env: { ...process.env, NODE_DEBUG: '' },
    });
  const hook = join(place.path, 'hook.mjs');
  appendFileSync(
    hook,
    `import { registerHooks } from 'node:module';
     const files = [];
     registerHooks({ load: (url, context, next) => (files.push(url), next(url, context)) });
     process.on('exit', () => console.log(JSON.stringify(files.filter(url => url.startsWith('file:')))));`,
  );
  const loaded = () => {
    const out = run('--import', hook, join('bin', 'skein.js'), 'status', '--help');
    return JSON.parse(out.trim().split('\n').at(-1)!) as string[];
  };
  run(join('scripts', 'bundle.js'), '--checkout');
  assert.ok(loaded().some(url => url.includes('.cache/bundle/main')));
  assert.ok(!loaded().some(url => url.includes('/src/')));
  appendFileSync(join(place.path, 'src', 'cli', 'commands', 'status.ts'), '// changed\n');
  assert.ok(loaded().some(url => url.endsWith('/src/cli/commands/status.ts')));
  run(join('scripts', 'bundle.js'), '--checkout');
  assert.ok(!loaded().some(url => url.includes('/src/')));
});
