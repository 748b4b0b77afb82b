/**
 * What does fetching a page cost beside undici? Real documentation pages from nginx (one worker, loopback), bodies
 * collected whole, each client in a process of its own, in turns; the median of the rounds counts. CPU time of the
 * client is the figure to trust, since nginx and everything else share the machine.
 *
 *   node bench/fetch.ts [--repeat 3] [--pages 2000] [--passes 5] [--connections 8] [--port 18490]
 */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { openFetcher } from '../src/crawler/fetch/fetcher.ts';

const cache = join(import.meta.dirname, '..', '.cache', 'bench');
const modules = join(cache, 'fetch');
const root = '/usr/share/doc/openjdk-17-jre-headless/api';
const userAgent = 'Skein/0.1 (+https://skein.example/bot)';

const { values: options } = parseArgs({
  options: {
    repeat: { type: 'string', default: '3' },
    pages: { type: 'string', default: '2000' },
    passes: { type: 'string', default: '5' },
    connections: { type: 'string', default: '8' },
    port: { type: 'string', default: '18490' },
    /** Set in the processes that are measured. */
    client: { type: 'string' },
  },
});

interface Client {
  /** Fetches `origin + path` and returns the bytes of the body. */
  get(path: string): Promise<number>;
  close(): Promise<void>;
}

type Opener = (origin: string, connections: number) => Client;

const clients: Readonly<Record<string, Opener>> = {
  skein: origin => {
    const fetcher = openFetcher({ userAgent });
    return {
      get: async path => {
        const answer = await fetcher.fetch({ url: origin + path, maxBytes: 10_000_000, allowPrivate: true });
        if (answer.kind === 'failure') throw new Error(answer.reason);
        return answer.body.length;
      },
      close: () => fetcher.close(),
    };
  },
  'undici Pool.dispatch': (origin, connections) => {
    const { Pool } = undici();
    const pool = new Pool(origin, { connections, pipelining: 1 });
    return { get: path => dispatch(pool, path), close: () => pool.close() };
  },
  'undici Pool.request': (origin, connections) => {
    const { Pool } = undici();
    const pool = new Pool(origin, { connections, pipelining: 1 });
    return {
      get: async path => {
        const { body } = await pool.request({ path, method: 'GET', headers: { 'user-agent': userAgent } });
        return (await body.bytes()).length;
      },
      close: () => pool.close(),
    };
  },
  'fetch of Node': origin => ({
    get: async path => (await (await fetch(origin + path)).bytes()).length,
    close: async () => {},
  }),
};

// biome-ignore lint/suspicious/noExplicitAny: installed for the bench only, so there are no types of it
const undici = (): any => createRequire(join(modules, 'x.js'))('undici');

// biome-ignore lint/suspicious/noExplicitAny: see undici
function dispatch(pool: any, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    pool.dispatch(
      { path, method: 'GET', headers: { 'user-agent': userAgent } },
      {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData: (_controller: unknown, chunk: Buffer) => void chunks.push(chunk),
        onResponseEnd: () => resolve(Buffer.concat(chunks).length),
        onResponseError: (_controller: unknown, error: Error) => reject(error),
      },
    );
  });
}

/** One measured process: all paths, so many times, over so many connections; the first pass only warms up. */
async function runClient(name: string): Promise<void> {
  const paths = JSON.parse(readFileSync(join(modules, 'paths.json'), 'utf8')) as string[];
  const connections = Number(options.connections);
  const client = clients[name]!(`http://127.0.0.1:${options.port}`, connections);
  let bytes = 0;
  const pass = async () => {
    let at = 0;
    const worker = async () => {
      while (at < paths.length) {
        const size = await client.get(paths[at++]!);
        bytes += size;
      }
    };
    await Promise.all(Array.from({ length: connections }, worker));
  };
  await pass();
  bytes = 0;
  const before = process.cpuUsage();
  const start = performance.now();
  for (let i = 0; i < Number(options.passes); i++) await pass();
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(before);
  const count = paths.length * Number(options.passes);
  await client.close();
  console.log(JSON.stringify({ micros: (user + system) / count, rate: count / seconds, bytes: bytes / count }));
}

/** Documentation pages of 15 to 200 kB, evenly from the whole tree, so that their mean is that of pages of the web. */
function choosePaths(): string[] {
  const all = (readdirSync(root, { recursive: true }) as string[]).filter(path => path.endsWith('.html')).sort();
  const fitting = all.filter(path => {
    const { size } = statSync(join(root, path));
    return size >= 15_000 && size <= 200_000;
  });
  const step = Math.max(1, Math.floor(fitting.length / Number(options.pages)));
  return fitting
    .filter((_, i) => i % step === 0)
    .slice(0, Number(options.pages))
    .map(path => `/${encodeURI(path)}`);
}

/** Without compression, so that every client gets the same bytes whatever it says that it accepts. */
async function startNginx(): Promise<ChildProcess> {
  const file = join(modules, 'nginx.conf');
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    name => `${name}_temp_path ${modules}/${name};`,
  );
  const server = `server { listen 127.0.0.1:${options.port}; root ${root}; keepalive_requests 1000000000; }`;
  writeFileSync(
    file,
    `${process.getuid?.() === 0 ? 'user root;' : ''} daemon off; worker_processes 1; pid ${modules}/nginx.pid;
    events {} http { access_log off; sendfile on; tcp_nopush on; open_file_cache max=20000; ${places.join(' ')}
    types { text/html html; } ${server} }`,
  );
  const nginx = spawn('nginx', ['-c', file, '-e', join(modules, 'error.log')], { stdio: 'inherit' });
  for (let tries = 0; tries < 50; tries++) {
    const up = await new Promise<boolean>(resolve => {
      const socket = connect(Number(options.port), '127.0.0.1');
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
    if (up) return nginx;
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  nginx.kill();
  throw new Error('nginx did not start');
}

async function compare(): Promise<void> {
  mkdirSync(modules, { recursive: true });
  if (!existsSync(join(modules, 'node_modules', 'undici'))) {
    writeFileSync(join(modules, 'package.json'), '{"private":true}\n');
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', 'undici@8.12.4'], { cwd: modules });
  }
  writeFileSync(join(modules, 'paths.json'), JSON.stringify(choosePaths()));
  const nginx = await startNginx();
  const runs = new Map<string, { micros: number; rate: number; bytes: number }[]>();
  try {
    for (let round = 0; round < Number(options.repeat); round++) {
      for (const name of Object.keys(clients)) {
        const child = [import.meta.filename, ...process.argv.slice(2), '--client', name];
        const { stdout } = await promisify(execFile)(process.execPath, child);
        runs.set(name, [...(runs.get(name) ?? []), JSON.parse(stdout)]);
      }
    }
  } finally {
    nginx.kill();
  }
  report(runs);
}

function report(runs: ReadonlyMap<string, readonly { micros: number; rate: number; bytes: number }[]>): void {
  const middle = (name: string) =>
    [...runs.get(name)!].sort((a, b) => a.micros - b.micros)[runs.get(name)!.length >> 1]!;
  const ours = middle('skein');
  console.log(`mean body ${Math.round(ours.bytes)} bytes, ${options.connections} connections`);
  for (const name of runs.keys()) {
    const { micros, rate } = middle(name);
    const ratio = (micros / ours.micros).toFixed(2);
    console.log(`${name.padEnd(22)} ${micros.toFixed(1)} µs CPU/page  ${Math.round(rate)} pages/s  ${ratio} × skein`);
  }
}

if (options.client !== undefined) await runClient(options.client);
else if (existsSync(root)) await compare();
else console.log('notice: openjdk-17-doc is not installed, so there is nothing to fetch');
