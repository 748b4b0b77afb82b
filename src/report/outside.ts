/**
 * What the collection does not hold, asked for by HEAD: links to other sites, and requisites. Through the crawler's own
 * fetcher and its gate for private addresses, by the rules of each server's robots.txt, one request at a time to a server
 * and a pause between them.
 */
import { setTimeout } from 'node:timers/promises';
import { originOf } from '../base/url.ts';
import { locationOf } from '../crawler/analysis/location.ts';
import { openFetcher } from '../crawler/fetch/fetcher.ts';
import { opensPrivate } from '../crawler/fetch/private-gate.ts';
import { allowed, crawlDelay, parseRobots, ROBOTS_LIMIT, type Robots } from '../crawler/robots/robots.ts';
import type { Fetcher, Response } from '../crawler/stages.ts';
import { AGENT_TOKEN } from '../errand/agent.ts';

export interface OutsideOptions {
  readonly userAgent: string;
  /** Milliseconds between requests to one server. */
  readonly pace: number;
  /** Any private address may be opened; else only what `named` says. */
  readonly anyPrivate: boolean;
  /** The user named this server by its address. */
  readonly named: (origin: string) => boolean;
}

export interface Checked {
  readonly status: number;
  /** A code of reasons.ts, empty = the URL is fine, or nobody may ask for it. */
  readonly reason: string;
}

const MOST_HOPS = 5;
/** Servers that are asked at once. */
const AT_ONCE = 16;
const MOST_BYTES = 1024;
/** The server means the page, not the method. */
const FINAL = new Set([404, 410, 429]);

export async function checkOutside(urls: Iterable<string>, options: OutsideOptions): Promise<Map<string, Checked>> {
  const fetcher = openFetcher({ userAgent: options.userAgent });
  const servers = Map.groupBy(urls, originOf);
  const waiting = [...servers];
  const found = new Map<string, Checked>();
  const work = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const [origin, list] = next;
      const robots = await robotsOf(fetcher, origin, options);
      const pause = Math.max(options.pace, options.pace === 0 ? 0 : crawlDelay(robots, AGENT_TOKEN));
      for (const url of list) {
        if (!allowed(robots, AGENT_TOKEN, url).allowed) continue;
        if (pause > 0) await setTimeout(pause);
        found.set(url, await checkOne(fetcher, url, options));
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    await fetcher.close();
  }
  return found;
}

async function robotsOf(fetcher: Fetcher, origin: string, options: OutsideOptions): Promise<Robots> {
  const url = `${origin}/robots.txt`;
  const answer = await fetcher.fetch({ url, maxBytes: ROBOTS_LIMIT, allowPrivate: opens(url, options) });
  if (answer.kind === 'failure') return parseRobots(''); // the URL itself shows what is wrong
  if (answer.status >= 500) return parseRobots('User-agent: *\nDisallow: /');
  return parseRobots(answer.status === 200 ? Buffer.from(answer.body) : '');
}

/** Follows redirects; each hop passes the gate by itself. */
async function checkOne(fetcher: Fetcher, url: string, options: OutsideOptions): Promise<Checked> {
  let at = url;
  for (let hops = 0; hops <= MOST_HOPS; hops++) {
    const answer = await ask(fetcher, at, options);
    if (answer.kind === 'failure') {
      return { status: 0, reason: answer.reason === 'private-address' ? '' : answer.reason };
    }
    const next = answer.status >= 300 && answer.status < 400 ? locationOf(answer.headers, at) : undefined;
    if (next === undefined) return { status: answer.status, reason: answer.status >= 400 ? codeOf(answer) : '' };
    at = next;
  }
  return { status: 0, reason: 'redirect-loop' };
}

async function ask(fetcher: Fetcher, url: string, options: OutsideOptions) {
  const terms = { url, maxBytes: MOST_BYTES, allowPrivate: opens(url, options) };
  const answer = await fetcher.fetch({ ...terms, method: 'HEAD' });
  const doubtful = answer.kind === 'response' && answer.status >= 400 && !FINAL.has(answer.status);
  return doubtful ? await fetcher.fetch(terms) : answer; // some servers answer no HEAD
}

function opens(url: string, { anyPrivate, named }: OutsideOptions): boolean {
  const origin = originOf(url);
  return opensPrivate({ origin, allowPrivate: anyPrivate || named(origin), anyPrivate }, url);
}

function codeOf({ status }: Response): string {
  if (status === 404 || status === 410 || status === 429 || status === 503) return `http-${status}`;
  return status >= 500 ? 'http-5xx' : 'http-4xx';
}
