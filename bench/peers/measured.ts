/** Runs a command and says what it cost: wall time, CPU of its whole process tree, and the tree's peak memory. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface Cost {
  readonly seconds: number;
  /** User and system time of the process and of all it waited for. */
  readonly cpuSeconds: number;
  /** Highest sum of resident memory over the tree, sampled 20 times a second. */
  readonly peakMegabytes: number;
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Run {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly directory: string;
}

/** Milliseconds after which a run is ended and counts as failed. */
const LIMIT = 5 * 60_000;

export function measure(run: Run): Promise<Cost> {
  // The shell's `times` reports the CPU of its children after the last of them ended, which no sampling could.
  const script = '"$@"; code=$?; times >&3; exit $code';
  const start = performance.now();
  const child = spawn('bash', ['-c', script, 'bench', run.command, ...run.arguments], {
    cwd: run.directory,
    env: { ...process.env, ...run.environment },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const texts = ['', '', '', ''];
  for (const number of [1, 2, 3]) {
    child.stdio[number]!.on('data', (data: Buffer) => {
      // Some peers print a line per page: the end of it is enough.
      texts[number] = (texts[number] + data.toString()).slice(-200_000);
    });
  }
  let peak = 0;
  const sample = setInterval(() => {
    peak = Math.max(peak, treeMemory(child.pid!));
  }, 50);
  const end = () => process.kill(-child.pid!, 'SIGKILL');
  const limit = setTimeout(end, LIMIT);
  process.once('SIGINT', end).once('SIGTERM', end);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', code => {
      clearInterval(sample);
      clearTimeout(limit);
      process.off('SIGINT', end).off('SIGTERM', end);
      resolve({
        seconds: (performance.now() - start) / 1000,
        cpuSeconds: cpuOf(texts[3]!),
        peakMegabytes: peak / 1e6,
        code: code ?? 1,
        stdout: texts[1]!,
        stderr: texts[2]!,
      });
    });
  });
}

/** Second line of `times`: user and system time of the children, as `1m2.345s 0m0.678s`. */
function cpuOf(times: string): number {
  const line = times.trim().split('\n')[1] ?? '';
  let seconds = 0;
  for (const [, minutes, rest] of line.matchAll(/(\d+)m([\d.]+)s/g)) seconds += Number(minutes) * 60 + Number(rest);
  return seconds;
}

/** Resident bytes of a process and its descendants. */
function treeMemory(process: number): number {
  try {
    const pages = Number(readFileSync(`/proc/${process}/statm`, 'latin1').split(' ')[1]);
    const children = readFileSync(`/proc/${process}/task/${process}/children`, 'latin1').trim();
    let bytes = pages * 4096;
    if (children !== '') for (const child of children.split(' ')) bytes += treeMemory(Number(child));
    return bytes;
  } catch {
    return 0; // it ended between two reads
  }
}
