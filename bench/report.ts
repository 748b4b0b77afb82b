/**
 * Does `skein report` find the broken links that linkinator finds, with the pages that hold them? Both look at a part of
 * Debian's JDK documentation (openjdk-17-doc), served by nginx on loopback without the rest of it, so that many links and
 * requisites lead nowhere.
 *
 *   node bench/report.ts [--part java.base/java/util] [--port 18490] [--no-install]
 *
 * linkinator is told to skip everything that is not on this server: nothing leaves the machine. It names one page for each
 * broken URL; the report must name that page too, among all others.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { serve } from './peers/nginx.ts';

const project = join(import.meta.dirname, '..');
const cache = join(project, '.cache', 'bench');
const modules = join(cache, 'peers');
const work = join(cache, 'report');
const linkinator = 'linkinator@8.1.0';

const { values: options } = parseArgs({
  options: {
    part: { type: 'string', default: 'java.base/java/util' },
    port: { type: 'string', default: '18490' },
    'no-install': { type: 'boolean', default: false },
  },
});

interface Broken {
  /** URL → pages that hold it. */
  readonly found: Map<string, Set<string>>;
  readonly seconds: number;
}

const plain = (url: string) => new URL(url.split('#', 1)[0]!).href;

function theirs(seed: string): Broken {
  const begun = performance.now();
  const outside = `^(?!${new URL(seed).origin.replaceAll('.', '\\.')}/)`;
  const args = ['--recurse', '--format', 'json', '--concurrency', '32', '--timeout', '60000', '--skip', outside];
  const bin = join(modules, 'node_modules', '.bin', 'linkinator');
  const { stdout } = spawnSync(process.execPath, [bin, seed, ...args], { encoding: 'utf8', maxBuffer: 1 << 30 });
  const { links } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as {
    links: { url: string; state: string; parent?: string }[];
  };
  const found = new Map<string, Set<string>>();
  for (const { url, state, parent = seed } of links) {
    if (state !== 'BROKEN') continue;
    found.set(plain(url), (found.get(plain(url)) ?? new Set()).add(plain(parent)));
  }
  return { found, seconds: (performance.now() - begun) / 1000 };
}

function ours(seed: string): Broken {
  const begun = performance.now();
  const data = join(work, 'data');
  const skein = (...args: string[]) =>
    spawnSync(process.execPath, [join(project, 'bin', 'skein.js'), ...args, '--data', data, '--pace', '0', '--json'], {
      encoding: 'utf8',
      maxBuffer: 1 << 30,
    }).stdout;
  skein('crawl', seed, '--connections', '32');
  const only = 'broken-link,broken-requisite';
  const { findings } = JSON.parse(skein('report', '--external', '--only', only)) as {
    findings: { url: string; related: { url: string }[] }[];
  };
  const found = new Map(findings.map(({ url, related }) => [url, new Set(related.map(each => each.url))]));
  return { found, seconds: (performance.now() - begun) / 1000 };
}

if (!options['no-install']) {
  execFileSync('bash', [join(project, 'scripts', 'install-debian.sh'), 'openjdk-17-doc', 'nginx'], {
    stdio: 'inherit',
  });
  mkdirSync(modules, { recursive: true });
  // Without one npm would install into the project.
  if (!existsSync(join(modules, 'package.json'))) writeFileSync(join(modules, 'package.json'), '{}');
  const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', linkinator];
  if (!existsSync(join(modules, 'node_modules', 'linkinator'))) execFileSync('npm', install, { cwd: modules });
}
rmSync(work, { recursive: true, force: true });
const root = join(work, 'site');
cpSync(join('/usr/share/doc/openjdk-17-doc/api', options.part), root, { recursive: true, dereference: true });
// linkinator goes on only below the URL that it starts from.
writeFileSync(join(root, 'index.html'), '<title>Start</title><a href="package-summary.html">package</a>');
const seed = `http://127.0.0.1:${options.port}/`;
const nginx = await serve({ name: 'report', servers: [{ address: '127.0.0.1', root }] }, Number(options.port), cache);
try {
  const peer = theirs(seed);
  const skein = ours(seed);
  const onlyOurs = [...skein.found.keys()].filter(url => !peer.found.has(url));
  const onlyTheirs = [...peer.found.keys()].filter(url => !skein.found.has(url));
  const pairs = [...peer.found].flatMap(([url, pages]) => [...pages].map(page => [url, page] as const));
  const missed = pairs.filter(([url, page]) => skein.found.has(url) && !skein.found.get(url)!.has(page));
  const sources = (found: Broken['found']) => [...found.values()].reduce((sum, pages) => sum + pages.size, 0);
  console.table({
    linkinator: { broken: peer.found.size, sources: sources(peer.found), seconds: Math.round(peer.seconds) },
    skein: { broken: skein.found.size, sources: sources(skein.found), seconds: Math.round(skein.seconds) },
  });
  console.log('only in skein:', onlyOurs.slice(0, 10), onlyOurs.length);
  console.log('only in linkinator:', onlyTheirs.slice(0, 10), onlyTheirs.length);
  console.log("linkinator's sources that skein does not name:", missed.slice(0, 5), missed.length);
  const met = onlyTheirs.length === 0 && missed.length === 0 && peer.found.size > 0;
  console.log(`${met ? 'met' : 'missed'}: every broken URL of linkinator with its source is in the report`);
} finally {
  await nginx.close();
}
