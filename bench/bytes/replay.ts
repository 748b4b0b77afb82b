/** The recorded sites, served day by day on loopback by the script that comes with them, which counts every byte. */

import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { DAY } from '../../src/base/clock.ts';
import { normalise } from '../../src/base/url.ts';
import { type Entry, entriesOf, histories, truthOf } from '../histories.ts';

/** Midnight before day 0 by the clock of the recorded servers. */
const START = Date.UTC(2025, 0, 6);

export interface Traffic {
  readonly bytes: number;
  readonly requests: number;
  /** Bytes by host. */
  readonly sites: ReadonlyMap<string, number>;
}

export interface Replay {
  /** Where each site is served, by its host. */
  readonly origins: ReadonlyMap<string, string>;
  /** Normalised URL of each HTML page of a day. */
  urlsOf(day: number): readonly string[];
  setDay(day: number): Promise<void>;
  /** Bytes both ways since the last call. */
  traffic(): Promise<Traffic>;
  stop(): Promise<void>;
}

/** Time of the servers when they serve a day: its end. */
export const timeOf = (day: number): number => START + (day + 1) * DAY;
export const dayOf = (time: number): number => Math.floor((time - START) / DAY) - 1;

/** How the sites are served. */
export interface Served {
  /** How many of the recorded sites take part, or which; all of them for 0. */
  readonly sites: number | readonly string[];
  /** Which validators the servers send, in the words of the script; true ones unless said. */
  readonly profile?: string;
  /** Share of the sites that send none. */
  readonly noValidators?: number;
  readonly sitemap?: boolean;
}

export async function startReplay(port: number, served: Served): Promise<Replay> {
  choose(served.sites);
  const data = fileURLToPath(histories);
  const control = `http://127.0.0.1:${port + 1}`;
  const child = spawn(process.execPath, [
    `${data}replay.mjs`,
    ...['--data', data, '--port', String(port), '--control', String(port + 1), '--site-ports', String(port + 2)],
    '--rewrite',
    ...(served.sitemap === false ? [] : ['--sitemap']),
    ...(served.profile === undefined ? [] : ['--profile', served.profile]),
    ...(served.noValidators === undefined ? [] : ['--no-validators', String(served.noValidators)]),
  ]);
  await ready(child);
  // A connection of its own each time: the script closes those that idle, sometimes in the middle of a question.
  const ask = (path: string, method = 'GET') =>
    fetch(`${control}${path}`, { method, headers: { connection: 'close' } });
  const sites = (await (await ask('/sites')).json()) as { host: string; port: number }[];
  const origins = new Map(sites.map(site => [site.host, `http://127.0.0.1:${site.port}`]));
  const post = (path: string) => ask(path, 'POST');
  return {
    origins,
    urlsOf: day => pagesOf(day).map(page => normalise(`${origins.get(page.s)}${page.u}`)!),
    async setDay(day) {
      await post(`/day?set=${day}`);
      await post('/stats/reset');
    },
    async traffic() {
      const stats = (await (await ask('/stats')).json()) as Stats;
      await post('/stats/reset');
      const each = Object.entries(stats.sites);
      return {
        bytes: stats.totalBytes,
        requests: each.reduce((sum, [, site]) => sum + site.requests, 0),
        sites: new Map(each.map(([host, site]) => [host, site.inBytes + site.outBytes])),
      };
    },
    async stop() {
      await post('/quit');
      child.kill();
    },
  };
}

interface Stats {
  readonly totalBytes: number;
  readonly sites: Readonly<
    Record<string, { readonly requests: number; readonly inBytes: number; readonly outBytes: number }>
  >;
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.stdout!.once('data', () => resolve());
    child.once('error', reject);
    child.once('exit', code => reject(new Error(`the replay server ended with ${code}`)));
    child.stderr!.on('data', (text: Buffer) => process.stderr.write(text));
  });
}

const known = new Map<number, readonly Entry[]>();
/** Hosts that take part. */
let chosen = new Set<string>();

function choose(sites: Served['sites']): void {
  const hosts = [...new Set(entriesOf(0).map(entry => entry.s))].sort();
  chosen = new Set(typeof sites === 'number' ? hosts.slice(0, sites || hosts.length) : sites);
  known.clear();
}

export function pagesOf(day: number): readonly Entry[] {
  let pages = known.get(day);
  if (!pages) {
    pages = entriesOf(day).filter(entry => chosen.has(entry.s) && entry.ct.startsWith('text/html'));
    known.set(day, pages);
  }
  return pages;
}

/** Pages of a day, and those of them that are fresh. */
export interface Fresh {
  readonly pages: number;
  readonly all: number;
  /** Leaving out edits that many pages share, such as a new menu. */
  readonly own: number;
}

/** A change by the labels: the day, and whether many pages share it. */
export interface Labelled {
  readonly day: number;
  readonly shared: boolean;
}

/**
 * Which pages are fresh, by the labels: a copy of day V is fresh on day D when no day between changed what a reader
 * sees. Markup and images are left out, as truth-rule.md advises for markup and because images are not fetched here.
 */
export class Freshness {
  readonly #changes = new Map<string, Labelled[]>();

  constructor(days: number) {
    for (let day = 1; day <= days; day++) {
      for (const { s, u, c, sub, shared = false } of truthOf(day)) {
        const content = c === 'text' || c === 'added' || (c === 'structure' && !sub?.includes('markup'));
        if (content) this.#changes.set(s + u, [...(this.#changes.get(s + u) ?? []), { day, shared }]);
      }
    }
  }

  changesOf({ s, u }: Pick<Entry, 's' | 'u'>): readonly Labelled[] {
    return this.#changes.get(s + u) ?? [];
  }

  /** By host. `copies`: day of the copy of each page, by its place in pagesOf(). */
  on(day: number, copies: (index: number) => number | undefined): Map<string, Fresh> {
    const sites = new Map<string, { pages: number; all: number; own: number }>();
    pagesOf(day).forEach((page, index) => {
      const site = sites.get(page.s) ?? { pages: 0, all: 0, own: 0 };
      sites.set(page.s, site);
      site.pages++;
      const copy = copies(index);
      if (copy === undefined) return;
      const missed = this.changesOf(page).filter(change => change.day > copy && change.day <= day);
      if (missed.length === 0) site.all++;
      if (missed.every(change => change.shared)) site.own++;
    });
    return sites;
  }
}
