/** Real nats-servers on loopback: one, or three as a cluster, with JetStream in a directory of the test's. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type EngineAddress, readEngineAddress } from '../../src/cluster/connection/address.ts';
import { connectTo } from '../../src/cluster/connection/connect.ts';
import { freePort } from '../free-port.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

let binary: string | undefined;

/** A test that fails half-way leaves nobody behind. */
const started = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of started) child.kill('SIGKILL');
});

/** Why there is none; empty = there is. Where Debian's packages can be reached, the script fetches it. */
export function noNats(): string {
  try {
    binary ??= execFileSync('bash', [join(root, 'scripts', 'install-nats.sh')], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    }).trim();
    return '';
  } catch {
    return 'no nats-server: scripts/install-nats.sh could not get one';
  }
}

export interface NatsServer {
  readonly name: string;
  readonly port: number;
  /** Everything that it wrote to its log. */
  readonly log: () => string;
  start(): Promise<void>;
  /** SIGKILL by default; resolves when the process is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Stops and goes on, with everything in its memory. */
  freeze(): void;
  thaw(): void;
  /** Forgets everything that it stored; to be called while it is killed. */
  wipe(): void;
}

export interface Nats extends AsyncDisposable {
  /** For --engine. */
  readonly url: string;
  readonly address: EngineAddress;
  readonly servers: readonly NatsServer[];
  readonly path: string;
}

export interface NatsOptions {
  readonly servers?: 1 | 3;
  /** Added to the configuration of each server. */
  readonly config?: string;
  /** false = core NATS alone. */
  readonly jetstream?: boolean;
  /** Address to listen on; loopback by default. */
  readonly host?: string;
}

export async function openNats(options: NatsOptions = {}): Promise<Nats> {
  const { servers = 1, config = '', jetstream = true, host = '127.0.0.1' } = options;
  if (noNats() !== '' || binary === undefined) throw new Error('no nats-server');
  const path = mkdtempSync(join(tmpdir(), 'skein-nats-'));
  const ports = await Promise.all(Array.from({ length: servers }, () => freePort()));
  const routes = await Promise.all(Array.from({ length: servers }, () => freePort()));
  const opened = ports.map((port, i) => {
    const cluster = `cluster { name: test, listen: "127.0.0.1:${routes[i]}", routes: [ ${routes.map(route => `"nats://127.0.0.1:${route}"`).join(', ')} ] }`;
    const store = join(path, `n${i}`, 'store');
    const text = [
      `server_name: n${i}`,
      `listen: "${host}:${port}"`,
      'ping_interval: "2s"',
      'ping_max: 2',
      jetstream ? `jetstream { store_dir: "${store}", max_mem: 64MB, max_file: 4GB }` : '',
      servers === 1 ? '' : cluster,
      config,
    ].join('\n');
    return natsServer(join(path, `n${i}`), port, text, host);
  });
  const url = `nats://${ports.map(port => `${host}:${port}`).join(',')}`;
  if (servers === 3) await startThree(opened, readEngineAddress(url));
  else await opened[0]!.start();
  return {
    url,
    address: readEngineAddress(url),
    servers: opened,
    path,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(opened.map(server => server.kill('SIGKILL')));
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Milliseconds in which three servers that have found each other have told each other how much room they have. */
const PLACED_WITHIN = 15_000;

/** Starts three that are to be one engine. In some starts their first leader never counts one of them (docs/decisions/0124). */
export async function startThree(servers: readonly NatsServer[], address: EngineAddress): Promise<void> {
  await Promise.all(servers.map(server => server.start()));
  while (!(await placesThree(address)))
    for (const server of servers) {
      await server.kill();
      await server.start();
    }
}

/** Whether the servers find a place for three copies. */
async function placesThree(address: EngineAddress): Promise<boolean> {
  const { jetstreamManager } = await import('@nats-io/jetstream');
  const connection = await connectTo(address, { name: 'test' });
  const { streams } = await jetstreamManager(connection, { checkAPI: false });
  try {
    for (const start = performance.now(); performance.now() - start < PLACED_WITHIN; ) {
      const placed = await streams.add({ name: 'SKEIN_PROBE', subjects: ['skein.probe'], num_replicas: 3 }).then(
        () => true,
        () => false,
      );
      if (placed) return await streams.delete('SKEIN_PROBE');
      await new Promise(resolve => setTimeout(resolve, 100));
    }
    return false;
  } finally {
    await connection.close();
  }
}

/** A server with a configuration of the caller's. */
export function natsServer(path: string, port: number, config: string, host = '127.0.0.1'): NatsServer {
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'nats.conf'), config);
  const log = join(path, 'log');
  let running: ChildProcess | undefined;
  return {
    name: path.slice(path.lastIndexOf('/') + 1),
    port,
    log: () => readFileSync(log, 'utf8'),
    start: async () => {
      running = spawn(binary!, ['-c', join(path, 'nats.conf'), '-l', log], { stdio: 'ignore' });
      started.add(running);
      await listening([port, host], running, log);
    },
    kill: async (signal = 'SIGKILL') => {
      const ending = running;
      running = undefined;
      if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
      const gone = once(ending, 'exit');
      ending.kill('SIGCONT');
      ending.kill(signal);
      await gone;
    },
    freeze: () => void running?.kill('SIGSTOP'),
    thaw: () => void running?.kill('SIGCONT'),
    wipe: () => rmSync(join(path, 'store'), { recursive: true, force: true }),
  };
}

/** Resolves when it listens for clients; for routes it listens some milliseconds later, and ends where somebody else has the port. */
async function listening([port, host]: readonly [number, string], running: ChildProcess, log: string): Promise<void> {
  for (;;) {
    if (running.exitCode !== null) throw new Error(`nats-server ended: ${readFileSync(log, 'utf8').slice(-2000)}`);
    const open = await new Promise<boolean>(resolve => {
      const socket = connect(port, host, () => socket.end(() => resolve(true)));
      socket.on('error', () => resolve(false));
    });
    if (open) return;
    await new Promise(resolve => setTimeout(resolve, 20));
  }
}
