/** What npm would publish, packed and installed into an empty project: the examples compile under `strict` and run. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { openDemoWeb } from '../../src/cli/demo-web.ts';
import { root, workplace } from '../journeys/skein.ts';

const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const node = (cwd: string, ...args: string[]) => execFileSync(process.execPath, args, { cwd, encoding: 'utf8' });

/** The tarball, unpacked where npm would put it. */
function install(place: string): string {
  const built = join(place, 'built');
  node(root, compiler, '-p', 'tsconfig.build.json', '--outDir', join(built, 'dist'));
  node(root, 'scripts/copy-wasm.js', join(built, 'dist'));
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] };
  const rest = [...files.filter(name => name !== 'dist' && existsSync(join(root, name))), 'package.json'];
  for (const name of rest) cpSync(join(root, name), join(built, name), { recursive: true });
  execFileSync('npm', ['pack', '--ignore-scripts', '--silent'], { cwd: built });
  const tarball = readdirSync(built).find(name => name.endsWith('.tgz'))!;
  const project = join(place, 'project');
  const installed = join(project, 'node_modules', 'skein');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', join(built, tarball), '-C', installed, '--strip-components=1']);
  symlinkSync(join(root, 'node_modules'), join(installed, 'node_modules'));
  writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }');
  cpSync(join(installed, 'examples'), project, { recursive: true });
  return project;
}

test('the examples compile and run from the packed tarball', async () => {
  using place = workplace();
  const project = install(place.path);
  const examples = readdirSync(project).filter(name => name.endsWith('.ts'));
  const types = join(root, 'node_modules', '@types');
  const strict = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2024', '--types', 'node'];
  node(project, compiler, ...strict, '--typeRoots', types, '--skipLibCheck', ...examples);

  const web = await openDemoWeb();
  const run = promisify(execFile);
  const env = { ...process.env, PACE: '0' };
  const args = ['pages-to-jsonl.ts', web.seeds[0]!, join(place.path, 'collection')];
  const { stdout, stderr } = await run(process.execPath, args, { cwd: project, env });
  await web.close();
  const lines = stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as { url: string; words: number });
  assert.ok(lines.length > 3 && lines.every(({ url, words }) => URL.canParse(url) && words >= 0), stdout);
  assert.equal(stderr, '', 'the library prints nothing');
});
