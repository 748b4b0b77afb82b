/**
 * Starts the process that a cage is: Node with nothing granted, behind limits that the system keeps, behind a wall.
 *
 * Limits: a cgroup where one can be made (cage-group.ts), and in any case those of the process: memory (what an idle Node has, and as much besides as was allowed), processor time, open files, no byte in any
 * file, no memory dump; when the machine runs short of memory, it goes first. Wall: bubblewrap, with namespaces of its
 * own for everything, no network, no capability, a root that holds Node and its libraries and cannot be written, and a
 * filter of system calls (seccomp.ts) that leaves no new process, no socket and no memory beside the limits.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { endGroup, findGroups, makeGroup } from './cage-group.ts';
import { RUNNER } from './cage-runner.ts';
import type { SandboxLimits } from './decider.ts';
import { seccompFilter } from './seccomp.ts';

export type CageProcess = ChildProcessByStdio<Writable, Readable, Readable>;

/** What this machine has to build a cage from. */
export interface Means {
  /** Bytes that an idle Node counts as data, most of it never touched; undefined = no limit of memory holds. */
  readonly idle: number | undefined;
  /** Why none does. */
  readonly loose: string;
  /** Path of bubblewrap; empty = there is no wall. */
  readonly wall: string;
  /** Why there is none, and what to do about it. */
  readonly lacking: string;
  /** Directory in which a cgroup can be made for each cage; undefined = the limits of the process have to do. */
  readonly groups?: string | undefined;
}

const BUBBLEWRAP = ['/usr/bin/bwrap', '/bin/bwrap', '/usr/local/bin/bwrap', '/run/current-system/sw/bin/bwrap'];
/** What Node loads: some builds keep parts of it in the last. */
const LIBRARIES = ['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/usr/share/nodejs'];
/** Kibibytes of stack, of each thread; Node's own limit is half of it. */
const STACK = 2048;
const FILES = 64;
/** Bytes besides what is allowed: collecting garbage, pages on their way, what the compiler takes. */
const SLACK = 48 << 20;
const FILTER = 3;
/** Bytes that an idle Node has in memory, its code included, with room to spare: for the cgroup, which counts all of it. */
const NODE = 160 << 20;
/** Milliseconds until a trial must have ended: it is not repeated, and the machine may be busy. */
const PATIENCE = 30_000;

/** The shell sets limits, and then becomes what follows. One that cannot be set is lower already. */
const LIMIT = `{ echo 1000 >/proc/$$/oom_score_adj; } 2>/dev/null
[ -z "$3" ] || { echo 0 >"$3/cgroup.procs"; } 2>/dev/null
{ ulimit -c 0; ulimit -f 0; ulimit -n ${FILES}; ulimit -s ${STACK}; ulimit -t "$1"; ulimit -d "$2"; } 2>/dev/null
shift 3
`;
const BECOME = 'exec "$@"';
/** Without a wall that does it, the system ends the process together with the thread that started it. */
const BECOME_BOUND = `p=/usr/bin/setpriv; $p --pdeathsig KILL true 2>/dev/null && exec $p --pdeathsig KILL "$@"; ${BECOME}`;

export function startCage(means: Means, limits: SandboxLimits): CageProcess {
  const words = [...flags(limits), '--permission', '--input-type=module', '--eval', RUNNER];
  const data = means.idle === undefined ? undefined : means.idle + SLACK + limits.memory;
  const group = means.groups && makeGroup(means.groups, NODE + SLACK + limits.memory);
  const command = cageCommand(means, words, { processor: limits.processor, data, group });
  const stdio: 'pipe'[] = ['pipe', 'pipe', 'pipe', 'pipe'];
  const child = spawn('/bin/sh', command, { stdio, env: {}, cwd: '/', detached: true });
  const filter = child.stdio[FILTER] as Writable;
  filter.on('error', () => {}); // it has ended: whoever started it hears of that
  filter.end(seccompFilter());
  if (group) child.once('close', () => endGroup(group));
  return child as unknown as CageProcess;
}

/** Ends it whatever it does. As a group: bubblewrap that is ended while it starts would leave a part of it waiting for ever. */
export function endCage(child: CageProcess): void {
  try {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGKILL');
  } catch {
    // it has ended by itself
  }
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
}

interface CageLimits {
  readonly processor: number;
  readonly data: number | undefined;
  readonly group?: string | undefined;
}

/** Words for the shell that start Node with these. The filter is read from descriptor 3 when there is a wall. */
export function cageCommand(
  { wall }: Pick<Means, 'wall'>,
  node: readonly string[],
  { processor, data, group = '' }: CageLimits,
): string[] {
  const script = LIMIT + (wall === '' ? BECOME_BOUND : BECOME);
  const most = data === undefined ? 'unlimited' : `${Math.ceil(data / 1024)}`;
  const limited = ['-c', script, 'sh', `${processor}`, most, group];
  if (wall === '') return [...limited, process.execPath, ...node];
  const filter = seccompFilter() ? ['--seccomp', `${FILTER}`] : [];
  const alone = ['--unshare-all', '--hostname', 'cage', '--die-with-parent', '--new-session', '--clearenv'];
  const shown = ['--ro-bind', process.execPath, '/node', ...LIBRARIES.flatMap(path => ['--ro-bind-try', path, path])];
  const closed = ['--remount-ro', '/', '--chdir', '/', '--cap-drop', 'ALL', ...filter, '--', '/node'];
  return [...limited, wall, ...alone, ...shown, ...closed, ...node];
}

/** V8's own limits come first: they end code with a sentence, where the system's only end it. */
function flags({ memory }: SandboxLimits): string[] {
  const half = Math.max(16, Math.round(memory / 2 ** 21));
  return [
    ...[`--max-old-space-size=${half}`, '--max-semi-space-size=8', `--wasm-max-committed-code-mb=${half}`],
    ...[`--wasm-max-mem-pages=${memory >> 16}`, '--wasm-max-table-size=100000'],
  ];
}

const known = new Map<string, Promise<Means>>();

/** Tried once: an idle Node is measured, and the wall is built around one that does nothing. */
export function cageMeans(limits: SandboxLimits, bubblewrap = BUBBLEWRAP): Promise<Means> {
  const key = bubblewrap.join(':');
  const trying = known.get(key) ?? tryOut(limits, bubblewrap);
  known.set(key, trying);
  return trying;
}

async function tryOut(limits: SandboxLimits, bubblewrap: readonly string[]): Promise<Means> {
  if (process.platform !== 'linux') {
    const loose = `${process.platform} limits no memory`;
    return { idle: undefined, loose, wall: '', lacking: 'bubblewrap is for Linux' };
  }
  const [idle, wall] = await Promise.all([measureIdle(limits), tryWall(limits, bubblewrap)]);
  return { ...idle, ...wall, groups: findGroups() };
}

async function measureIdle(limits: SandboxLimits): Promise<Pick<Means, 'idle' | 'loose'>> {
  const look = `process.stdout.write(require('fs').readFileSync('/proc/self/status'))`;
  const { said, failed } = await run({ wall: '' }, [...flags(limits), '--eval', look], limits);
  const kilobytes = /^VmData:\s*(\d+) kB$/m.exec(said)?.[1];
  if (kilobytes === undefined) return { idle: undefined, loose: `a cage does not start (${failed})` };
  return { idle: Number(kilobytes) * 1024, loose: '' };
}

async function tryWall(limits: SandboxLimits, bubblewrap: readonly string[]): Promise<Pick<Means, 'wall' | 'lacking'>> {
  const wall = bubblewrap.find(path => existsSync(path));
  if (wall === undefined)
    return { wall: '', lacking: 'bubblewrap is missing; install it there (Debian, Ubuntu: apt install bubblewrap)' };
  const { failed } = await run({ wall }, [...flags(limits), '--eval', ''], limits);
  if (failed === '') return { wall, lacking: '' };
  return { wall: '', lacking: `bubblewrap does not work (${failed}); let it make user namespaces there` };
}

function run(
  means: Pick<Means, 'wall'>,
  node: readonly string[],
  { processor }: SandboxLimits,
): Promise<{ readonly said: string; readonly failed: string }> {
  return new Promise(resolve => {
    const words = cageCommand(means, node, { processor, data: undefined });
    const child = spawn('/bin/sh', words, { stdio: ['ignore', 'pipe', 'pipe', 'pipe'], env: {}, cwd: '/' });
    let said = '';
    let complained = '';
    const late = setTimeout(() => child.kill('SIGKILL'), PATIENCE);
    const done = (failed: string) => {
      clearTimeout(late);
      resolve({ said, failed });
    };
    child.stdout!.on('data', (text: Buffer) => (said += text));
    child.stderr!.on('data', (text: Buffer) => (complained += text));
    child.once('error', error => done(error.message));
    child.once('close', (code, signal) => {
      done(code === 0 ? '' : (complained.split('\n')[0] ?? '').slice(0, 200) || `it ended with ${signal ?? code}`);
    });
    const filter = child.stdio[FILTER] as Writable;
    filter.on('error', () => {}); // nobody reads it where there is no wall
    filter.end(seccompFilter());
  });
}
