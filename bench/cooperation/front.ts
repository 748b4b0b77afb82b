/**
 * A web server in front of a recorded site that tells of its changes: pages as the replay serves them, and the faces that
 * were asked for on top, all from one journal that our own detector decides. Every byte is counted at its sockets.
 */
import { hash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { analyse } from '../../src/crawler/analysis/analyse.ts';
import { unpackFacts } from '../../src/errand/facts.ts';
import { encodeChanges, type SiteChange } from '../../src/notices/site/changes.ts';
import { DETECTOR, encodeDiscovery, encodeFailure, WELL_KNOWN } from '../../src/notices/site/discovery.ts';
import { bucketDigest, bucketOf, bucketsFor, encodeEntries, encodeSummary } from '../../src/notices/site/manifest.ts';
import { bodyHash, decodeWanted, encodePages, type Outgoing } from '../../src/notices/site/pages.ts';
import { decodeCursor } from '../../src/notices/site/paths.ts';

export type FaceName = 'cursor' | 'resourcesync' | 'feed';

export interface Front {
  readonly origin: string;
  /** The day has changed: reads all pages, and enters what differs. `paths`: of the day's pages. */
  turn(paths: readonly string[], time: number): Promise<void>;
  /** Since the last call. */
  traffic(): Traffic;
  close(): Promise<void>;
}

/** Bytes both ways at the sockets, and where they went: what a face said, pages that came, "as before", anything else. */
export interface Traffic {
  bytes: number;
  requests: number;
  readonly parts: Record<TrafficPart, { bytes: number; requests: number }>;
}

export const trafficParts = ['faces', 'pages', 'unchanged', 'other'] as const;
export type TrafficPart = (typeof trafficParts)[number];

export function noTraffic(): Traffic {
  const parts = Object.fromEntries(trafficParts.map(part => [part, { bytes: 0, requests: 0 }]));
  return { bytes: 0, requests: 0, parts: parts as Traffic['parts'] };
}

export interface FrontOptions {
  readonly faces: ReadonlySet<FaceName>;
  /** So many false notices for each true one. */
  readonly lies?: number;
  /** Every so many-th change is not told; 0 = all are. */
  readonly untold?: number;
}

interface Held {
  readonly content: string;
  readonly type: string;
  readonly time: number;
  readonly body: Buffer;
}

export async function openFront(behind: string, { faces, lies = 0, untold = 0 }: FrontOptions): Promise<Front> {
  const pages = new Map<string, Held>();
  /** Bodies by their hash, as a site keeps what its readers hold. */
  const versions = new Map<string, Buffer>();
  let journal: { path: string; operation: SiteChange['operation']; time: number; content: Buffer }[] = [];
  let sum = noTraffic();
  let origin = '';
  const mine = (body: Buffer) => Buffer.from(body.toString('latin1').replaceAll(behind, origin), 'latin1');
  const contentOf = (url: string, body: Buffer, type: string): string => {
    const asked = { url, headers: new Map([['content-type', type]]), body, raw: new Uint8Array(16) };
    const facts = unpackFacts(analyse(asked, { focus: [], agentToken: 'Skein' }).facts)!;
    return Buffer.from(facts.content.subarray(0, 8)).toString('hex');
  };
  const cursor = () => `${journal.length}-${'0'.repeat(16)}`;
  const entries = () =>
    [...pages].map(([path, { content, time }]) => {
      return { url: origin + path, kind: 'page' as const, content: Buffer.from(content, 'hex'), time };
    });
  const xml = (inner: string) =>
    `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/">${inner}</urlset>`;
  const date = (time: number) => new Date(time).toISOString();
  const answers: Record<string, (query: URLSearchParams, body: Buffer) => Promise<Sent> | Sent> = {
    ...(faces.has('cursor') && {
      [WELL_KNOWN]: () =>
        sent(
          encodeDiscovery({
            ...{ protocol: 1, software: 'bench', site: `${origin}/`, detector: DETECTOR, access: 'open' },
            ...{ journal: { first: 0, cursor: cursor() }, pages: pages.size, changes: `${WELL_KNOWN}/changes` },
            ...{ manifest: `${WELL_KNOWN}/manifest`, pagesAt: `${WELL_KNOWN}/pages` },
            limits: { requestsAMinute: 1000, wanted: 1000, wait: 0 },
          }),
          'application/json',
        ),
      [`${WELL_KNOWN}/changes`]: query => {
        const at = decodeCursor(query.get('since') ?? '');
        if (!at || at.sequence > journal.length) return { status: 409, body: encodeFailure('other-history', 'none') };
        if (at.sequence === journal.length) return { status: 204 };
        const last = new Map<string, SiteChange>();
        for (const { path, operation, time, content } of journal.slice(at.sequence)) {
          last.set(path, { url: origin + path, operation, kind: 'page', time, content });
        }
        return sent(encodeChanges({ cursor: cursor(), more: false, changes: [...last.values()] }));
      },
      [`${WELL_KNOWN}/manifest`]: query => {
        const all = entries();
        if (query.has('of')) {
          const of = new Set(query.get('of')!.split(',').map(Number));
          return sent(encodeEntries(all.filter(({ url }) => of.has(bucketOf(url, Number(query.get('buckets')))))));
        }
        const buckets = bucketsFor(all.length);
        const spread = Array.from({ length: buckets }, (_, n) => all.filter(({ url }) => bucketOf(url, buckets) === n));
        return sent(encodeSummary({ cursor: cursor(), pages: all.length, digests: spread.map(bucketDigest) }));
      },
      [`${WELL_KNOWN}/pages`]: async (_, body) => {
        const outgoing = decodeWanted(body, `${origin}/`).map(({ url, have }): Outgoing => {
          const found = pages.get(url.slice(origin.length));
          if (!found) return { page: { state: 'gone' } };
          const name = Buffer.from(have ?? []).toString('hex');
          if (name === Buffer.from(bodyHash(found.body)).toString('hex')) return { page: { state: 'same' } };
          const { type, time } = found;
          const base = versions.get(name);
          return {
            page: { state: 'page', kind: 'page', type, time, title: '', body: found.body },
            ...(base && { base }),
          };
        });
        return sent(await encodePages(outgoing));
      },
    }),
    ...(faces.has('resourcesync') && {
      '/.well-known/resourcesync': () =>
        sent(
          xml(
            `<rs:md capability="changelist"/>${journal
              .map(
                ({ path, operation, time }) =>
                  `<url><loc>${inXml(origin + path)}</loc><rs:md change="${operation}d" datetime="${date(time)}"/></url>`,
              )
              .join('')}`,
          ),
          'application/xml',
        ),
    }),
    ...(faces.has('feed') && {
      '/changes.atom': () =>
        sent(
          `<feed xmlns="http://www.w3.org/2005/Atom">${journal
            .slice(-50)
            .map(
              ({ path, time }) =>
                `<entry><link href="${inXml(origin + path)}"/><updated>${date(time)}</updated></entry>`,
            )
            .join('')}</feed>`,
          'application/atom+xml',
        ),
    }),
  };
  const server = createServer(async (request, response) => {
    sum.requests++;
    const { socket } = request;
    const passed = () => socket.bytesRead + socket.bytesWritten;
    response.once('close', () => {
      const found = answers[new URL(request.url!, origin).pathname] ? 'faces' : partOf(response);
      const part = sum.parts[found];
      part.requests++;
      part.bytes += passed() - (counted.get(socket) ?? 0);
      counted.set(socket, passed());
    });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url!, origin);
    const face = answers[url.pathname];
    if (!face) return forward(request, url, response);
    const {
      status,
      body = '',
      type = 'application/octet-stream',
    } = await face(url.searchParams, Buffer.concat(chunks));
    const etag = `"${hash('sha256', body).slice(0, 16)}"`;
    if (status === 200 && request.headers['if-none-match'] === etag) return response.writeHead(304, { etag }).end();
    const packed =
      status === 200 && Buffer.byteLength(body) > 500 && /gzip/.test(String(request.headers['accept-encoding']));
    const headers = { 'content-type': type, etag, ...(packed && { 'content-encoding': 'gzip' }) };
    response.writeHead(status, headers).end(status === 204 ? undefined : packed ? gzipSync(body) : body);
  });
  /** As the recorded server answers, with the links of its pages leading here. */
  const forward = async (request: IncomingMessage, url: URL, response: ServerResponse) => {
    const headers: Record<string, string> = { 'accept-encoding': 'identity', connection: 'close' };
    for (const name of ['if-none-match', 'if-modified-since']) {
      const value = request.headers[name];
      if (typeof value === 'string') headers[name] = value;
    }
    const answer = await fetch(behind + url.pathname + url.search, { headers, redirect: 'manual' });
    const kept: Record<string, string> = {};
    for (const name of ['content-type', 'etag', 'last-modified', 'location']) {
      const value = answer.headers.get(name);
      if (value !== null) kept[name] = value.replaceAll(behind, origin);
    }
    if (faces.has('feed') && url.pathname === '/')
      kept['link'] = '</changes.atom>; rel=alternate; type=application/atom+xml';
    let body = mine(Buffer.from(await answer.arrayBuffer()));
    if (/text|xml|json/.test(kept['content-type'] ?? '') && /gzip/.test(String(request.headers['accept-encoding']))) {
      body = gzipSync(body);
      kept['content-encoding'] = 'gzip';
    }
    response.writeHead(answer.status, kept).end(answer.status === 304 ? undefined : body);
  };
  server.on('connection', socket => {
    let before = 0;
    const count = () => {
      sum.bytes += socket.bytesRead + socket.bytesWritten - before;
      before = socket.bytesRead + socket.bytesWritten;
    };
    counters.add(count);
    socket.once('close', () => {
      count();
      counters.delete(count);
    });
  });
  /** Bytes of each connection that were given to a part already. */
  const counted = new WeakMap<Socket, number>();
  const counters = new Set<() => void>();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    async turn(paths, time) {
      const gone = new Set(pages.keys());
      const news: typeof journal = [];
      for (const path of paths) {
        gone.delete(path);
        const answer = await fetch(behind + path, { headers: { connection: 'close' }, redirect: 'manual' });
        if (answer.status !== 200) continue;
        const body = mine(Buffer.from(await answer.arrayBuffer()));
        const type = answer.headers.get('content-type') ?? 'text/html';
        const content = contentOf(origin + path, body, type);
        const before = pages.get(path);
        versions.set(Buffer.from(bodyHash(body)).toString('hex'), body);
        pages.set(path, { content, type, body, time: before?.content === content ? before.time : time });
        if (before?.content === content) continue;
        news.push({ path, time, operation: before ? 'update' : 'create', content: Buffer.from(content, 'hex') });
      }
      for (const path of gone) {
        pages.delete(path);
        news.push({ path, time, operation: 'delete', content: Buffer.alloc(8) });
      }
      const all = [...pages.keys()];
      const false_ = Array.from({ length: Math.round(news.length * lies) }, (_, i) => all[(i * 7919) % all.length]!);
      journal = [
        ...journal,
        ...news.filter((_, i) => untold === 0 || i % untold !== 0),
        ...false_.map(path => ({
          path,
          time,
          operation: 'update' as const,
          content: hash('sha256', `${path}${time}`, 'buffer').subarray(0, 8),
        })),
      ];
    },
    traffic() {
      for (const count of counters) count();
      const all = sum;
      sum = noTraffic();
      return all;
    },
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

function partOf({ statusCode }: ServerResponse): TrafficPart {
  return statusCode === 304 ? 'unchanged' : statusCode === 200 ? 'pages' : 'other';
}

interface Sent {
  readonly status: number;
  readonly body?: string | Uint8Array;
  readonly type?: string;
}

function sent(body: string | Uint8Array, type?: string): Sent {
  return { status: 200, body, ...(type && { type }) };
}

function inXml(url: string): string {
  return url.replaceAll('&', '&amp;');
}
