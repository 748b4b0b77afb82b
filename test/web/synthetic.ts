/**
 * The synthetic web without sockets, for the largest runs: a fetcher that makes each answer from the URL and the seed in
 * microseconds. It keeps nothing, so ten million pages cost no more memory than one. Its options are plain JSON,
 * so that a worker thread can load it by the module's path.
 *
 * Server 17 is `http://s17.test`, its pages are `/` and `/p/1` … A tree of FAN children joins the pages of a server, and
 * another the servers, so that a complete crawl from `http://s0.test/` finds `servers × pagesPerServer` pages.
 */
import type { Answer, Ask, Fetcher, Response } from '../../src/crawler/stages.ts';
import { hashOf, mix, share } from './random.ts';
import { paragraph, sentence, title, word } from './words.ts';

export interface SyntheticOptions {
  readonly seed: number;
  readonly servers: number;
  readonly pagesPerServer: number;
  /** Links of a page, those of the tree included. */
  readonly links: number;
  /** Of these, links to other servers. */
  readonly crossLinks: number;
  /** Sentences of a page; one is about 75 bytes. */
  readonly sentences: number;
  /** Top-level domains, given to the servers in turn. */
  readonly domains: readonly string[];
  /** Milliseconds before each answer; 0 = at the next turn of the event loop. */
  readonly latency: number;
  /** Pages have one topic each, 0 … topics − 1, mostly that of their parent; 0 = no topics. */
  readonly topics: number;
  /** How often a page has the topic of its parent, and an anchor names the topic of its target, 0–1. */
  readonly locality: number;
  /** Different texts of the links to one page; 0 = each link has its own. */
  readonly texts: number;
  /** Moment of the web: at each step a `changeShare` of the pages gets a new version. */
  readonly moment: number;
  readonly changeShare: number;
}

export const syntheticDefaults: SyntheticOptions = {
  seed: 1,
  servers: 100,
  pagesPerServer: 1000,
  links: 20,
  crossLinks: 2,
  sentences: 24,
  domains: ['test'],
  latency: 0,
  topics: 0,
  locality: 0.85,
  texts: 0,
  moment: 0,
  changeShare: 0,
};

const FAN = 8;
/** Ready-made sentences and anchors: a page is put together from them, because making words costs 20 times as much. */
const STOCK = 1024;
const sentences = Array.from({ length: STOCK }, (_, index) => sentence(hashOf(404, index)));
const anchors = Array.from({ length: STOCK }, (_, index) => title(hashOf(405, index)));

export interface SyntheticPage {
  readonly server: number;
  readonly page: number;
}

export default function syntheticFetcher(given: Partial<SyntheticOptions> = {}): Fetcher {
  const options: SyntheticOptions = { ...syntheticDefaults, ...given };
  // One turn of the event loop between question and answer, as with sockets: else timers and messages would starve.
  const wait =
    options.latency > 0
      ? (answer: Answer) => new Promise<Answer>(resolve => setTimeout(resolve, options.latency, answer))
      : (answer: Answer) => new Promise<Answer>(resolve => setImmediate(resolve, answer));
  return {
    fetch: ask => wait(answerTo(options, ask)),
    release: () => {},
    close: async () => {},
  };
}

/** The name under which an outpost's thread looks for it. */
export { syntheticFetcher, syntheticFetcher as makeFetcher };

export function syntheticUrl(options: Pick<SyntheticOptions, 'domains'>, server: number, page: number): string {
  const domain = options.domains[server % options.domains.length];
  return page === 0 ? `http://s${server}.${domain}/` : `http://s${server}.${domain}/p/${page}`;
}

/** Which page a URL names; undefined = no page of this web. */
export function syntheticPage(options: SyntheticOptions, url: string): SyntheticPage | undefined {
  const parts = /^http:\/\/s(\d{1,9})\.[a-z]+\/(?:p\/(\d{1,9}))?$/.exec(url);
  if (parts === null) return undefined;
  const [server, page] = [Number(parts[1]), Number(parts[2] ?? 0)];
  return server < options.servers && page < options.pagesPerServer ? { server, page } : undefined;
}

/** Topic of a page; its parent's, and so on up the tree, unless it broke away. */
export function syntheticTopic(options: SyntheticOptions, { server, page }: SyntheticPage): number {
  let at = page;
  while (at > 0) {
    const h = hashOf(options.seed, server, at, 71);
    if (share(h) >= options.locality) return mix(h, 1) % options.topics;
    at = Math.floor((at - 1) / FAN);
  }
  return hashOf(options.seed, server, 72) % options.topics;
}

/** The word that pages of a topic use, and others do not. */
export function topicWord(topic: number): string {
  return `${word(2000 + topic)}topic`;
}

function answerTo(options: SyntheticOptions, ask: Ask): Answer {
  const place = syntheticPage(options, ask.url);
  if (place === undefined) return respond(ask, 404, { 'content-type': 'text/plain' }, 'No such page');
  const version = versionOf(options, place);
  const etag = `"${version}"`;
  if (ask.etag === etag) return respond(ask, 304, { etag }, '');
  return respond(ask, 200, { 'content-type': 'text/html; charset=utf-8', etag }, body(options, place, version));
}

function versionOf(options: SyntheticOptions, { server, page }: SyntheticPage): number {
  let version = 0;
  for (let moment = 1; moment <= options.moment; moment++) {
    if (share(hashOf(options.seed, server, page, 80 + moment)) < options.changeShare) version = moment;
  }
  return version;
}

function body(options: SyntheticOptions, place: SyntheticPage, version: number): string {
  const hash = hashOf(options.seed, place.server, place.page);
  const name = `Page ${place.page} of server ${place.server}`;
  let text = `<!DOCTYPE html>\n<html lang="en"><head><title>${name}</title></head>\n<body><h1>${name}</h1>\n<p>`;
  let h = mix(hash, version);
  for (let i = 0; i < options.sentences; i++) {
    h = mix(h, i);
    text += sentences[h % STOCK];
    text += i % 6 === 5 ? '</p>\n<p>' : ' ';
  }
  if (options.topics > 0) {
    const own = topicWord(syntheticTopic(options, place));
    text += `${own} ${paragraph(hash, 1)} More of ${own}, and what ${own} means.`;
  }
  return `${text}</p>\n<ul>\n${links(options, place, hash)}</ul>\n</body></html>\n`;
}

function links(options: SyntheticOptions, place: SyntheticPage, hash: number): string {
  const { pagesPerServer, servers } = options;
  const { server, page } = place;
  let text = '';
  let left = options.links;
  const add = (toServer: number, toPage: number): void => {
    left--;
    const href = toServer === server ? (toPage === 0 ? '/' : `/p/${toPage}`) : syntheticUrl(options, toServer, toPage);
    text += `<li><a href="${href}">${anchor(options, toServer, toPage, page)}</a></li>\n`;
  };
  for (let child = page * FAN + 1; child <= page * FAN + FAN && child < pagesPerServer; child++) add(server, child);
  if (page === 0)
    for (let child = 1; child <= FAN && server * FAN + child < servers; child++) add(server * FAN + child, 0);
  for (let i = 0; i < options.crossLinks && servers > 1; i++) {
    const h = mix(hash, 300 + i);
    add((server + 1 + (h % (servers - 1))) % servers, mix(h, 1) % pagesPerServer);
  }
  while (left > 0) add(server, mix(hash, 400 + left) % pagesPerServer);
  return text;
}

function anchor(options: SyntheticOptions, server: number, page: number, from: number): string {
  const h = hashOf(options.seed, server, page, options.texts > 0 ? from % options.texts : from);
  const plain = anchors[h % STOCK]!;
  if (options.topics === 0 || share(h) >= options.locality) return plain;
  return `${plain} ${topicWord(syntheticTopic(options, { server, page }))}`;
}

const STATUS: Readonly<Record<number, string>> = { 200: 'OK', 304: 'Not Modified', 404: 'Not Found' };

function respond(ask: Ask, status: number, headers: Record<string, string>, text: string): Response {
  const body = Buffer.from(text, 'latin1');
  const slash = ask.url.indexOf('/', 7);
  let head = `HTTP/1.1 ${status} ${STATUS[status]}\r\n`;
  const map = new Map<string, string>(Object.entries(headers));
  map.set('content-length', String(body.length));
  for (const [name, value] of map) head += `${name}: ${value}\r\n`;
  const request = `GET ${ask.url.slice(slash)} HTTP/1.1\r\nHost: ${ask.url.slice(7, slash)}\r\n\r\n`;
  return {
    kind: 'response',
    status,
    head: Buffer.from(`${head}\r\n`, 'latin1'),
    requestHead: Buffer.from(request, 'latin1'),
    headers: map,
    body: body.length > ask.maxBytes ? body.subarray(0, ask.maxBytes) : body,
    ...(body.length > ask.maxBytes ? { truncated: 'length' as const } : {}),
    protocol: 'http/1.1',
    address: '192.0.2.1',
    wire: { up: request.length, down: head.length + 2 + body.length, firstByte: 0, total: 0 },
  };
}
