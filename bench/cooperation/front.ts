/**
 * A web server in front of a recorded site that tells of its changes: pages as the replay serves them, and the faces that
 * were asked for on top, all from one journal that our own detector decides. Every byte is counted at its sockets.
 */
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { analyse } from '../../src/crawler/analysis/analyse.ts';
import { unpackFacts } from '../../src/errand/facts.ts';
import { encodeChanges, type SiteChange } from '../../src/notices/site/changes.ts';
import { DETECTOR, encodeDiscovery, encodeFailure, WELL_KNOWN } from '../../src/notices/site/discovery.ts';
import { bucketDigest, bucketOf, bucketsFor, encodeEntries, encodeSummary } from '../../src/notices/site/manifest.ts';
import { bodyHash, decodeWanted, encodePages, type Outgoing } from '../../src/notices/site/pages.ts';
import { decodeCursor } from '../../src/notices/site/paths.ts';
import { Bodies } from '../../src/site/journal/bodies.ts';
import { Meter, SentContents, type Traffic } from './traffic.ts';
import { openWebPages } from './web-pages.ts';

export type FaceName = 'cursor' | 'resourcesync' | 'feed';

/** A page of the day, and what tells its recorded bodies apart. */
export interface DayPage {
  readonly path: string;
  readonly blob: string;
}

export interface Front {
  readonly origin: string;
  /** The day has changed: reads the pages that differ, and enters them. */
  turn(pages: readonly DayPage[], time: number): Promise<void>;
  /** Since the last call. */
  traffic(): Traffic;
  /** Bytes so far. */
  passed(): number;
  /** What goes wrong in telling; for people. */
  problem?(): string;
  /** Bytes of all pages of the last turn that changed, each compressed against its version before: nobody needs less. */
  readonly patches: number;
  /** The same, each whole and compressed: what they take at a server that sends no differences. */
  readonly wholes: number;
  close(): Promise<void>;
}

export interface FrontOptions {
  readonly faces: ReadonlySet<FaceName>;
  /** Pages come as differences from what the reader holds (RFC 9842), as `skein site --front` sends them. */
  readonly dictionaries?: boolean;
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

export async function openFront(behind: string, options: FrontOptions): Promise<Front> {
  const { faces, dictionaries = false, lies = 0, untold = 0 } = options;
  const pages = new Map<string, Held>();
  const blobs = new Map<string, string>();
  /** Bodies by their hash, as a site keeps what its readers hold. */
  const versions = new Map<string, Buffer>();
  let journal: { path: string; operation: SiteChange['operation']; time: number; content: Buffer }[] = [];
  let origin = '';
  let patches = 0;
  let wholes = 0;
  const directory = mkdtempSync(join(tmpdir(), 'skein-versions-'));
  const bodies = new Bodies(directory, 2 ** 30);
  const web = await openWebPages({
    ...{ behind, origin: () => origin, feed: faces.has('feed') ? '/changes.atom' : undefined },
    differences: dictionaries ? bodies : undefined,
  });
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
        ok(
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
        return ok(encodeChanges({ cursor: cursor(), more: false, changes: [...last.values()] }));
      },
      [`${WELL_KNOWN}/manifest`]: query => {
        const all = entries();
        if (query.has('of')) {
          const of = new Set(query.get('of')!.split(',').map(Number));
          return ok(encodeEntries(all.filter(({ url }) => of.has(bucketOf(url, Number(query.get('buckets')))))));
        }
        const buckets = bucketsFor(all.length);
        const spread = Array.from({ length: buckets }, (_, n) => all.filter(({ url }) => bucketOf(url, buckets) === n));
        return ok(encodeSummary({ cursor: cursor(), pages: all.length, digests: spread.map(bucketDigest) }));
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
        return ok(await encodePages(outgoing));
      },
    }),
    ...(faces.has('resourcesync') && {
      '/.well-known/resourcesync': () =>
        ok(
          xml(
            `<rs:md capability="capabilitylist"/>${['resourcelist', 'changelist']
              .map(name => `<url><loc>${origin}/${name}.xml</loc><rs:md capability="${name}"/></url>`)
              .join('')}`,
          ),
          'application/xml',
        ),
      '/resourcelist.xml': () => {
        const urls = [...pages.keys()].map(path => `<url><loc>${inXml(origin + path)}</loc></url>`);
        return ok(xml(`<rs:md capability="resourcelist"/>${urls.join('')}`), 'application/xml');
      },
      '/changelist.xml': () =>
        ok(
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
        ok(
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
    const url = new URL(request.url!, origin);
    const face = answers[url.pathname];
    meter.note(request, response, face ? 'faces' : contents);
    if (!face) return web.answer(request, response);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
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
  const contents = new SentContents(path => pages.get(path)?.content);
  const meter = new Meter(server);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    get patches() {
      return patches;
    },
    get wholes() {
      return wholes;
    },
    async turn(days, time) {
      patches = 0;
      wholes = 0;
      const gone = new Set(pages.keys());
      const news: typeof journal = [];
      for (const { path, blob } of days) {
        gone.delete(path);
        if (blobs.get(path) === blob) continue;
        blobs.set(path, blob);
        const found = await web.read(path);
        if (!found) continue;
        const { body, type } = found;
        const content = contentOf(origin + path, body, type);
        const before = pages.get(path);
        versions.set(Buffer.from(bodyHash(body)).toString('hex'), body);
        if (dictionaries) bodies.put(hash('sha256', body), body);
        pages.set(path, { content, type, body, time: before?.content === content ? before.time : time });
        if (before?.content === content) continue;
        patches += patchOf(body, before?.body);
        wholes += gzipSync(body).length;
        news.push({ path, time, operation: before ? 'update' : 'create', content: Buffer.from(content, 'hex') });
      }
      for (const path of gone) {
        blobs.delete(path);
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
    traffic: () => meter.take(),
    passed: () => meter.passed(),
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
      web.close();
      bodies.close();
      rmSync(directory, { recursive: true });
    },
  };
}

function patchOf(body: Buffer, before: Buffer | undefined): number {
  const params = { [constants.ZSTD_c_compressionLevel]: 12, [constants.ZSTD_c_windowLog]: 23 };
  return zstdCompressSync(body, { params, ...(before && { dictionary: before }) }).length;
}

interface Sent {
  readonly status: number;
  readonly body?: string | Uint8Array;
  readonly type?: string;
}

function ok(body: string | Uint8Array, type?: string): Sent {
  return { status: 200, body, ...(type && { type }) };
}

function inXml(url: string): string {
  return url.replaceAll('&', '&amp;');
}
