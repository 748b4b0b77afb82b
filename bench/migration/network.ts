/**
 * Two small worlds for the benches of migration, as network namespaces: `home`, and `site` where the servers and the
 * outposts are. One cable joins them, home's link, shaped to a rate in both directions; what crosses it is counted by the
 * kernel. Delay is made by a relay (relay.ts), because this kernel may not have netem.
 *
 * Needs root and iproute2; `possible()` says so.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';

export const HOME = '10.78.0.1';
export const SITE = '10.78.0.2';
const [home, site] = [`skein-home-${process.pid}`, `skein-site-${process.pid}`];
const [homeEnd, siteEnd] = ['sh0', 'ss0'];
const processes = new Set<ChildProcess>();

function ip(...words: string[]): void {
  execFileSync('ip', words, { stdio: 'pipe' });
}

/** An empty string, or why these benches cannot run here. */
export function impossible(): string {
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  try {
    ip('netns', 'add', `skein-try-${process.pid}`);
    ip('netns', 'del', `skein-try-${process.pid}`);
    return '';
  } catch (error) {
    return `no network namespaces here (${(error as Error).message.split('\n')[0]})`;
  }
}

/** `rate` as tc writes it, `10mbit`; empty = as fast as it goes. */
export function connect(rate: string): void {
  for (const name of [home, site]) {
    ip('netns', 'add', name);
    ip('-n', name, 'link', 'set', 'lo', 'up');
  }
  ip('link', 'add', homeEnd, 'netns', home, 'type', 'veth', 'peer', 'name', siteEnd, 'netns', site);
  for (const [name, end, address] of [
    [home, homeEnd, HOME],
    [site, siteEnd, SITE],
  ] as const) {
    ip('-n', name, 'addr', 'add', `${address}/24`, 'dev', end);
    ip('-n', name, 'link', 'set', end, 'up');
    // Segments as large as on a real cable, so that the kernel counts the headers that a real one carries.
    ip('-n', name, 'link', 'set', end, 'gso_max_segs', '1');
    if (rate !== '') {
      const shape = ['qdisc', 'add', 'dev', end, 'root', 'tbf', 'rate', rate, 'burst', '32kb', 'latency', '100ms'];
      execFileSync('tc', ['-n', name, ...shape], { stdio: 'pipe' });
    }
  }
}

export async function disconnect(): Promise<void> {
  for (const child of processes) child.kill('SIGKILL');
  await Promise.all([...processes].map(child => new Promise(resolve => child.once('exit', resolve))));
  for (const name of [home, site]) {
    try {
      ip('netns', 'del', name);
    } catch {
      // it was never made
    }
  }
}

/** Bytes that home's link has carried, both ways, headers included. */
export function linkBytes(): { readonly up: number; readonly down: number } {
  const text = execFileSync('ip', ['netns', 'exec', home, 'cat', '/proc/net/dev']).toString();
  const numbers = text
    .split('\n')
    .find(line => line.trim().startsWith(`${homeEnd}:`))!
    .split(':')[1]!
    .trim()
    .split(/\s+/);
  return { down: Number(numbers[0]), up: Number(numbers[8]) };
}

export interface Running {
  readonly child: ChildProcess;
  /** Standard output when it has ended; rejects when it failed. */
  readonly output: Promise<string>;
  /** Resolves with the first line of standard output. */
  readonly ready: Promise<string>;
  end(): Promise<void>;
}

/** Runs a TypeScript file of this folder, or any script, in one of the worlds. */
export function run(where: 'home' | 'site', script: string, ...words: string[]): Running {
  const file = script.startsWith('/') ? script : join(import.meta.dirname, script);
  const command = ['netns', 'exec', where === 'home' ? home : site, process.execPath, file, ...words];
  const child = spawn('ip', command, { stdio: ['pipe', 'pipe', 'pipe'] });
  processes.add(child);
  let text = '';
  let errors = '';
  const ready = new Promise<string>(resolve => {
    child.stdout.on('data', (data: Buffer) => {
      text += data.toString();
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
  });
  child.stderr.on('data', (data: Buffer) => {
    errors = (errors + data.toString()).slice(-2000);
  });
  const output = new Promise<string>((resolve, reject) => {
    child.once('exit', code => {
      processes.delete(child);
      if (code === 0) resolve(text);
      else reject(new Error(`${script} ended with ${code}: ${errors}`));
    });
  });
  output.catch(() => {}); // whoever waits for it hears of it
  const end = async () => {
    child.kill('SIGTERM');
    await output.catch(() => {}); // ended by us
  };
  return { child, output, ready, end };
}
