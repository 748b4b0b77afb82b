/** A PostgreSQL server of the test's own, from Debian, on loopback; undefined where there is none. */
import { execFileSync, spawn } from 'node:child_process';
import { chownSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { freePort } from '../free-port.ts';
import { root } from '../journeys/skein.ts';

export interface PostgresServer {
  readonly url: string;
  /** Kills it; `start` brings it back with what it had. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

function programs(): string | undefined {
  const find = () => globSync('/usr/lib/postgresql/*/bin/initdb')[0];
  if (find() === undefined && process.getuid?.() === 0) {
    try {
      execFileSync('bash', [join(root, 'scripts', 'install-debian.sh'), 'postgresql'], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
    } catch {
      return undefined; // the script has said why
    }
  }
  const found = find();
  return found && dirname(found);
}

/** PostgreSQL refuses to run as root. */
function account(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const number = (flag: string) => Number(execFileSync('id', [flag, 'nobody']).toString());
  return { uid: number('-u'), gid: number('-g') };
}

export async function openPostgres(context: TestContext): Promise<PostgresServer | undefined> {
  const bin = programs();
  if (bin === undefined) return undefined;
  const who = account();
  const directory = mkdtempSync(join(tmpdir(), 'skein-pg-'));
  if (who) chownSync(directory, who.uid, who.gid);
  const data = join(directory, 'data');
  execFileSync(join(bin, 'initdb'), ['-D', data, '-A', 'trust', '-N', '-U', 'owner', '-E', 'UTF8', '--locale=C'], {
    ...who,
    stdio: 'pipe',
    cwd: directory,
  });
  const port = await freePort();
  let running: ReturnType<typeof spawn> | undefined;
  const stop = async (): Promise<void> => {
    const server = running;
    running = undefined;
    if (!server || server.exitCode !== null) return;
    const ended = new Promise(resolve => server.once('exit', resolve));
    server.kill('SIGINT');
    await ended;
  };
  const start = async (): Promise<void> => {
    const words = [
      '-D',
      data,
      '-k',
      directory,
      '-p',
      String(port),
      '-c',
      'listen_addresses=127.0.0.1',
      '-c',
      'fsync=off',
    ];
    const server = spawn(join(bin, 'postgres'), words, { ...who, cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] });
    running = server;
    await new Promise<void>((resolve, reject) => {
      let said = '';
      server.stderr!.on('data', chunk => {
        said += chunk;
        if (said.includes('ready to accept connections')) resolve();
      });
      server.once('exit', () => reject(new Error(`postgres ended: ${said}`)));
    });
  };
  context.after(async () => {
    await stop();
    rmSync(directory, { recursive: true, force: true });
  });
  await start();
  return { url: `postgres://owner@127.0.0.1:${port}/postgres`, stop, start };
}
