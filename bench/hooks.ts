/**
 * What do the library and a hook cost beside the command? Each crawls the same part of Debian's JDK documentation
 * (openjdk-17-doc), served by nginx on loopback, in turns: the command, the library that loops over all pages, and the
 * command with a hook that reads every page's title. Processor time of the whole process is compared, because the time that
 * a run takes depends on who else uses the machine.
 *
 *   node bench/hooks.ts [--part java.base/java] [--turns 5] [--port 18491] [--no-install]
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Documents } from './peers/documents.ts';
import { serve } from './peers/nginx.ts';

const project = join(import.meta.dirname, '..');
const work = join(project, '.cache', 'bench', 'hooks');
const api = '/usr/share/doc/openjdk-17-doc/api';

const { values: options } = parseArgs({
  options: {
    part: { type: 'string', default: 'java.base/java' },
    turns: { type: 'string', default: '5' },
    port: { type: 'string', default: '18491' },
    'no-install': { type: 'boolean', default: false },
  },
});

interface Turn {
  readonly pages: number;
  readonly cpuSeconds: number;
}

/** The program of somebody who uses the library: sees every page, and looks at its title. */
const program = `
import { open } from ${JSON.stringify(join(project, 'src', 'engine', 'library', 'skein.ts'))};
const [data, seed] = process.argv.slice(2);
const skein = await open({ data, pace: 0, connections: 4, allowPrivate: true });
const run = skein.crawl(seed);
let titles = 0;
for await (const page of run) titles += (page.title ?? '').length;
const { pages } = await run.summary();
await skein.close();
const { user, system } = process.cpuUsage();
console.log(JSON.stringify({ pages, cpuSeconds: (user + system) / 1e6, titles }));
`;

const hook = `let titles = 0;
export default { afterPage({ title }) { titles += title.length; } };
`;

function lastLine(words: readonly string[]): Turn {
  const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', maxBuffer: 1 << 26 });
  const line = stdout.trim().split('\n').at(-1) ?? '';
  if (!line.startsWith('{')) throw new Error(`no result: ${stderr.slice(-500)}`);
  const { pages, cpuSeconds } = JSON.parse(line) as Turn;
  return { pages, cpuSeconds };
}

const data = join(work, 'data');

function crawl(seed: string, more: readonly string[]): Turn {
  const words = [
    'crawl',
    seed,
    '--data',
    data,
    '--pace',
    '0',
    '--connections',
    '4',
    '--allow-private',
    '--json',
    ...more,
  ];
  return lastLine([join(project, 'bin', 'skein.js'), ...words]);
}

const ways: Readonly<Record<string, (seed: string) => Turn>> = {
  command: seed => crawl(seed, []),
  library: seed => lastLine([join(work, 'program.mjs'), data, seed]),
  hook: seed => crawl(seed, ['--hooks', join(work, 'hook.js')]),
};

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

async function compare(): Promise<void> {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const root = join(work, 'site');
  cpSync(join(api, options.part), root, { recursive: true, dereference: true });
  writeFileSync(join(work, 'program.mjs'), program);
  writeFileSync(join(work, 'hook.js'), hook);
  const documents: Documents = { name: 'hooks', servers: [{ address: '127.0.0.1', root }] };
  const server = await serve(documents, Number(options.port), join(work, 'nginx'));
  const seed = `http://127.0.0.1:${options.port}/lang/package-summary.html`;
  const taken: Record<string, Turn[]> = { command: [], library: [], hook: [] };
  for (let turn = 0; turn < Number(options.turns); turn++) {
    for (const [name, way] of Object.entries(ways)) {
      rmSync(data, { recursive: true, force: true });
      taken[name]!.push(way(seed));
    }
  }
  await server.close();
  const seconds = (name: string) => median(taken[name]!.map(({ cpuSeconds }) => cpuSeconds));
  for (const [name, turns] of Object.entries(taken)) {
    const all = turns.map(({ cpuSeconds }) => cpuSeconds.toFixed(2)).join(' ');
    const share = ((seconds(name) / seconds('command') - 1) * 100).toFixed(1);
    console.log(
      `${name.padEnd(8)} ${turns[0]!.pages} pages, median ${seconds(name).toFixed(2)} s of processor (${all}), ${share}%`,
    );
  }
}

if (!options['no-install'])
  execFileSync('bash', [join(project, 'scripts', 'install-debian.sh'), 'openjdk-17-doc', 'nginx'], {
    stdio: 'inherit',
  });
if (existsSync(api)) await compare();
else console.log('notice: openjdk-17-doc is not installed, so there is nothing to fetch');
