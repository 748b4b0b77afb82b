/**
 * Skein in front of a web server: what is not one of the faces goes through to it and back unchanged, but for two headers.
 * HTML says where the site's face is, and like a feed that it may serve as a dictionary (RFC 9842); a reader that holds an older
 * version and says so gets the new one compressed against it.
 */
import { hash } from 'node:crypto';
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { constants, zstdCompress } from 'node:zlib';
import { decodeBody } from '../errand/warc/decode.ts';
import { siteLimits } from '../notices/site/discovery.ts';
import type { Bodies } from './journal/bodies.ts';
import { DISCOVERY_LINK } from './node-request.ts';

/** RFC 9842 §4: a skippable frame that holds the hash of the dictionary. */
const DCZ_HEAD = Buffer.from('5e2a4d1820000000', 'hex');
const HOP_BY_HOP = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'];
const PATIENCE = 60_000;
/** Versions of feeds that are kept, and bytes of each. */
const MOST_FEEDS = 64;
const LARGEST_FEED = 1 << 20;
/** Without what has a meaning in a URLPattern or ends a quoted string. */
const PLAIN_PATH = /^[\w./~@%,;=!$&'-]+$/;
const compress = promisify(zstdCompress);

export class Front {
  readonly #upstream: string;
  readonly #bodies: Bodies;
  readonly #feeds = new FeedVersions();
  readonly #agent;

  constructor(upstream: string, bodies: Bodies) {
    this.#upstream = upstream.replace(/\/$/, '');
    this.#bodies = bodies;
    const { Agent } = process.getBuiltinModule(upstream.startsWith('https:') ? 'node:https' : 'node:http');
    this.#agent = new Agent({ keepAlive: true, maxSockets: 256 });
  }

  close(): void {
    this.#agent.destroy();
  }

  pass(request: IncomingMessage, response: ServerResponse): void {
    const dictionary = request.method === 'GET' ? this.#dictionary(request.headers) : undefined;
    const headers = {
      ...forwarded(request.headers, request.socket.remoteAddress ?? ''),
      ...framingOf(request.headers),
    };
    if (dictionary) headers['accept-encoding'] = 'identity';
    const asked = this.#ask(request, headers);
    asked.on('error', () => this.#unreachable(response));
    asked.on('response', answer => {
      if (dictionary && isDocument(answer) && isUncoded(answer))
        void this.#sendDifference(request, answer, response, dictionary);
      else this.#send(request, answer, response);
    });
    response.on('close', () => asked.destroy());
    request.pipe(asked);
  }

  #ask(request: IncomingMessage, headers: IncomingHttpHeaders): ClientRequest {
    const { request: open } = process.getBuiltinModule(
      this.#upstream.startsWith('https:') ? 'node:https' : 'node:http',
    );
    const path = request.url ?? '/';
    const { method = 'GET' } = request;
    return open(this.#upstream, { method, path, headers, agent: this.#agent, timeout: PATIENCE });
  }

  #send(request: IncomingMessage, answer: IncomingMessage, response: ServerResponse): void {
    const headers = without(answer.headers);
    Object.assign(headers, ...linkOf(answer), dictionaryTerms(request, answer));
    response.writeHead(answer.statusCode ?? 502, headers);
    answer.on('error', () => response.destroy());
    answer.pipe(response);
    if (headers['use-as-dictionary'] !== undefined && !isPage(answer)) this.#keepFeed(answer);
  }

  /** No source tells of feeds, so they are kept as they pass. */
  #keepFeed(answer: IncomingMessage): void {
    const chunks: Buffer[] = [];
    let bytes = 0;
    answer.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= LARGEST_FEED) chunks.push(chunk);
    });
    answer.once('end', () => {
      if (bytes > LARGEST_FEED) return;
      const decoded = decodeBody(Buffer.concat(chunks), answer.headers['content-encoding'], {
        bodyBytes: LARGEST_FEED,
      });
      if (decoded.kind === 'ok' && !decoded.truncated) this.#feeds.put(decoded.bytes);
    });
  }

  /** The version that whoever asks holds, if it can read differences and we have that version, too. */
  #dictionary(headers: IncomingHttpHeaders): { readonly body: Uint8Array; readonly digest: Buffer } | undefined {
    const named = /^:([A-Za-z0-9+/=]{40,50}):$/.exec(String(headers['available-dictionary'] ?? ''))?.[1];
    if (named === undefined || !/\bdcz\b/.test(String(headers['accept-encoding'] ?? ''))) return undefined;
    const digest = Buffer.from(named, 'base64');
    if (digest.length !== 32) return undefined;
    const name = digest.toString('hex');
    const body = this.#feeds.get(name) ?? this.#bodies.get(name);
    return body && { body, digest };
  }

  async #sendDifference(
    request: IncomingMessage,
    answer: IncomingMessage,
    response: ServerResponse,
    { body: dictionary, digest }: { readonly body: Uint8Array; readonly digest: Buffer },
  ): Promise<void> {
    try {
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of answer as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > siteLimits.pageBytes) throw new Error('a page is too large for a delta');
        chunks.push(chunk);
      }
      const body = Buffer.concat(chunks);
      if (isPage(answer)) this.#bodies.put(hash('sha256', body, 'hex'), body);
      else this.#feeds.put(body);
      const params = { [constants.ZSTD_c_compressionLevel]: 9, [constants.ZSTD_c_windowLog]: 23 };
      const packed = Buffer.concat([DCZ_HEAD, digest, await compress(body, { dictionary, params })]);
      const headers = {
        ...without(answer.headers),
        'content-encoding': 'dcz',
        'content-length': String(packed.length),
      };
      const vary = [answer.headers.vary, 'accept-encoding', 'available-dictionary'].filter(each => each).join(', ');
      response.writeHead(200, Object.assign(headers, ...linkOf(answer), dictionaryTerms(request, answer), { vary }));
      response.end(packed);
    } catch {
      answer.destroy();
      this.#unreachable(response); // it broke off, or is too large: whoever asked tries again without a dictionary
    }
  }

  #unreachable(response: ServerResponse): void {
    if (response.headersSent) response.destroy();
    else
      response
        .writeHead(502, { 'content-type': 'text/plain' })
        .end('The web server behind this one does not answer.\n');
  }
}

/** The latest versions of feeds, in memory, by the hashes of their bodies. */
class FeedVersions {
  readonly #versions = new Map<string, Uint8Array>();

  get(sha256: string): Uint8Array | undefined {
    return this.#versions.get(sha256);
  }

  put(body: Uint8Array): void {
    const name = hash('sha256', body, 'hex');
    this.#versions.delete(name);
    if (body.length <= LARGEST_FEED) this.#versions.set(name, body);
    if (this.#versions.size > MOST_FEEDS) this.#versions.delete(this.#versions.keys().next().value!);
  }
}

/** What everybody gets alike may serve as a dictionary for its next version. */
function dictionaryTerms(request: IncomingMessage, answer: IncomingMessage): Record<string, string> {
  const path = (request.url ?? '/').split('?')[0]!;
  const { cookie, authorization } = request.headers;
  const isShared = cookie === undefined && authorization === undefined && answer.headers['set-cookie'] === undefined;
  return isShared && isDocument(answer) && PLAIN_PATH.test(path) ? { 'use-as-dictionary': `match="${path}"` } : {};
}

function isUncoded({ headers }: IncomingMessage): boolean {
  return headers['content-encoding'] === undefined || headers['content-encoding'] === 'identity';
}

/** Feeds are asked for most of all, and differ in an entry. */
const FEED = /^(?:application\/(?:(?:rss|atom|rdf)\+xml|xml|feed\+json)|text\/xml)\b/i;

function isDocument(answer: IncomingMessage): boolean {
  return isPage(answer) || (answer.statusCode === 200 && FEED.test(answer.headers['content-type'] ?? ''));
}

/** Pages say where the site's face is. */
function linkOf(answer: IncomingMessage): { link: string }[] {
  const { link } = answer.headers;
  return isPage(answer) ? [{ link: link ? `${link}, ${DISCOVERY_LINK}` : DISCOVERY_LINK }] : [];
}

function isPage(answer: IncomingMessage): boolean {
  return answer.statusCode === 200 && /^text\/html\b/i.test(answer.headers['content-type'] ?? '');
}

function without(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const named = String(headers.connection ?? '')
    .toLowerCase()
    .split(/\s*,\s*/);
  const dropped = new Set([...HOP_BY_HOP, ...named]);
  return Object.fromEntries(
    Object.entries(headers).filter(
      (each): each is [string, string | string[]] => each[1] !== undefined && !dropped.has(each[0]),
    ),
  );
}

/**
 * Where a body ends is told as it was told to us. A body without that would be read as requests that follow, and whoever asks
 * next over the same connection would get their answers.
 */
function framingOf(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { 'transfer-encoding': coding, 'content-length': length } = headers;
  if (coding !== undefined) return { 'transfer-encoding': 'chunked' };
  return length === undefined ? {} : { 'content-length': length };
}

function forwarded(headers: IncomingHttpHeaders, address: string): IncomingHttpHeaders {
  const before = headers['x-forwarded-for'];
  const chain = before === undefined ? address : `${Array.isArray(before) ? before.join(', ') : before}, ${address}`;
  return { ...without(headers), 'x-forwarded-for': chain };
}
