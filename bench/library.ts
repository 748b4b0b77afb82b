/**
 * What does the library cost beside the command? Both crawl the same documentation, served from memory on loopback, in turns,
 * as the package that npm installs (compiled, no types to strip). The library runs in programs that differ in one thing each:
 *
 *   loop       `for await` over all pages, looks at their titles; started by plain `node`
 *   untuned    the same with `tuned: false`: V8 is left alone
 *   settings   the same with what the command sets for its own process, V8's flags and a compile cache: --import skein/settings
 *   summary    with the same settings, and no loop: what is left is the loop's own cost
 *
 * Time and processor time are those of whole processes, from start to end.
 *
 *   node bench/library.ts [--root DIR --seed /index.html] [--turns 5] [--only command,loop]
 *
 * Default: a part of Debian's JDK documentation (openjdk-17-doc).
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Cost, measure } from './peers/measured.ts';

const project = join(import.meta.dirname, '..');
const work = join(project, '.cache', 'bench', 'library');
const stage = join(work, 'package');
const data = join(work, 'data');

const { values: options } = parseArgs({
  options: {
    root: { type: 'string', default: '/usr/share/doc/openjdk-17-doc/api/java.base/java' },
    seed: { type: 'string', default: '/lang/package-summary.html' },
    turns: { type: 'string', default: '5' },
    only: { type: 'string' },
  },
});

const program = (use: string, more = '') => `
import { open } from 'skein';
const [data, seed] = process.argv.slice(2);
const skein = await open({ data, pace: 0, connections: 4, allowPrivate: true${more} });
const run = skein.crawl(seed);
let titles = 0;
${use}
const { pages } = await run.summary();
await skein.close();
console.log(JSON.stringify({ pages, titles }));
`;

const LOOP = "for await (const page of run) titles += (page.title ?? '').length;";

const programs: Readonly<Record<string, string>> = {
  'loop.mjs': program(LOOP),
  'untuned.mjs': program(LOOP, ', tuned: false'),
  'summary.mjs': program(''),
};

const settings = ['--import', 'skein/settings'];

const ways: Readonly<Record<string, (seed: string) => Promise<Cost>>> = {
  command: seed => {
    const words = ['--data', data, '--pace', '0', '--connections', '4', '--allow-private', '--json'];
    return run([join(stage, 'bin', 'skein.js'), 'crawl', seed, ...words]);
  },
  loop: seed => run([join(work, 'loop.mjs'), data, seed]),
  untuned: seed => run([join(work, 'untuned.mjs'), data, seed]),
  settings: seed => run([...settings, join(work, 'loop.mjs'), data, seed]),
  summary: seed => run([...settings, join(work, 'summary.mjs'), data, seed]),
};

async function run(words: readonly string[]): Promise<Cost> {
  rmSync(data, { recursive: true, force: true });
  const cost = await measure({ command: process.execPath, arguments: words, directory: work });
  if (cost.code !== 0) throw new Error(`no result: ${cost.stderr.slice(-500)}`);
  return cost;
}

/** The package as it is installed, and the programs beside it. */
function prepare(): void {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(join(work, 'node_modules'), { recursive: true });
  const dist = join(stage, 'dist');
  const compiler = join(project, 'node_modules', 'typescript', 'bin', 'tsc');
  execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', dist], {
    cwd: project,
    stdio: 'inherit',
  });
  for (const step of ['copy-wasm.js', 'bundle.js'])
    execFileSync(process.execPath, [join(project, 'scripts', step), dist]);
  for (const name of ['bin', 'package.json']) cpSync(join(project, name), join(stage, name), { recursive: true });
  symlinkSync(join(project, 'node_modules'), join(stage, 'node_modules'));
  symlinkSync(stage, join(work, 'node_modules', 'skein'));
  writeFileSync(join(work, 'package.json'), '{ "name": "program" }'); // else `skein` would be the project around it
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(work, name), text);
}

/** Answers from memory, in this process, which waits meanwhile; returns the seed. */
async function serve(root: string): Promise<{ seed: string; server: Server }> {
  const pages = new Map(globSync('**/*.html', { cwd: root }).map(name => [`/${name}`, readFileSync(join(root, name))]));
  const server = createServer(({ url = '/' }, response) => {
    const page = pages.get(url);
    const headers = { 'content-type': 'text/html', 'content-length': page?.length ?? 0 };
    response.writeHead(page ? 200 : 404, headers).end(page);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { seed: `http://127.0.0.1:${(server.address() as AddressInfo).port}${options.seed}`, server };
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** Each turn is compared with the command's of the same turn: what else the machine does changes from turn to turn. */
function print(taken: ReadonlyMap<string, readonly Cost[]>): void {
  const base = taken.get('command');
  for (const [name, costs] of taken) {
    const words = (['cpuSeconds', 'seconds'] as const).map(what => {
      const all = costs.map(cost => cost[what]);
      const ratio = base && median(all.map((each, turn) => each / base[turn]![what]));
      return `${median(all).toFixed(2)} s (${all.map(each => each.toFixed(2)).join(' ')}), ${ratio?.toFixed(3)} of the command`;
    });
    const { pages } = JSON.parse(costs[0]!.stdout.trim().split('\n').at(-1)!);
    console.log(`${name.padEnd(8)} ${pages} pages; processor ${words[0]}; time ${words[1]}`);
  }
}

async function compare(root: string): Promise<void> {
  prepare();
  const { seed, server } = await serve(root);
  const names = options.only?.split(',') ?? Object.keys(ways);
  for (const name of names) await ways[name]!(seed); // compile caches are filled, files are read
  const taken = new Map(names.map(name => [name, [] as Cost[]]));
  for (let turn = 0; turn < Number(options.turns); turn++)
    for (const name of turn % 2 ? names.toReversed() : names) taken.get(name)!.push(await ways[name]!(seed));
  server.close().closeAllConnections();
  print(taken);
}

if (existsSync(options.root)) await compare(options.root);
else
  console.log(
    `notice: there is no ${options.root}, so there is nothing to fetch; --root names another folder of pages`,
  );
