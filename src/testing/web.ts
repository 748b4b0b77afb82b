/** A web of one server on loopback whose pages a test writes, or has made; it keeps a list of what was asked for. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SkeinError } from '../base/errors.ts';

/** Who asks, and when. */
export interface TestRequest {
  /** With its query. */
  readonly path: string;
  /** By the web's clock, milliseconds since 1970. */
  readonly time: number;
  /** Requests for this path before this one. */
  readonly count: number;
  readonly headers: IncomingHttpHeaders;
}

export interface TestAnswer {
  /** Default 200. */
  readonly status?: number;
  /** Names in small letters; default: HTML in UTF-8. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** HTML, an answer, or a function that makes one of them; undefined = there is no such page (404). */
export type TestPage = string | TestAnswer | ((request: TestRequest) => string | TestAnswer | undefined);

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly time: number;
  readonly status: number;
  /** What a page's function threw; the answer was 500 then. */
  readonly error?: unknown;
}

export interface TestWeb extends AsyncDisposable {
  readonly origin: string;
  /** Its root. */
  readonly seeds: readonly string[];
  /** Every request, in the order in which they were answered. */
  readonly log: readonly Asked[];
  url(path: string): string;
  /** Another page from now on; undefined takes it away. */
  set(path: string, page: TestPage | undefined): void;
  close(): Promise<void>;
}

export interface TestWebOptions {
  /** Any clock; default the system's. */
  readonly clock?: { now(): number };
  /** Pages carry an ETag, and 304 is answered where it is known. Default true. */
  readonly validators?: boolean;
}

/** Pages by path; a path that ends in * stands for all that begin so. */
export async function testWeb(
  pages: Readonly<Record<string, TestPage>>,
  { clock = Date, validators = true }: TestWebOptions = {},
): Promise<TestWeb> {
  const held = new Map<string, TestPage>();
  const set = (path: string, page: TestPage | undefined): void => {
    if (!path.startsWith('/'))
      throw new SkeinError('bad-option', `"${path}" is no path.`, 'Paths of a test web begin with /.');
    if (page === undefined) held.delete(path);
    else held.set(path, page);
  };
  for (const [path, page] of Object.entries(pages)) set(path, page);
  const counts = new Map<string, number>();
  const log: Asked[] = [];
  const server = createServer((request, response) => {
    const { url: path = '/', method = 'GET', headers } = request;
    const count = counts.get(path) ?? 0;
    counts.set(path, count + 1);
    const time = clock.now();
    const { error, ...made } = answerOf(find(held, path), { path, time, count, headers });
    const status = send(request, response, validators ? tagged(made) : made);
    log.push({ method, path, time, status, ...(error !== undefined && { error }) });
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = new Promise(resolve => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  const url = (path: string): string => origin + path;
  return { origin, seeds: [`${origin}/`], log, url, set, close, [Symbol.asyncDispose]: close };
}

function find(held: ReadonlyMap<string, TestPage>, path: string): TestPage | undefined {
  const exact = held.get(path);
  if (exact !== undefined) return exact;
  const prefixes = [...held.keys()].filter(key => key.endsWith('*') && path.startsWith(key.slice(0, -1)));
  const longest = prefixes.sort((one, two) => two.length - one.length)[0];
  return longest === undefined ? undefined : held.get(longest);
}

function answerOf(page: TestPage | undefined, request: TestRequest): TestAnswer & { error?: unknown } {
  try {
    const made = typeof page === 'function' ? page(request) : page;
    if (made === undefined) return { status: 404, body: '<title>Not found</title><p>There is no such page.' };
    return typeof made === 'string' ? { body: made } : made;
  } catch (error) {
    return { status: 500, body: '<title>Failed</title><p>The page could not be made.', error };
  }
}

function tagged(answer: TestAnswer): TestAnswer {
  if ((answer.status ?? 200) !== 200 || answer.headers?.['etag'] !== undefined) return answer;
  const digest = createHash('sha256')
    .update(answer.body ?? '')
    .digest('base64url');
  return { ...answer, headers: { ...answer.headers, etag: `"${digest.slice(0, 16)}"` } };
}

/** Returns the status that was sent. */
function send(request: IncomingMessage, response: ServerResponse, answer: TestAnswer): number {
  const etag = answer.headers?.['etag'];
  if (etag !== undefined && request.headers['if-none-match'] === etag) {
    response.writeHead(304, { etag }).end();
    return 304;
  }
  const { status = 200, headers = {}, body = '' } = answer;
  const length = { 'content-length': String(Buffer.byteLength(body)) };
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...length, ...headers });
  response.end(request.method === 'HEAD' ? undefined : body);
  return status;
}
