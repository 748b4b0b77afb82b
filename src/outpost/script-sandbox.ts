/**
 * A cage for JavaScript: a process of its own. Bubblewrap takes away the network, all files but Node's own and sight of
 * other processes; Node's permission model with nothing granted stands behind that; memory, processor time and the time
 * for one page are limited. The code gets pages on standard input and answers on standard output.
 *
 * Without bubblewrap it is refused, unless the owner of the machine takes the permission model alone as good enough.
 *
 * The module's default export is called with each page and returns `{ keep, follow, relevance }`; `wants` says what of
 * the page it is shown besides the facts.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { SkeinError } from '../base/errors.ts';
import {
  type Cage,
  type CageEvents,
  misbehaved,
  type OpenCage,
  type SandboxLimits,
  STARTING,
  wantsOrder,
} from './decider.ts';
import { RUNNER } from './script-runner.ts';

export interface ScriptOptions {
  readonly limits: SandboxLimits;
  /** The owner said that Node's permission model alone is enough. */
  readonly weak: boolean;
  /** Where bubblewrap is; default: where Linux has it. */
  readonly bubblewrap?: string;
}

const BUBBLEWRAP = '/usr/bin/bwrap';
const PRLIMIT = '/usr/bin/prlimit';
const LIBRARIES = ['/lib', '/lib64', '/usr/lib', '/usr/lib64'];
/** Bytes of data that Node takes before any code runs, with room for its threads' stacks. */
const NODE_DATA = 512 << 20;
/** An answer is a byte with the bits of the verdict behind this mark, and a byte of relevance. */
const MARK = 64;

export function scriptCage(code: Uint8Array, options: ScriptOptions): OpenCage {
  return async events => openProcess(code, options, events);
}

function openProcess(code: Uint8Array, options: ScriptOptions, events: CageEvents): Promise<Cage> {
  const child = startProcess(options);
  return new Promise((resolve, reject) => {
    const closed = new Promise<void>(done => child.once('close', () => done()));
    const end = (why: string) => {
      clearTimeout(late);
      child.kill('SIGKILL');
      reject(misbehaved(why)); // of no effect once it has started
      events.ended(why);
    };
    const late = setTimeout(() => end('it takes too long to start'), options.limits.time + STARTING);
    let started = false;
    readAnswers(child.stdout, end, (bits, byte) => {
      if (started) return events.answer(byte | (bits << 8));
      started = true;
      clearTimeout(late);
      resolve({
        wants: wantsOrder[byte] ?? 'facts',
        show: pages => send(child.stdin, pages),
        peek: () => {}, // nothing is held back
        async close() {
          child.kill('SIGKILL');
          await closed;
        },
      });
    });
    const said = hear(child.stderr);
    child.stdin.on('error', () => {}); // it has ended: `close` says how
    child.once('error', error => end(error.message));
    child.once('close', (status, signal) => end(reasonOf(said()) || `its process ended (${signal ?? status})`));
    send(child.stdin, code);
  });
}

/** Whatever is not an answer was written by the code, which has nothing to write. */
function readAnswers(
  output: Readable,
  end: (why: string) => void,
  answer: (bits: number, relevance: number) => void,
): void {
  let first = -1;
  output.on('data', (bytes: Buffer) => {
    for (const byte of bytes) {
      if (first >= 0) {
        answer(first, byte);
        first = -1;
      } else if (byte >= MARK && byte < MARK + 4) first = byte - MARK;
      else return end('it wrote to standard output');
    }
  });
}

function hear(errors: Readable): () => string {
  let said = '';
  errors.on('data', (data: Buffer) => {
    said = (said + data.toString()).slice(-4000);
  });
  return () => said;
}

function send(input: Writable, message: Uint8Array): void {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(message.length);
  input.cork();
  input.write(head);
  input.write(message);
  input.uncork();
}

function startProcess({
  limits,
  weak,
  bubblewrap = BUBBLEWRAP,
}: ScriptOptions): ChildProcessByStdio<Writable, Readable, Readable> {
  const walled = existsSync(bubblewrap);
  if (!walled && !weak) {
    throw new SkeinError(
      'refused',
      'JavaScript from elsewhere is not run here: bubblewrap is missing.',
      'Install it, send WebAssembly instead, or join with --weak-sandbox.',
    );
  }
  const node = [
    walled ? '/node' : process.execPath,
    '--permission',
    `--max-old-space-size=${Math.max(16, Math.round(limits.memory / 2 ** 21))}`,
    '--input-type=module',
    '--eval',
    RUNNER,
  ];
  const libraries = LIBRARIES.flatMap(path => ['--ro-bind-try', path, path]);
  const wall = [bubblewrap, '--unshare-all', '--die-with-parent', '--new-session', '--clearenv'];
  const binds = ['--ro-bind', process.execPath, '/node', ...libraries, '--'];
  // Buffers lie outside the heap that Node limits; --data counts them, and with them what Node itself takes.
  const data = limits.memory + NODE_DATA;
  const limited = existsSync(PRLIMIT) ? [PRLIMIT, `--data=${data}`, `--cpu=${limits.processor}`, '--core=0', '--'] : [];
  const [command, ...words] = [...limited, ...(walled ? [...wall, ...binds] : []), ...node];
  return spawn(command!, words, { stdio: ['pipe', 'pipe', 'pipe'], env: {}, cwd: '/' });
}

/** The line of standard error that says what it was. */
function reasonOf(said: string): string {
  const line = /^(?:\w*Error.*|FATAL ERROR.*|bwrap: .*)$/m.exec(said)?.[0] ?? '';
  return line.replace(/^Error: (?=it )/, '').slice(0, 200);
}
