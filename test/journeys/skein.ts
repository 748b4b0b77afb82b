/**
 * Skein as its users meet it: the command line as a process of its own, and, where a test must reach inside (short time
 * limits, a fetcher that lies), the same home in this process.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openHome } from '../../src/cli/options/engine-options.ts';
import { fetchOptions, values } from '../../src/cli/options/options.ts';
import type { Extras } from '../../src/engine/options.ts';
import { type Summary, summaryOf } from '../../src/engine/summary.ts';
import { findPage, type LookedUpPage } from '../../src/home/answers/lookup.ts';
import { openCopiesHere } from '../../src/home/copies/copies.ts';
import { crawlSupply } from '../../src/home/supply.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { ledgerOf, onlyLedger, withPartitions, withPartitionsSet } from './how-many-partitions.ts';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const door = join(root, 'bin', 'skein.js');

/** What a crawl of loopback needs: no delay, private addresses. */
export const fast = ['--allow-private', '--pace', '0'] as const;

export interface Ran {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ran>;
  /** Resolves when standard error has said this. */
  says(text: string): Promise<void>;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly input?: string;
  /** Arguments for Node itself, which its threads inherit. */
  readonly node?: readonly string[];
  /** A command that runs it: `ip netns exec …`. */
  readonly within?: readonly string[];
}

/** A test that fails half-way leaves nobody behind. */
const started = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of started) child.kill('SIGKILL');
});

/** Starts `skein` with these arguments and does not wait. */
export function start(args: readonly string[], options: RunOptions = {}): Running {
  const [command, ...words] = [
    ...(options.within ?? []),
    process.execPath,
    ...(options.node ?? []),
    door,
    ...withPartitionsSet(args),
  ];
  const child = spawn(command!, words, {
    cwd: options.cwd ?? root,
    stdio: 'pipe',
  });
  started.add(child);
  child.once('close', () => started.delete(child));
  const stdout: Buffer[] = [];
  let stderr = '';
  const listeners = new Set<() => void>();
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk;
    for (const listener of listeners) listener();
  });
  // A command that does not read its input closes it early, which is no failure of the test.
  child.stdin.on('error', () => {});
  child.stdin.end(options.input ?? '');
  const ended = new Promise<Ran>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, stdout: Buffer.concat(stdout), stderr }));
  });
  const says = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (!stderr.includes(text)) return;
        listeners.delete(look);
        resolve();
      };
      listeners.add(look);
      void ended.then(() => reject(new Error(`it ended without saying "${text}": ${stderr}`)), reject);
      look();
    });
  return { child, ended, says };
}

/** Runs `skein` to its end. */
export function skein(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return start(args, options).ended;
}

/** Runs a command with --json that must succeed, and reads what it printed. */
export async function skeinJson<T = Record<string, unknown>>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await skein([...args, '--json']);
  if (code !== 0) throw new Error(`skein ${args.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout.toString().trim().split('\n').at(-1)!) as T;
}

export interface PageLine {
  readonly url: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly status: number | null;
  readonly type: string | null;
  readonly bytes: number | null;
  readonly depth: number;
  readonly title: string | null;
}

/** Every page that the collection knows, by URL, as `skein pages` says it. */
export async function pagesOf(data: string, ...more: string[]): Promise<Map<string, PageLine>> {
  const { code, stdout, stderr } = await skein(['pages', '--data', data, '--limit', '1000000', '--json', ...more]);
  if (code !== 0) throw new Error(`skein pages ended with ${code}: ${stderr}`);
  const lines = stdout.toString().split('\n').filter(Boolean);
  return new Map(lines.map(line => JSON.parse(line) as PageLine).map(page => [page.url, page]));
}

/** URLs whose body was collected, sorted. */
export function collected(pages: ReadonlyMap<string, PageLine>): string[] {
  return [...pages.values()]
    .filter(({ outcome }) => outcome === 'fetched' || outcome === 'same')
    .map(({ url }) => url)
    .sort();
}

export interface Look extends Disposable {
  page(url: string): LookedUpPage;
  /** URL of a page by its number, undefined = no such page. */
  url(id: number | null | undefined): string | undefined;
  body(url: string): Uint8Array;
}

/** What the commands read, without a process for each question. */
export function lookInto(data: string): Look {
  const at = <T>(ledger: Ledger, look: (ledger: Ledger) => T): T => {
    try {
      return look(ledger);
    } finally {
      ledger.close();
    }
  };
  return {
    page: url => at(ledgerOf(data, url), ledger => findPage(ledger, url)),
    url: id => (id ? at(onlyLedger(data), ledger => ledger.pages.get(id)?.url) : undefined),
    body: url =>
      at(ledgerOf(data, url), ledger => {
        const copies = openCopiesHere(ledger);
        const { bytes } = copies.newest(findPage(ledger, url).known!)!.decoded();
        copies.close();
        return bytes;
      }),
    [Symbol.dispose]() {},
  };
}

/** A directory that goes away with the test. */
export function workplace(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'skein-journey-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** The crawl of `skein crawl` in this process, with what only tests may change. */
export async function crawlHere(
  given: Record<string, unknown>,
  seeds: readonly string[],
  extras: Extras & { readonly patience?: number } = {},
): Promise<Summary> {
  const chosen = await values(withPartitions({ pace: 0, allowPrivate: true, ...given }), fetchOptions);
  const opened = await openHome(chosen, seeds, extras);
  try {
    await opened.ready();
    await opened.run(crawlSupply(opened, extras.patience ?? 0));
    return summaryOf(opened, false);
  } finally {
    await opened.close();
  }
}
