/**
 * A fetcher that has a site's pages before they are asked for: the pages of an errand are fetched from the site in bulk, as
 * differences from the copies that home holds, and the crawler is given each as if it had asked. What the site does not
 * give (gone, elsewhere, an answer that does not decode) is asked for the usual way, at the usual pace: a site can spare
 * requests and cannot make a page disappear.
 */
import { originOf } from '../../../base/url.ts';
import { effectOf } from '../../../crawler/pace/answer-effect.ts';
import { crawlDelay } from '../../../crawler/robots/robots.ts';
import type { Answer, Ask, Fetcher, Response } from '../../../crawler/stages.ts';
import type { Tools } from '../../../crawler/tools.ts';
import type { Errand, RobotsCopy } from '../../../errand/errand.ts';
import { mediaTypes, siteLimits } from '../../../notices/site/discovery.ts';
import { bodyHash, decodePages, encodeWanted, type SitePage, type WantedPages } from '../../../notices/site/pages.ts';
import { Asking } from '../reading/asking.ts';

/** A copy that home holds. */
export interface Held {
  readonly headers: ReadonlyMap<string, string>;
  /** Without content coding. */
  readonly body: Uint8Array;
}

interface BulkParts {
  readonly tools: Tools;
  readonly pagesAt: string;
  readonly token: string | undefined;
  readonly held: (url: string) => Promise<Held | undefined>;
  /** No link leads to it: nobody but the site has it. */
  readonly isHidden: (url: string) => boolean;
  /** Told why a site did not give its pages. */
  readonly trouble: (why: string) => void;
}

/** Requests for what did not fit into the answers before. */
const MOST_ROUNDS = 20;
/** Bytes of copies that one request is held against: as much as a site takes. */
const MOST_HELD = siteLimits.pagesBytes;

export class BulkFetcher implements Fetcher {
  readonly #parts: BulkParts;
  readonly #pages = new Map<string, Response>();
  /** Of which the site says that they are no more. */
  readonly #gone = new Set<string>();
  #robots: RobotsCopy | undefined;
  /** How pages are asked for the usual way, by origin. */
  readonly #terms = new Map<string, Parameters<Tools['pace']['turn']>[1]>();

  constructor(parts: BulkParts) {
    this.#parts = parts;
  }

  /** Gets the pages of an errand, and returns it as the crawler may run it: nothing paces what is here already. */
  async gather(given: Errand, signal: AbortSignal): Promise<Errand> {
    const { tools } = this.#parts;
    const errand = this.#ruled(given);
    const { server } = errand;
    const rules = server.robots && tools.rules.of(server.origin, server.robots, tools.clock.now());
    const delay = rules ? crawlDelay(rules.terms.robots, tools.agentToken) : 0;
    const { pace, connections, notBefore } = server;
    this.#terms.set(server.origin, { pace, connections, notBefore, crawlDelay: delay });
    try {
      await this.#bulk(errand, signal);
    } catch (error) {
      this.#parts.trouble((error as Error).message.replace(/\.$/, '')); // each page is asked for the usual way
    }
    const ruled = this.#ruled(errand).server;
    return { ...errand, server: { ...ruled, pace: 0, connections: 1, auditShare: 0 } };
  }

  /** With the newest rules that are known here: asking for pages in bulk may have read them anew. */
  #ruled(errand: Errand): Errand {
    const robots = this.#robots;
    if (!robots || robots.time <= (errand.server.robots?.time ?? 0)) return errand;
    return { ...errand, server: { ...errand.server, robots } };
  }

  async #bulk({ server, pages }: Errand, signal: AbortSignal): Promise<void> {
    const asking = new Asking(this.#parts.tools, server, signal);
    let open = pages.filter(({ role }) => role === 'page').map(({ url }) => url);
    for (let round = 0; round < MOST_ROUNDS && open.length > 0; round++) {
      const { wanted, held } = await this.#request(open);
      const spent = asking.spent;
      const answer = await this.#send(asking, wanted).finally(() => {
        this.#robots = asking.news?.robots ?? this.#robots;
      });
      const given = decodePages(answer, wanted, url => held.get(url)?.body);
      this.#keep(wanted, given, held, asking.spent - spent);
      const later = new Set(wanted.filter((_, i) => given[i]!.state === 'later').map(({ url }) => url));
      const asked = new Set(wanted.map(({ url }) => url));
      open = open.filter(url => later.has(url) || !asked.has(url));
    }
  }

  /** The next pages to ask for, with what home holds of each. */
  async #request(open: readonly string[]): Promise<{ wanted: WantedPages[]; held: Map<string, Held> }> {
    const wanted: WantedPages[] = [];
    const held = new Map<string, Held>();
    let bytes = 0;
    for (const url of open.slice(0, siteLimits.wanted)) {
      const copy = await this.#parts.held(url);
      if (copy && bytes + copy.body.length > MOST_HELD && wanted.length > 0) break;
      if (copy) held.set(url, copy);
      bytes += copy?.body.length ?? 0;
      wanted.push({ url, ...(copy && { have: bodyHash(copy.body) }) });
    }
    return { wanted, held };
  }

  async #send(asking: Asking, wanted: readonly WantedPages[]): Promise<Uint8Array> {
    const { pagesAt, token } = this.#parts;
    const content = { type: mediaTypes.wanted, bytes: encodeWanted(wanted), isQuestion: true };
    const { answerBytes: maxBytes } = siteLimits;
    const answer = await asking.own({
      ...{ url: pagesAt, method: 'POST', content, maxBytes, accept: mediaTypes.pages },
      ...(token && { authorization: `Bearer ${token}` }),
    });
    if (answer.status !== 200) throw new Error(`the site answers ${answer.status}`);
    return answer.body;
  }

  #keep(
    wanted: readonly WantedPages[],
    given: readonly SitePage[],
    held: ReadonlyMap<string, Held>,
    spent: number,
  ): void {
    const answered = given.filter(({ state }) => state === 'page' || state === 'same').length;
    const share = Math.ceil(spent / Math.max(1, answered));
    given.forEach((page, i) => {
      const { url } = wanted[i]!;
      const copy = held.get(url);
      if (page.state === 'gone') this.#gone.add(url);
      if (page.state === 'page') this.#pages.set(url, asResponse(headersOf(page), page.body, share));
      else if (page.state === 'same' && copy) this.#pages.set(url, asResponse(plainHeaders(copy), copy.body, share));
    });
  }

  async fetch(ask: Ask): Promise<Answer> {
    const page = ask.method === undefined ? this.#pages.get(ask.url) : undefined;
    const isGone = this.#gone.delete(ask.url);
    // The server before the site has no such page: that says nothing of one that the site cannot give at the moment.
    if (!page && !isGone && this.#parts.isHidden(ask.url)) return NOT_NOW;
    if (!page) return this.#plainly(ask);
    this.#pages.delete(ask.url);
    if (page.body.length <= ask.maxBytes) return page;
    return { ...page, body: page.body.subarray(0, ask.maxBytes), truncated: 'length' };
  }

  async #plainly(ask: Ask): Promise<Answer> {
    const { tools } = this.#parts;
    const origin = originOf(ask.url);
    const terms = this.#terms.get(origin);
    const turn = terms && (await tools.pace.turn(origin, terms));
    const answer = await tools.fetcher.fetch(ask);
    turn?.done(effectOf(answer, tools.clock.now()));
    return answer;
  }

  locate(origin: string): Promise<string> {
    return this.#parts.tools.fetcher.locate?.(origin) ?? Promise.resolve('');
  }

  release(origin: string): void {
    this.#parts.tools.fetcher.release(origin);
  }

  close(): Promise<void> {
    return this.#parts.tools.fetcher.close();
  }
}

const NOTHING = new Uint8Array(0);
const NOT_NOW: Answer = {
  ...{ kind: 'failure', reason: 'http-5xx', detail: 'the site cannot give it at the moment' },
  wire: { up: 0, down: 0, firstByte: 0, total: 0 },
};

/** `site`: no request was made for it, and what is archived of it says so. */
function asResponse(headers: ReadonlyMap<string, string>, body: Uint8Array, bytes: number): Response {
  let lines = 'HTTP/1.1 200 OK\r\n';
  for (const [name, value] of headers) lines += `${name}: ${value}\r\n`;
  return {
    ...{ kind: 'response', status: 200, head: Buffer.from(`${lines}\r\n`, 'latin1'), requestHead: NOTHING, headers },
    ...{ body, protocol: 'site', address: '', wire: { up: 0, down: bytes, firstByte: 0, total: 0 } },
  };
}

function headersOf({ type, time }: Extract<SitePage, { state: 'page' }>): ReadonlyMap<string, string> {
  const headers = new Map([['content-type', type || 'application/octet-stream']]);
  if (time > 0) headers.set('last-modified', new Date(time).toUTCString());
  return headers;
}

/** What its server said of the copy, without how it travelled. */
function plainHeaders({ headers }: Held): ReadonlyMap<string, string> {
  const kept = ['content-type', 'etag', 'last-modified', 'content-language', 'x-robots-tag', 'link'];
  return new Map([...headers].filter(([name]) => kept.includes(name)));
}
