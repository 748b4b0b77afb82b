/**
 * Lines to a machine that is reached through the system's ssh, so that keys, agents, jump hosts and ssh_config work as
 * the user set them up. Each line is one ssh process: it starts the crawler there, and when it breaks the next one goes
 * on. Nothing stays on the other machine after a goodbye, unless the user named a directory to keep the code in.
 *
 * It never asks for a password, and never changes what ssh checks.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Duplex, Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { SkeinError } from '../../base/errors.ts';
import { makeBundle } from '../bundle.ts';
import { joinStreams } from '../join-streams.ts';
import { checkRuntime, publishedDigest, runtimeOf } from '../runtime.ts';
import { type Loading, loaderCommand, NO_NODE, OLDEST_NODE, READY, runtimeCommand } from './loader.ts';
import type { SshTarget } from './ssh-target.ts';

export interface SshOptions {
  /** Names the spool at the far end; the same for every line of one home to one machine. */
  readonly spool: string;
  readonly software: string;
  /** The ssh to run, with options that come before all others. */
  readonly command?: readonly string[];
  /** Machines that the crawler goes on to from there. */
  readonly below?: Loading['below'];
  /** Told how many bytes of code and runtime were sent. */
  readonly sent?: (bytes: number) => void;
  /** One sentence for the user. */
  readonly say?: (text: string) => void;
}

const CONNECT_SECONDS = 15;
/** Milliseconds until the far end must have answered. */
const PATIENCE = 60_000;

type Process = ChildProcessByStdio<Writable, Readable, Readable>;

/** Starts the crawler there and returns the stream of its frames. Throws one sentence that says what is wrong. */
export async function openSsh(target: SshTarget, options: SshOptions): Promise<Duplex> {
  const bundle = makeBundle();
  const runtime = runtimeName();
  const { directory: keep } = target;
  const { spool, software, below = [] } = options;
  const command = loaderCommand({
    digest: bundle.digest,
    length: bundle.bytes.length,
    keep,
    spool,
    software,
    below,
    runtime: runtime.name,
    runtimeDigest: await publishedDigest(runtimeOf()),
  });
  const first = await attempt(target, options, command);
  if (first.answer === 'none') {
    await sendRuntime(target, options, runtime, first.far);
    const second = await attempt(target, options, command);
    if (second.answer === 'none') throw unusable(target, 'the runtime that was sent there does not run');
    return begin(second, bundle.bytes, options);
  }
  return begin(first, bundle.bytes, options);
}

interface SshGreeting {
  readonly answer: 'cached' | 'send';
  readonly child: Process;
  readonly rest: Buffer;
}

function begin({ answer, child, rest }: SshGreeting, code: Uint8Array, { sent }: SshOptions): Duplex {
  if (answer === 'send') {
    child.stdin.write(code);
    sent?.(code.length);
  }
  if (rest.length > 0) child.stdout.unshift(rest);
  const stream = joinStreams(child.stdout, child.stdin);
  stream.once('close', () => {
    // ssh ends by itself when both ends are closed; one that hangs on a dead connection is ended here.
    const timer = setTimeout(() => child.kill(), 3000);
    timer.unref();
    child.once('exit', () => clearTimeout(timer));
  });
  return stream;
}

/** One ssh process up to its first word. */
function attempt(
  target: SshTarget,
  options: SshOptions,
  command: string,
): Promise<SshGreeting | { readonly answer: 'none'; readonly far: string }> {
  const child = run(target, options, command);
  let said = '';
  let held = Buffer.alloc(0);
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4000);
  });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill(), PATIENCE);
    const settle = () => {
      clearTimeout(timer);
      child.stdout.off('data', read);
    };
    const read = (bytes: Buffer) => {
      held = Buffer.concat([held, bytes]);
      const word = firstWord(held);
      if (!word) return;
      settle();
      child.stdout.pause();
      if (word.kind === NO_NODE) return resolve({ answer: 'none', far: word.rest });
      resolve({ answer: word.rest === 'cached' ? 'cached' : 'send', child, rest: held.subarray(word.end) });
    };
    child.stdout.on('data', read);
    child.stdin.on('error', () => {}); // the exit code and standard error say it better
    child.once('error', error => {
      settle();
      reject(startError(target, error));
    });
    child.once('close', code => {
      settle();
      reject(loginError(target, code, said));
    });
  });
}

function firstWord(held: Buffer): { kind: string; rest: string; end: number } | undefined {
  for (const kind of [READY, NO_NODE]) {
    const at = held.indexOf(`\n${kind} `);
    const end = at < 0 ? -1 : held.indexOf('\n', at + 1);
    if (end >= 0) return { kind, rest: held.toString('utf8', at + kind.length + 2, end), end: end + 1 };
  }
  return undefined;
}

function run(target: SshTarget, { command = ['ssh'] }: SshOptions, far: string): Process {
  const [program, ...before] = command;
  const settings = [
    'BatchMode=yes',
    `ConnectTimeout=${CONNECT_SECONDS}`,
    'ServerAliveInterval=5',
    'ServerAliveCountMax=3',
    'ClearAllForwardings=yes',
  ];
  const port = target.port === '' ? [] : ['-p', target.port];
  const flags = settings.flatMap(setting => ['-o', setting]);
  return spawn(program!, [...before, '-T', ...flags, ...port, '--', target.destination, far], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

interface NodeRuntime {
  readonly name: string;
  /** As `uname` would write it. */
  readonly platform: string;
}

function runtimeName(): NodeRuntime {
  const systems: Readonly<Record<string, string>> = { linux: 'Linux', darwin: 'Darwin', freebsd: 'FreeBSD' };
  const machines: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' };
  const machine = machines[process.arch] ?? process.arch;
  const platform = `${systems[process.platform] ?? process.platform} ${machine}`;
  return { name: `node-${process.version}-${process.platform}-${process.arch}`, platform };
}

/** Of a Node's bytes, what is left when they are compressed: 0.37 to 0.39 with versions 22, 24 and 26. */
const COMPRESSED = 0.38;

/** Sends the Node that runs here; the other machine keeps it for the next time. `far`: its platform, and the Nodes it has. */
async function sendRuntime(target: SshTarget, options: SshOptions, runtime: NodeRuntime, far: string): Promise<void> {
  const [system = '', machine = '', ...versions] = far.split(' ').filter(word => /^[\w.-]{1,40}$/.test(word));
  const has =
    versions.length === 0 ? 'it has no Node' : `its Node is ${versions.join(' and ')}, older than ${OLDEST_NODE}`;
  if (`${system} ${machine.replace('arm64', 'aarch64')}` !== runtime.platform) {
    const why = `${has}, and a Node for ${system} ${machine} cannot be sent from here; install Node ${OLDEST_NODE} or newer there`;
    throw unusable(target, why);
  }
  const megabytes = Math.round((statSync(process.execPath).size * COMPRESSED) / 1e6);
  options.say?.(
    `The outpost ${target.url} gets the Node that runs here (${process.version}), because ${has}: about ${megabytes} MB go ` +
      `up once and stay there in ~/.cache/skein-runtime. Node ${OLDEST_NODE} or newer installed there makes it needless.`,
  );
  await checkRuntime(runtimeOf());
  const child = run(target, options, runtimeCommand(runtime.name));
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4000);
  });
  const ended = new Promise<number | null>(resolve => child.once('close', resolve));
  // Level 1: on a fast line the compression is what takes time.
  await pipeline(createReadStream(process.execPath), createGzip({ level: 1 }), child.stdin).catch(() => {
    // ssh ended early: its exit code says why
  });
  const code = await ended;
  options.sent?.((child.stdin as Socket).bytesWritten);
  if (code !== 0) throw loginError(target, code, said);
}

function startError(target: SshTarget, error: Error): SkeinError {
  const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
  return unusable(target, missing ? 'ssh is not installed on this machine' : error.message);
}

/** What ssh wrote to standard error, as one sentence. */
function loginError(target: SshTarget, code: number | null, said: string): SkeinError {
  const lines = said
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '' && !/^(Warning:|debug\d|\*\*)/.test(line));
  const last = lines.findLast(line => /denied|refused|verification|resolve|timed out|No route|closed/i.test(line));
  const why = last ?? lines.at(-1) ?? `ssh ended with code ${code}`;
  return unusable(target, why.replace(/\.$/, '').slice(0, 300));
}

function unusable(target: SshTarget, why: string): SkeinError {
  return new SkeinError('refused', `The outpost ${target.url} cannot be used: ${why}.`);
}

/** Name of the spool of one home at one machine. */
export function spoolName(homeKey: string, url: string): string {
  return hash('sha256', `${homeKey} ${url}`).slice(0, 24);
}
