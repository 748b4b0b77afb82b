/**
 * Checks URLs that the collection does not hold by a HEAD request: links to other sites, and requisites. As for a visit,
 * requests go through the crawler's fetcher, its gate for private addresses, its robots rules and its pace, and each hop of a
 * redirect follows the rules of the server that it leads to.
 */
import { systemClock } from '../base/clock.ts';
import { originOf } from '../base/url.ts';
import { locationOf } from '../crawler/analysis/location.ts';
import { openFetcher } from '../crawler/fetch/fetcher.ts';
import { opensPrivate } from '../crawler/fetch/private-gate.ts';
import { effectOf } from '../crawler/pace/answer-effect.ts';
import { Pace } from '../crawler/pace/pace.ts';
import { askPermission, type Permission } from '../crawler/robots/permission.ts';
import { RulesMemory } from '../crawler/robots/rules-memory.ts';
import type { Answer, Ask, Fetcher, Response } from '../crawler/stages.ts';
import { AGENT_TOKEN } from '../errand/agent.ts';

export interface OutsideOptions {
  readonly userAgent: string;
  /** Milliseconds between requests to one server. */
  readonly pace: number;
  /** Any private address may be opened; otherwise only servers that `named` allows. */
  readonly anyPrivate: boolean;
  /** The user named this server by its address. */
  readonly named: (origin: string) => boolean;
}

interface CheckedLink {
  readonly status: number;
  /** A code of reasons.ts; empty = the URL is fine, or may not be requested. */
  readonly reason: string;
}

const MOST_HOPS = 5;
/** Servers that are asked at once. */
const AT_ONCE = 16;
const MOST_BYTES = 1024;
/** Longest wait (ms) for a turn at a server; one that asks for more is left alone. */
const PATIENCE = 120_000;
/** Statuses about the page, not about the method HEAD. */
const FINAL = new Set([404, 410, 429]);
/** Reasons that say nothing about the URL: it may not be requested, or could not be. */
const NOT_FOUND_OUT = new Set(['robots', 'robots-unreachable', 'private-address']);

/** Leaves out URLs that may not be requested now. */
export async function checkOutside(urls: Iterable<string>, options: OutsideOptions): Promise<Map<string, CheckedLink>> {
  const outside = new OutsideLinks(options);
  const waiting = [...Map.groupBy(urls, originOf).values()];
  const found = new Map<string, CheckedLink>();
  const work = async () => {
    for (let list = waiting.pop(); list; list = waiting.pop()) {
      for (const url of list) {
        const checked = await outside.check(url);
        if (checked) found.set(url, checked);
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    await outside.close();
  }
  return found;
}

class OutsideLinks {
  readonly #options: OutsideOptions;
  readonly #fetcher: Fetcher;
  readonly #pace: Pace;
  readonly #rules = new RulesMemory();
  readonly #permissions = new Map<string, Promise<Permission | undefined>>();
  /** Servers that ask for a longer pause than we wait. */
  readonly #left = new Set<string>();

  constructor(options: OutsideOptions) {
    this.#options = options;
    const fetcher = openFetcher({ userAgent: options.userAgent });
    this.#fetcher = fetcher;
    this.#pace = new Pace(systemClock, { locate: fetcher.locate && (origin => fetcher.locate!(origin)) });
  }

  close(): Promise<void> {
    return this.#fetcher.close();
  }

  /** Follows redirects; each hop passes rules, pace and gate by itself. Undefined: the URL may not be asked for. */
  async check(url: string): Promise<CheckedLink | undefined> {
    let at = url;
    for (let hops = 0; hops <= MOST_HOPS; hops++) {
      const answer = await this.#ask(at);
      if (typeof answer === 'string') {
        if (!NOT_FOUND_OUT.has(answer)) return { status: 0, reason: answer };
        return hops === 0 && answer !== 'private-address' ? undefined : { status: 0, reason: '' };
      }
      const next = answer.status >= 300 && answer.status < 400 ? locationOf(answer.headers, at) : undefined;
      if (next === undefined) return { status: answer.status, reason: answer.status >= 400 ? codeOf(answer) : '' };
      at = next;
    }
    return { status: 0, reason: 'redirect-loop' };
  }

  /** The response, or why there is none. */
  async #ask(url: string): Promise<Response | string> {
    const permission = await this.#permission(originOf(url));
    const refusal = permission ? permission.refusal(url) : 'robots-unreachable';
    if (refusal !== undefined) return refusal;
    const first = await this.#send(url, permission!, { method: 'HEAD' });
    const doubtful = first?.kind === 'response' && first.status >= 400 && !FINAL.has(first.status);
    // Some servers do not answer HEAD correctly.
    const answer = doubtful ? ((await this.#send(url, permission!)) ?? first) : first;
    if (!answer) return 'robots-unreachable';
    return answer.kind === 'failure' ? answer.reason : answer;
  }

  /** Undefined: the server asks for a longer pause than we wait. */
  async #send(url: string, { terms }: Permission, how: Pick<Ask, 'method'> = {}): Promise<Answer | undefined> {
    const origin = originOf(url);
    if (this.#left.has(origin)) return undefined;
    const turn = await this.#pace.turn(origin, terms, AbortSignal.timeout(PATIENCE));
    if (!turn) {
      this.#left.add(origin);
      return undefined;
    }
    const allowPrivate = opensPrivate(this.#termsOf(origin), url);
    const ask = { url, maxBytes: MOST_BYTES, allowPrivate, departure: turn };
    const answer = await this.#fetcher.fetch({ ...ask, ...how });
    const effect = effectOf(answer, systemClock.now());
    turn.done(effect);
    if (effect.retryAfterMs > PATIENCE) this.#left.add(origin);
    return answer;
  }

  #permission(origin: string): Promise<Permission | undefined> {
    const known = this.#permissions.get(origin);
    if (known) return known;
    const tools = { fetcher: this.#fetcher, pace: this.#pace, clock: systemClock, rules: this.#rules };
    const signal = AbortSignal.timeout(PATIENCE);
    const asked = askPermission({ server: this.#termsOf(origin) }, { ...tools, agentToken: AGENT_TOKEN }, signal);
    this.#permissions.set(origin, asked);
    return asked;
  }

  #termsOf(origin: string) {
    const { pace, anyPrivate, named } = this.#options;
    return { origin, pace, connections: 1, notBefore: 0, allowPrivate: anyPrivate || named(origin), anyPrivate };
  }
}

function codeOf({ status }: Response): string {
  if (status === 404 || status === 410 || status === 429 || status === 503) return `http-${status}`;
  return status >= 500 ? 'http-5xx' : 'http-4xx';
}
