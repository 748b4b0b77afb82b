/**
 * Small worlds for the benches of migration, as network namespaces: `home`, `site` where the servers are, and machines
 * that stand elsewhere. Each has one cable, shaped to a rate in both directions, to a switch in `site`. What crosses
 * home's is counted by the kernel. Delay is made by a relay (relay.ts), because this kernel may not have netem.
 *
 * Needs root and iproute2; `impossible()` says so.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';

export const HOME = '10.78.0.1';
export const SITE = '10.78.0.2';
/** Last part of the address of the first machine that stands elsewhere. */
const FIRST_MACHINE = 10;
const NET = '10.78.0';
const spaces = new Set<string>();
const SWITCH = 'switch';
/** Every cable's end in its own world. */
const CABLE = 'cable';

function spaceOf(world: string): string {
  return `skein-${world}-${process.pid}`;
}

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
  makeWorld('site');
  const site = spaceOf('site');
  ip('-n', site, 'link', 'add', SWITCH, 'type', 'bridge');
  ip('-n', site, 'addr', 'add', `${SITE}/24`, 'dev', SWITCH);
  ip('-n', site, 'link', 'set', SWITCH, 'up');
  plugIn('home', HOME, rate);
}

/** A machine that stands neither at home nor beside the servers, with a link of its own. Returns its address. */
export function addMachine(name: string, rate: string): string {
  const address = `${NET}.${FIRST_MACHINE + spaces.size}`;
  plugIn(name, address, rate);
  return address;
}

function makeWorld(world: string): void {
  const space = spaceOf(world);
  spaces.add(space);
  ip('netns', 'add', space);
  ip('-n', space, 'link', 'set', 'lo', 'up');
}

function plugIn(world: string, address: string, rate: string): void {
  makeWorld(world);
  const [space, site] = [spaceOf(world), spaceOf('site')];
  const port = `port${spaces.size}`;
  ip('link', 'add', CABLE, 'netns', space, 'type', 'veth', 'peer', 'name', port, 'netns', site);
  ip('-n', space, 'addr', 'add', `${address}/24`, 'dev', CABLE);
  ip('-n', site, 'link', 'set', port, 'master', SWITCH);
  for (const [at, end] of [
    [space, CABLE],
    [site, port],
  ] as const) {
    ip('-n', at, 'link', 'set', end, 'up');
    // Segments as large as on a real cable, so that the kernel counts the headers that a real one carries.
    ip('-n', at, 'link', 'set', end, 'gso_max_segs', '1');
    if (rate !== '') {
      const shape = ['qdisc', 'add', 'dev', end, 'root', 'tbf', 'rate', rate, 'burst', '32kb', 'latency', '100ms'];
      execFileSync('tc', ['-n', at, ...shape], { stdio: 'pipe' });
    }
  }
}

/** Every address of a range is the site's, and every machine finds it there: as many servers as a bench wants. */
export function serveRange(range: string): void {
  ip('-n', spaceOf('site'), 'route', 'add', 'local', range, 'dev', 'lo');
  for (const space of spaces) if (space !== spaceOf('site')) ip('-n', space, 'route', 'add', range, 'via', SITE);
}

export async function disconnect(): Promise<void> {
  for (const child of processes) child.kill('SIGKILL');
  await Promise.all([...processes].map(child => new Promise(resolve => child.once('exit', resolve))));
  for (const space of spaces) {
    try {
      ip('netns', 'del', space);
    } catch {
      // it was never made
    }
  }
  spaces.clear();
}

/** What runs a command in one of the worlds, to be put before it. */
export function inWorld(world: string): readonly string[] {
  return ['ip', 'netns', 'exec', spaceOf(world)];
}

/** Pulls the cable of a machine out, or plugs it in again: nobody is told, packets just do not come. */
export function plug(world: string, state: 'up' | 'down'): void {
  ip('-n', spaceOf(world), 'link', 'set', CABLE, state);
}

/** Bytes that home's link has carried, both ways, headers included. */
export function linkBytes(): { readonly up: number; readonly down: number } {
  return carriedBy(inWorld('home'));
}

/** The same of the machine that these words run a command on. */
export function carriedBy([command, ...within]: readonly string[]): { readonly up: number; readonly down: number } {
  const text = execFileSync(command!, [...within, 'cat', '/proc/net/dev']).toString();
  const numbers = text
    .split('\n')
    .find(line => line.trim().startsWith(`${CABLE}:`))!
    .split(':')[1]!
    .trim()
    .split(/\s+/);
  return { down: Number(numbers[0]), up: Number(numbers[8]) };
}

/** Connections that home refused because nobody listened: an outpost knocks until home is there. */
export function refusals(): number {
  const text = execFileSync('ip', ['netns', 'exec', spaceOf('home'), 'cat', '/proc/net/snmp']).toString();
  const [names, numbers] = text
    .split('\n')
    .filter(line => line.startsWith('Tcp:'))
    .map(line => line.split(' '));
  return Number(numbers![names!.indexOf('OutRsts')]);
}

export interface Running {
  readonly child: ChildProcess;
  /** Standard output when it has ended; rejects when it failed. */
  readonly output: Promise<string>;
  /** Resolves with the first line of standard output. */
  readonly ready: Promise<string>;
  /** Resolves with the second. */
  readonly again: Promise<string>;
  end(): Promise<void>;
}

/** Runs a TypeScript file of this folder, or any script, in one of the worlds. */
export function run(world: string, script: string, ...words: string[]): Running {
  const file = script.startsWith('/') ? script : join(import.meta.dirname, script);
  const [command, ...before] = inWorld(world);
  const child = spawn(command!, [...before, process.execPath, file, ...words], { stdio: ['pipe', 'pipe', 'pipe'] });
  processes.add(child);
  let text = '';
  let errors = '';
  const lines = [Promise.withResolvers<string>(), Promise.withResolvers<string>()] as const;
  child.stdout.on('data', (data: Buffer) => {
    text += data.toString();
    const whole = text.split('\n').slice(0, -1);
    for (const [i, line] of whole.entries()) lines[i]?.resolve(line);
  });
  const [ready, again] = lines.map(({ promise }) => promise) as [Promise<string>, Promise<string>];
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
  return { child, output, ready, again, end };
}
