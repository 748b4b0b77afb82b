/** Peers of a cluster as processes on loopback, with one nats-server: what tests and benches share. */
import assert from 'node:assert/strict';
import { existsSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { type Nats, openNats } from '../cluster/nats.ts';
import type { Web } from '../web/web.ts';
import { checkBooks, pause } from './kills.ts';
import { type Line, openLine } from './line.ts';
import { type Ran, type Running, start } from './skein.ts';

export interface RunningPeer {
  readonly name: string;
  readonly data: string;
  readonly running: Running;
  /** To the engine, where lines were asked for. */
  readonly line: Line | undefined;
}

export interface ClusterOptions {
  readonly servers?: 1 | 3;
  /** Peers reach an engine of one server by lines that can be cut; with three, the client goes to another one by itself. */
  readonly lines?: boolean;
  /** Address of the engine; loopback by default. */
  readonly host?: string;
}

export interface Cluster extends AsyncDisposable {
  readonly nats: Nats;
  readonly peers: RunningPeer[];
  /** Starts a peer, and waits until it has joined. Seeds and options of the crawl are the first one's. `within`: runs it. */
  join(name: string, args?: readonly string[], command?: string, within?: readonly string[]): Promise<RunningPeer>;
  /** Waits until the others have ended, each with 0; returns what they printed. */
  ended(but?: readonly RunningPeer[]): Promise<Ran[]>;
}

export async function openCluster({ servers = 1, lines = false, host }: ClusterOptions = {}): Promise<Cluster> {
  const nats = await openNats({ servers, ...(host !== undefined && { host }) });
  const root = mkdtempSync(join(tmpdir(), 'skein-peers-'));
  const peers: RunningPeer[] = [];
  return {
    nats,
    peers,
    async join(name, args = [], command = 'crawl', within = []) {
      const data = join(root, name);
      const line = lines && servers === 1 ? await openLine(nats.servers[0]!.port) : undefined;
      const engine = line ? `nats://127.0.0.1:${line.port}` : nats.url;
      const words = [command, ...args, '--data', data, '--engine', engine, '--peer', name, '--json'];
      const running = start(words, { within });
      const peer = { name, data, running, line };
      peers.push(peer);
      await running.says(`This is ${name}, a peer of`);
      return peer;
    },
    async ended(but = []) {
      const waited = peers.filter(peer => !but.includes(peer));
      const ran = await Promise.all(waited.map(({ running }) => running.ended));
      for (const [i, { code, stderr }] of ran.entries()) assert.equal(code, 0, `${waited[i]!.name}: ${stderr}`);
      return ran;
    },
    async [Symbol.asyncDispose]() {
      for (const { running, line } of peers) {
        running.child.kill('SIGKILL');
        await running.ended;
        await line?.[Symbol.asyncDispose]();
      }
      await nats[Symbol.asyncDispose]();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** Resolves when so many requests have come. */
export async function requests(web: Web, count: number): Promise<void> {
  while (web.requests() < count) await pause(20);
}

export interface Stored {
  readonly url: string;
  readonly outcome: string;
  /** Where it was found: peer and partition. */
  readonly places: string[];
}

/** All pages that the peers have visited, by URL, with how the last visit ended. */
export function visited(peers: readonly RunningPeer[]): Map<string, Stored> {
  const found = new Map<string, Stored>();
  for (const { name, data } of peers) {
    for (const file of globSync(join(data, 'partitions', '*', 'ledger.db'))) {
      for (const { url, outcome } of knownIn(file)) {
        const places = [...(found.get(url)?.places ?? []), `${name} ${file}`];
        found.set(url, { url, outcome, places });
      }
    }
  }
  return found;
}

function knownIn(file: string): Omit<Stored, 'places'>[] {
  try {
    using opened = new DisposableStack();
    const database = opened.adopt(new DatabaseSync(file, { readOnly: true, timeout: 5000 }), each => each.close());
    return database.prepare('SELECT url, outcome FROM known JOIN pages ON id = page').all() as never;
  } catch (error) {
    if (!existsSync(file)) return []; // it went to another peer meanwhile
    if (/no such table/.test((error as Error).message)) return []; // it is being made
    throw error;
  }
}

/** Every partition of every peer is in order, pages and all. */
export async function checkAllBooks(peers: readonly RunningPeer[], when: string): Promise<void> {
  for (const { name, data } of peers) {
    for (const directory of globSync(join(data, 'partitions', '*')))
      if (existsSync(join(directory, 'ledger.db'))) await checkBooks(directory, `${name} ${directory} ${when}`);
  }
}

export interface Spacing {
  /** Milliseconds between the starts of two requests. */
  readonly pace: number;
  /** What of a URL shares the pace: its server, or its address. */
  readonly of: 'origin' | 'hostname';
}

/**
 * How far requests came too close, in milliseconds: the most by which any of them came before the pace let it, counted from
 * each one before it. Two machines that ask one server show as about half of a pace for each request that is too many.
 */
export function tooEarly(web: Web, { pace, of }: Spacing): number {
  const times = new Map<string, number[]>();
  for (const { url, time } of web.log) {
    const key = new URL(url)[of];
    times.set(key, [...(times.get(key) ?? []), time]);
  }
  let most = Number.NEGATIVE_INFINITY;
  for (const each of times.values()) {
    each.sort((a, b) => a - b);
    // The latest moment that those before it, each at its own, allow: a running maximum of time minus number of paces.
    let latest = Number.NEGATIVE_INFINITY;
    for (const [i, time] of each.entries()) {
      most = Math.max(most, latest - (time - i * pace));
      latest = Math.max(latest, time - i * pace);
    }
  }
  return most;
}

/** How long this process was held up at most: a request may have come so much earlier than its log says. Milliseconds. */
export class Observer {
  readonly #delays = monitorEventLoopDelay({ resolution: 5 });

  constructor() {
    this.#delays.enable();
  }

  get heldUp(): number {
    return this.#delays.max / 1e6;
  }
}
