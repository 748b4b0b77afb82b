/** One server of the synthetic web: finds the entry that a URL names and sends its answer as HTTP would have it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { Fault } from './faults.ts';
import { faultStatus, misbehave } from './faults.ts';
import type { Coding } from './options.ts';
import type { Entry, Reply, Site } from './site.ts';
import { reply } from './site.ts';
import { validate } from './validators.ts';

/** One request as it was answered. */
export interface LogLine {
  readonly url: string;
  readonly method: string;
  /** By the web's clock, when the request was complete. */
  readonly time: number;
  /** 0 = the connection ended without a status. */
  readonly status: number;
  /** Of the body on the wire. */
  readonly bytes: number;
  /** The request carried If-None-Match or If-Modified-Since. */
  readonly conditional: boolean;
  readonly agent: string;
  /** Requests to the same server that were open at that moment, this one included. */
  readonly open: number;
}

export interface Desk {
  readonly site: Site;
  readonly exact: ReadonlyMap<string, Entry>;
  readonly prefixes: readonly Entry[];
  /** Requests so far, by URL. */
  readonly counts: Map<string, number>;
  fault(url: string): Fault | undefined;
  record(line: LogLine): void;
  /** Requests in progress. */
  open: number;
}

export async function answer(desk: Desk, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { site } = desk;
  const path = request.url ?? '/';
  const url = site.origin + path;
  const time = site.options.clock.now();
  const count = desk.counts.get(url) ?? 0;
  desk.counts.set(url, count + 1);
  desk.open++;
  response.once('close', () => desk.open--);
  const line = {
    url,
    method: request.method ?? 'GET',
    time,
    conditional: 'if-none-match' in request.headers || 'if-modified-since' in request.headers,
    agent: request.headers['user-agent'] ?? '',
    open: desk.open,
  };
  const { latency } = site.options;
  if (latency > 0) await new Promise(resolve => setTimeout(resolve, latency));
  const fault = desk.fault(url);
  if (fault !== undefined) {
    desk.record({ ...line, status: faultStatus(fault), bytes: 0 });
    return misbehave(request.socket, fault, url);
  }
  const entry = find(desk, path);
  const made = entry?.reply({ time, count, path }) ?? reply(404, '<title>Not found</title><p>No such page.');
  const sent = finish(made, site, time, count, request);
  desk.record({ ...line, status: sent.status, bytes: sent.body.length });
  response.writeHead(sent.status, sent.headers);
  response.end(request.method === 'HEAD' ? undefined : sent.body);
}

export function find(desk: Pick<Desk, 'exact' | 'prefixes'>, path: string): Entry | undefined {
  const named = desk.exact.get(path) ?? desk.prefixes.find(entry => path.startsWith(entry.path.slice(0, -1)));
  // As file servers do: `%70age.html` is `page.html`.
  return named ?? desk.exact.get(path.replace(/%[46-7][0-9a-f]/gi, code => decodeURIComponent(code)));
}

/** Adds validators and content coding, and turns the answer into a 304 where they match. */
function finish(made: Reply, site: Site, time: number, count: number, request: IncomingMessage) {
  const { headers: valid, notModified } = validate(made.state, time, count, {
    ifNoneMatch: request.headers['if-none-match'],
    ifModifiedSince: request.headers['if-modified-since'],
  });
  if (notModified) return { status: 304, headers: valid, body: Buffer.alloc(0) };
  const headers: Record<string, string> = { ...made.headers, ...valid };
  let body = made.body;
  const coding = body.length === 0 ? 'identity' : choose(site.options.codings, request.headers['accept-encoding']);
  if (coding !== 'identity' && /^text\/|xml/.test(headers['content-type'] ?? '')) {
    body = compress(body, coding);
    headers['content-encoding'] = coding;
    headers['vary'] = 'accept-encoding';
  }
  headers['content-length'] = String(body.length);
  return { status: made.status, headers, body };
}

function choose(codings: readonly Coding[], accepted: string | undefined): Coding {
  const names = (accepted ?? '').split(',').map(part => part.trim().split(';')[0]);
  return codings.find(coding => coding === 'identity' || names.includes(coding)) ?? 'identity';
}

function compress(body: Uint8Array, coding: Coding): Uint8Array {
  if (coding === 'gzip') return gzipSync(body);
  if (coding === 'br') return brotliCompressSync(body);
  if (coding === 'zstd') return zstdCompressSync(body);
  return coding === 'deflate' ? deflateSync(body) : body;
}
