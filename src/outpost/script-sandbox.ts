/**
 * Runs a decider in JavaScript, in a process of its own: bubblewrap takes away the network, all files but Node's own and
 * sight of other processes; Node's permission model with nothing granted stands behind that; memory, processor time and
 * the time for one page are limited. The code gets pages as frames on standard input and answers on standard output.
 *
 * Without bubblewrap it is refused, unless the owner of the machine takes the permission model alone as good enough.
 *
 * The module's default export is called with `{ url, status, headers, body }` and returns `{ keep, changed }`.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { SkeinError } from '../base/errors.ts';
import { Asking } from './asking.ts';
import { type Decider, decisionOf, encodePage, type SandboxLimits } from './decider.ts';

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

/**
 * What the process runs before the code comes. The code is a `data:` URL, so that no file has to be readable. Standard
 * output is taken before the code can write there; an answer is one byte of decision behind a mark.
 */
const RUNNER = `
const { stdin, stdout } = process;
const answer = stdout.write.bind(stdout);
let held = Buffer.alloc(0), decide;
const taken = async frame => {
  if (!decide) {
    decide = (await import('data:text/javascript;base64,' + frame.toString('base64'))).default;
    if (typeof decide !== 'function') throw new Error('it has no default export that is a function');
    return 0;
  }
  const line = frame.indexOf(10);
  const page = JSON.parse(frame.subarray(0, line).toString());
  const { keep, changed } = (await decide({ ...page, body: frame.subarray(line + 1) })) ?? {};
  return (keep ? 1 : 0) | (changed ? 2 : 0);
};
for await (const piece of stdin) {
  held = held.length === 0 ? piece : Buffer.concat([held, piece]);
  while (held.length >= 4 && held.length >= 4 + held.readUInt32LE(0)) {
    const frame = held.subarray(4, 4 + held.readUInt32LE(0));
    held = held.subarray(4 + frame.length);
    answer(String.fromCharCode(97 + (await taken(frame))));
  }
}`;

export async function openScript(bytes: Uint8Array, options: ScriptOptions): Promise<Decider> {
  const child = startProcess(options);
  const { limits } = options;
  const asking = new Asking(() => child.kill('SIGKILL'));
  let said = '';
  child.stdout.on('data', (data: Buffer) => {
    for (const byte of data) {
      if (byte < 97 || byte > 100) return asking.end('it wrote to standard output');
      asking.answer(byte - 97);
    }
  });
  child.stderr.on('data', (data: Buffer) => {
    said = (said + data.toString()).slice(-2000);
  });
  child.stdin.on('error', () => {}); // it has ended: `close` says how
  child.once('error', error => asking.end(error.message));
  child.once('close', (code, signal) => asking.end(reasonOf(said) || `its process ended (${signal ?? code})`));
  const ask = (message: Uint8Array, time: number) =>
    asking.ask(() => {
      const head = Buffer.alloc(4);
      head.writeUInt32LE(message.length);
      child.stdin.write(head);
      child.stdin.write(message);
    }, time);
  await ask(bytes, limits.time + 10_000); // Node takes a while to start
  return {
    decide: async page => decisionOf(await ask(encodePage(page), limits.time)),
    close: async () => {
      const ended = new Promise(resolve => child.once('close', resolve));
      const alive = child.exitCode === null && child.signalCode === null;
      asking.end('it was closed');
      if (alive) await ended;
    },
  };
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
      'Install it, send WebAssembly instead, or start the outpost with --weak-sandbox.',
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

/** Bytes of data that Node takes before any code runs, with room for its threads' stacks. */
const NODE_DATA = 512 << 20;

/** The line of an uncaught error that says what it was. */
function reasonOf(said: string): string {
  return /^(?:\w*Error.*|FATAL ERROR.*)$/m.exec(said)?.[0].slice(0, 200) ?? '';
}
