/**
 * How the thread that reads notices asks: by the same fetcher, robots rules, pace and gate for private addresses as any
 * visit. A redirect is followed within the server alone, so that no face can send us to another machine; a hub is the one
 * thing that may be elsewhere, and it is asked without the right to private addresses unless the user opened them all.
 */
import { originOf } from '../../../base/url.ts';
import { locationOf } from '../../../crawler/analysis/location.ts';
import { opensPrivate } from '../../../crawler/fetch/private-gate.ts';
import { effectOf } from '../../../crawler/pace/answer-effect.ts';
import { askPermission } from '../../../crawler/robots/permission.ts';
import type { Ask, Response } from '../../../crawler/stages.ts';
import type { Tools } from '../../../crawler/tools.ts';
import type { ServerTerms } from '../../../errand/errand.ts';
import type { ServerNews } from '../../../errand/parcel.ts';
import { decodeBody } from '../../../errand/warc/decode.ts';

export interface Answered {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  /** Without content coding. */
  readonly body: Uint8Array;
  /** Where redirects led. */
  readonly url: string;
}

/** `held`: it may keep us waiting. `start`: the first bytes are enough. */
type Way = 'whole' | 'held' | 'start';

/** One sentence instead of an answer. */
export class NoAnswer extends Error {}

const REDIRECTS = 3;
const SAYS_NOTHING = { status: 0, firstByteMs: 0, retryAfterMs: 0, failed: false, address: '' };

export class Asking {
  readonly #tools: Tools;
  #server: ServerTerms;
  readonly #signal: AbortSignal;
  /** Bytes on the wire so far, without those for robots.txt. */
  spent = 0;
  news: ServerNews | undefined;

  constructor(tools: Tools, server: ServerTerms, signal: AbortSignal) {
    this.#tools = tools;
    this.#server = server;
    this.#signal = signal;
  }

  get now(): number {
    return this.#tools.clock.now();
  }

  /** Of its rules, when they were read anew; home learns them, so that nobody asks again. */
  #learned(news: ServerNews): void {
    this.news = news;
    if (news.robots) this.#server = { ...this.#server, robots: news.robots };
  }

  /** Asks the server itself, as its robots.txt allows. Throws NoAnswer. */
  async own(ask: Pick<Ask, 'url' | 'maxBytes'> & Partial<Ask>, way: Way = 'whole'): Promise<Answered> {
    const permission = await askPermission({ server: this.#server }, this.#tools, this.#signal);
    if (!permission) throw new NoAnswer('the run ended first');
    if (permission.news) this.#learned(permission.news);
    let url = ask.url;
    for (let hops = 0; hops <= REDIRECTS; hops++) {
      if (originOf(url) !== this.#server.origin) throw new NoAnswer('it redirects to another server');
      const refusal = permission.refusal(url);
      if (refusal) throw new NoAnswer(`Skein may not fetch it: ${refusal}`);
      const response = await this.#send({ ...ask, url }, permission.terms, way);
      const { status, headers } = response;
      const moved = status >= 300 && status < 400 && status !== 304 ? locationOf(headers, url) : undefined;
      if (moved === undefined) return { status, headers, url, body: plain(response, ask.maxBytes, way) };
      url = moved;
    }
    throw new NoAnswer('it redirects too many times');
  }

  /** Asks another machine that the server named, once; it is no page, and no robots.txt stands before it. */
  async other(ask: Pick<Ask, 'url' | 'maxBytes'> & Partial<Ask>): Promise<Answered> {
    const { connections, pace } = this.#server;
    const response = await this.#send(ask, { connections, pace, notBefore: 0, crawlDelay: 0 });
    return { ...response, url: ask.url, body: plain(response, ask.maxBytes, 'whole') };
  }

  async #send(
    ask: Pick<Ask, 'url' | 'maxBytes'> & Partial<Ask>,
    terms: Parameters<Tools['pace']['turn']>[1],
    way: Way = 'whole',
  ): Promise<Response> {
    const { fetcher, pace, clock } = this.#tools;
    const turn = await pace.turn(originOf(ask.url), terms, this.#signal);
    if (!turn) throw new NoAnswer('the run ended first');
    // Who waits does no work: it keeps no place from the visits of that server, and how long it takes says nothing of it.
    if (way === 'held') turn.done(SAYS_NOTHING);
    const answer = await fetcher.fetch({ ...ask, allowPrivate: opensPrivate(this.#server, ask.url) });
    if (way !== 'held') turn.done(effectOf(answer, clock.now()));
    this.spent += answer.wire.up + answer.wire.down;
    if (answer.kind === 'failure') throw new NoAnswer(`no answer: ${answer.reason}`);
    if (answer.truncated === 'length' && way === 'start') return answer;
    if (answer.truncated === 'length') throw new NoAnswer('it is too large');
    if (answer.truncated !== undefined) throw new NoAnswer('its answer is incomplete');
    return answer;
  }
}

function plain({ body, headers }: Response, most: number, way: Way): Uint8Array {
  const decoded = decodeBody(body, headers.get('content-encoding'), { bodyBytes: most });
  if (decoded.kind === 'failed') throw new NoAnswer('its encoding is damaged');
  if (decoded.truncated && way !== 'start') throw new NoAnswer('it is too large');
  return decoded.bytes;
}

/** Validators for the next time. */
export function validatorsOf(headers: ReadonlyMap<string, string>): { etag?: string; lastModified?: string } {
  const [etag, lastModified] = [headers.get('etag'), headers.get('last-modified')];
  return {
    ...(etag !== undefined && etag.length < 200 && { etag }),
    ...(lastModified !== undefined && lastModified.length < 100 && { lastModified }),
  };
}

/** Those of a face that was read before. */
export function conditionsOf(state: { readonly etag?: string; readonly lastModified?: string }): Partial<Ask> {
  return { ...(state.etag && { etag: state.etag }), ...(state.lastModified && { lastModified: state.lastModified }) };
}
