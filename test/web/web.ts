/**
 * The synthetic web: real HTTP servers on loopback whose pages, links, changes and lies are all made from one seed, and
 * whose truth can be asked for. Every test of crawling stands on it.
 *
 *   const clock = movableClock();
 *   await using web = await openWeb({ seed: 7, servers: 3, pagesPerServer: 50, clock, rates: [0, 0.2, 5],
 *                                     noise: ['csrf', 'ad'], features: ['redirects', 'traps'] });
 *   crawl(web.seeds) …
 *   web.mustFind()                     URLs that a complete, polite crawl of pages ends with
 *   web.truth()                        every URL with what becomes of it: page, moved, gone, refused, failed
 *   web.page(url)!.content!.changes(a, b)   content changes of a page between two times; noise is never among them
 *   await clock.advance(DAY)           pages change as their Poisson processes say
 *   web.redesign()                     new template everywhere, same content
 *   web.fault(url, 'drip')             one URL misbehaves; a bare origin means all of its URLs, robots.txt included
 *   await web.hold(20), web.release()  a moment that lasts: twenty more requests are answered, and no other until then
 *   web.log, web.requests(url)         what was asked for, when, with which status and bytes
 *
 * It never needs the internet, never waits in its own clock's time, and two webs of the same options serve the same
 * bytes but for the port numbers. What each option means stands in options.ts; what each feature holds, at its top.
 */

import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { articles } from './article.ts';
import type { Fault } from './faults.ts';
import { alternating, charsets, duplicates, variants } from './features/copies.ts';
import { errors, softNotFound } from './features/errors.ts';
import { redirects } from './features/redirects.ts';
import { directives, robotsRules } from './features/rules.ts';
import { sitemaps } from './features/sitemaps.ts';
import { traps } from './features/traps.ts';
import type { Feature, WebOptions } from './options.ts';
import { defaults } from './options.ts';
import type { Desk, LogLine } from './server.ts';
import { answer, find } from './server.ts';
import type { Door, Entry, Site, Wing } from './site.ts';
import { reply } from './site.ts';

export { movableClock, START } from './clock.ts';
export { FAULTS } from './faults.ts';
export { FEATURES } from './options.ts';

/** An entry of the web with its absolute URL. */
export type Truth = Entry & { readonly url: string };

export interface Web extends AsyncDisposable {
  /** Root of server 0: all else can be reached from it. */
  readonly seeds: readonly string[];
  readonly origins: readonly string[];
  readonly log: readonly LogLine[];
  /** What is true of a URL; undefined = it does not exist. */
  page(url: string): Truth | undefined;
  truth(): readonly Truth[];
  /** URLs with `expect: 'page'` that links or sitemaps lead to, sorted. Pictures are not among them. */
  mustFind(): readonly string[];
  /** Requests for a URL so far, or in all. */
  requests(url?: string): number;
  /** `times`: heals by itself after so many requests. */
  fault(url: string, fault: Fault, times?: number): void;
  heal(url: string): void;
  /** Answers so many more requests, and then none; resolves when the last of them has come. */
  hold(more: number): Promise<void>;
  /** Answers again. Those that came meanwhile are cut off: whoever asked is gone. */
  release(): void;
  /** From now on every page has a new template. */
  redesign(): void;
  close(): Promise<void>;
}

const WINGS: Readonly<Record<Feature, (site: Site) => Wing>> = {
  redirects,
  errors,
  'soft-404': softNotFound,
  robots: robotsRules,
  directives,
  sitemaps,
  traps,
  duplicates,
  alternating,
  charsets,
  variants,
};

export async function openWeb(given: Partial<WebOptions> = {}): Promise<Web> {
  const options: WebOptions = { ...defaults, ...given };
  const servers = Array.from({ length: options.servers }, () => createServer({ keepAliveTimeout: 30_000 }));
  const { addresses, network } = options;
  const origins = await Promise.all(
    servers.map((server, number) => listen(server, addresses ? addressOf(network, number) : '127.0.0.1')),
  );
  const start = options.clock.now();
  const design = { count: 0, time: start };
  const log: LogLine[] = [];
  const counts = new Map<string, number>();
  const faults = new Map<string, { fault: Fault; times: number }>();
  const gate = makeGate();
  let total = 0;

  const faultOf = (url: string): Fault | undefined => {
    const key = faults.has(url) ? url : new URL(url).origin;
    const found = faults.get(key);
    if (found === undefined) return undefined;
    if (--found.times <= 0) faults.delete(key);
    return found.fault;
  };
  const record = (line: LogLine): void => {
    total++;
    if (options.keepLog) log.push(line);
  };
  const desks = origins.map((origin, server): Desk => {
    const site: Site = { options, server, origin, origins, start, design };
    return { site, ...furnish(site), counts, fault: faultOf, record, open: 0 };
  });
  servers.forEach((server, number) => {
    server.on('request', (request, response) => {
      if (gate.pass(request.socket)) void answer(desks[number]!, request, response);
    });
  });

  const truth = (): Truth[] =>
    desks.flatMap(desk => [...desk.exact.values()].map(entry => ({ ...entry, url: desk.site.origin + entry.path })));
  const close = async (): Promise<void> => {
    for (const server of servers) server.closeAllConnections();
    await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))));
  };
  return {
    seeds: [`${origins[0]}/`],
    origins,
    log,
    page: url => {
      const desk = desks[origins.indexOf(new URL(url).origin)];
      const entry = desk && find(desk, url.slice(desk.site.origin.length));
      return entry && { ...entry, url };
    },
    truth,
    mustFind: () =>
      truth()
        .filter(({ expect, found }) => expect === 'page' && (found === 'links' || found === 'sitemap'))
        .map(({ url }) => url)
        .sort(),
    requests: url => (url === undefined ? total : (counts.get(url) ?? 0)),
    fault: (url, fault, times = Number.POSITIVE_INFINITY) => void faults.set(url, { fault, times }),
    heal: url => void faults.delete(url),
    hold: gate.hold,
    release: gate.release,
    redesign: () => {
      design.count++;
      design.time = options.clock.now();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Lets requests through, all of them or so many more. */
function makeGate() {
  const held = new Set<Socket>();
  let left = Number.POSITIVE_INFINITY;
  let reached = () => {};
  return {
    pass(socket: Socket): boolean {
      if (left === 0) {
        held.add(socket);
        return false;
      }
      if (--left === 0) reached();
      return true;
    },
    hold(more: number): Promise<void> {
      left = more;
      return new Promise(resolve => {
        reached = resolve;
      });
    },
    release(): void {
      left = Number.POSITIVE_INFINITY;
      for (const socket of held) socket.destroy();
      held.clear();
    },
  };
}

/** All entries of one server, by path. */
function furnish(site: Site): Pick<Desk, 'exact' | 'prefixes'> {
  const wings = site.options.features.map(feature => WINGS[feature](site));
  const doors: Door[] = wings.flatMap(wing => wing.doors);
  const all = [...articles(site, doors), robotsFile(site, wings), ...wings.flatMap(wing => wing.entries)];
  return {
    exact: new Map(all.filter(({ path }) => !path.endsWith('*')).map(entry => [entry.path, entry])),
    prefixes: all.filter(({ path }) => path.endsWith('*')),
  };
}

function robotsFile(site: Site, wings: readonly Wing[]): Entry {
  const { crawlDelay } = site.options;
  const lines = ['User-agent: *', ...wings.flatMap(wing => wing.robots ?? ['Disallow:'])];
  if (crawlDelay > 0) lines.push(`Crawl-delay: ${crawlDelay}`);
  lines.push('', ...wings.flatMap(wing => wing.outside ?? []), '');
  return {
    path: '/robots.txt',
    expect: 'page',
    found: 'unlinked',
    reply: () => reply(200, lines.join('\n'), { 'content-type': 'text/plain' }),
  };
}

/** Each server its own. */
function addressOf(network: string, number: number): string {
  return `${network}.${10 + Math.floor(number / 250)}.${1 + (number % 250)}`;
}

/** Returns the origin. */
function listen(server: ReturnType<typeof createServer>, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, () => resolve(`http://${host}:${(server.address() as AddressInfo).port}`));
  });
}
