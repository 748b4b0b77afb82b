/**
 * How fast is Skein beside the crawlers that people use? All crawl the same real pages from the same nginx on this
 * machine, one run after another in turns, so that a noisy moment hurts all alike; the median of the runs counts.
 *
 *   node bench/peers.ts [--repeat 3] [--pages 1500] [--only name,name] [--peers-only] [--web one|several|both]
 *                       [--small] [--no-install] [--port 18480] [--store DIR]
 *
 * A page is an HTML document that nginx sent with status 200, counted once for each URL, from nginx's own log: no
 * contender reports on itself. Pages that a contender fetched and did not store do not count for its rate: spider-rs loses
 * pages, some thousands in one run and none in the next, on their way to the program that uses it. Slow ones (marked "a
 * part") stop after --pages pages. Raw figures go to .cache/bench/results; --store is where contenders keep what they
 * fetched (emptied before each run). The exit code is 0 whether targets are met or missed: this reports, tests decide.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Contender, contenders, installed, NPM_PEERS } from './peers/contenders.ts';
import { type Documents, documentsAvailable, oneServer, PACKAGES, severalServers } from './peers/documents.ts';
import { measure } from './peers/measured.ts';
import { type Served, serve } from './peers/nginx.ts';
import { type Result, summarise, table, verdicts } from './peers/report.ts';
import { stageTable, stageTimes } from './peers/stages.ts';

const project = join(import.meta.dirname, '..');
const cache = join(project, '.cache', 'bench');
const modules = join(cache, 'peers');

const { values: options } = parseArgs({
  options: {
    repeat: { type: 'string', default: '3' },
    pages: { type: 'string', default: '1500' },
    only: { type: 'string', default: '' },
    'peers-only': { type: 'boolean', default: false },
    web: { type: 'string', default: 'both' },
    small: { type: 'boolean', default: false },
    'no-install': { type: 'boolean', default: false },
    port: { type: 'string', default: '18480' },
    store: { type: 'string', default: storeFolder() },
  },
});

/**
 * Memory where there is room for it: crawlers are compared, and on a machine with a slow or shared disk the one that
 * happens to run while the last one's files are written back would pay for them.
 */
function storeFolder(): string {
  const shared = '/dev/shm';
  const roomy = existsSync(shared) && statfsSync(shared).bavail * statfsSync(shared).bsize > 4e9;
  return join(roomy ? shared : cache, 'skein-bench-store');
}

/** By name, and only what is not there yet. A peer that cannot be installed is left out with a notice. */
function install(): void {
  const debian = [...PACKAGES, 'nginx', 'wget2', 'wget', 'httrack', 'python3-scrapy'];
  try {
    execFileSync('bash', [join(project, 'scripts', 'install-debian.sh'), ...debian], { stdio: 'inherit' });
  } catch {
    console.log('notice: apt could not install everything; what is missing is left out');
  }
  mkdirSync(modules, { recursive: true });
  writeFileSync(join(modules, 'package.json'), '{"private":true}\n');
  for (const peer of NPM_PEERS) {
    const name = peer.slice(0, peer.lastIndexOf('@'));
    try {
      statSync(join(modules, 'node_modules', name));
    } catch {
      // Not there yet. One at a time: the failure of one peer must not take the other away.
      const npm = ['install', '--no-audit', '--no-fund', '--save-exact', '--loglevel=error', peer];
      try {
        execFileSync('npm', npm, { cwd: modules, stdio: 'inherit' });
      } catch {
        console.log(`notice: npm could not install ${peer}`);
      }
    }
  }
}

function chosen(): Contender[] {
  const only = options.only.split(',').filter(name => name !== '');
  return contenders.filter(contender => {
    if (options['peers-only'] && contender.package === '') return false;
    if (only.length > 0 && !only.some(name => contender.name.toLowerCase().startsWith(name.toLowerCase())))
      return false;
    if (installed(contender, project, modules)) return true;
    console.log(`notice: ${contender.name} is not installed, so it is left out`);
    return false;
  });
}

async function runOnce(contender: Contender, served: Served, environment = {}): Promise<Result> {
  const directory = options.store;
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const job = { seeds: served.seeds, directory, pages: Number(options.pages), project, modules };
  const cost = await measure({ environment, ...contender.run(job), directory });
  const { pages, requests } = await served.take();
  const stored = diskUse(directory);
  const kept = contender.fileAPage ? Math.min(pages.size, readdirSync(directory).length) : pages.size;
  rmSync(directory, { recursive: true, force: true });
  const rate = Math.round(kept / cost.seconds);
  const lost = kept < pages.size ? `, ${pages.size - kept} of them stored nowhere` : '';
  console.log(`  ${contender.name}: ${pages.size} pages in ${cost.seconds.toFixed(1)} s, ${rate} pages/s${lost}`);
  if (!contender.codes.includes(cost.code) || pages.size === 0)
    console.log(`    exit ${cost.code} ${cost.stderr.trim().slice(-600)}`);
  return { contender, cost, pages, requests, kept, stored };
}

function diskUse(directory: string): number {
  let bytes = 0;
  for (const file of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (file.isFile()) bytes += statSync(join(file.parentPath, file.name)).size;
  }
  return bytes;
}

async function compete(documents: Documents): Promise<void> {
  const port = Number(options.port);
  const several = documents.servers.length > 1;
  const field = chosen().filter(contender => !several || contender.several);
  console.log(`\n== ${documents.servers.length} server${several ? 's' : ''} (${documents.name}) ==`);
  const served = await serve(documents, port, cache);
  const leave = () => served.close().then(() => process.exit(130));
  process.once('SIGINT', leave).once('SIGTERM', leave);
  const results: Result[] = [];
  warm(documents);
  try {
    for (let round = 0; round < Number(options.repeat); round++) {
      for (const contender of round === 0 ? field : withoutLosers(field, results)) {
        results.push(await runOnce(contender, served));
      }
    }
    const rows = summarise(results);
    const judged = verdicts(rows);
    console.log(`\n${table(rows)}\n`);
    for (const { line } of judged) console.log(line);
    save(documents.name, results, judged);
    await printStages(field, served);
  } finally {
    process.off('SIGINT', leave).off('SIGTERM', leave);
    await served.close();
  }
}

/** The first to run would pay for the disk of the web server, the others find its files in memory. */
function warm({ servers }: Documents): void {
  for (const { root } of servers)
    execFileSync('sh', ['-c', 'find -L "$1" -type f -exec cat {} + > /dev/null', 'sh', root]);
}

/** After the first round only the best of a peer's settings runs again. */
function withoutLosers(field: readonly Contender[], results: readonly Result[]): Contender[] {
  const left = new Set(summarise(results).map(row => row.contender));
  return field.filter(contender => left.has(contender));
}

/** The bundle is one file, so a profile of it names no stage: the modules themselves run, with the settings of the command. */
function fromSources(run: Contender['run']): Contender['run'] {
  const door = join(project, 'bin', 'skein.js');
  const modules = ['--import', join(project, 'bin', 'settings.js'), join(project, 'src', 'cli', 'main.ts')];
  return job => {
    const ran = run(job);
    return { ...ran, arguments: ran.arguments.flatMap(word => (word === door ? modules : [word])) };
  };
}

/** One more run of Skein, with the profiler on in all its threads; it does not count for the table. */
async function printStages(field: readonly Contender[], served: Served): Promise<void> {
  const skein = field.find(contender => contender.package === '');
  if (skein === undefined) return;
  const folder = join(cache, 'profiles');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const profiled = { ...skein, name: 'skein, profiled', run: fromSources(skein.run) };
  const result = await runOnce(profiled, served, {
    NODE_OPTIONS: `--cpu-prof --cpu-prof-interval=500 --cpu-prof-dir=${folder}`,
  });
  console.log(
    `\nwhere Skein's time goes:\n${stageTable(stageTimes(folder), result.pages.size, result.cost.cpuSeconds)}`,
  );
  const line = result.cost.stdout.trim().split('\n').at(-1);
  if (line !== undefined) console.log(`it reports: ${line}`);
}

function save(name: string, results: readonly Result[], judged: readonly object[]): void {
  const folder = join(cache, 'results');
  mkdirSync(folder, { recursive: true });
  const plain = results.map(({ contender, cost, pages, requests, kept, stored }) => {
    const { seconds, cpuSeconds, peakMegabytes, code } = cost;
    const counted = { pages: pages.size, kept, requests, stored };
    return { name: contender.name, ...counted, seconds, cpuSeconds, peakMegabytes, code };
  });
  const file = join(folder, `peers-${name}-${new Date().toISOString().replaceAll(':', '-')}.json`);
  writeFileSync(file, JSON.stringify({ results: plain, verdicts: judged }, null, 1));
}

mkdirSync(cache, { recursive: true });
if (!options['no-install']) install();
if (!documentsAvailable()) {
  console.log('notice: the Debian documentation is not installed, so there is nothing to crawl');
} else {
  if (options.web !== 'several') await compete(oneServer(cache, options.small));
  if (options.web !== 'one' && !options.small) await compete(severalServers(cache, Number(options.port)));
}
