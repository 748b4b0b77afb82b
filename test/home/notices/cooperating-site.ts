/**
 * A cooperating site on loopback, made of the protocol's own codecs: pages that a test sets, a journal of what became of
 * them, and the faces on top. It can be put back in time, and it can lie.
 */
import { hash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { analyse } from '../../../src/crawler/analysis/analyse.ts';
import { unpackFacts } from '../../../src/errand/facts.ts';
import { encodeChanges, type SiteChange } from '../../../src/notices/site/changes.ts';
import { DETECTOR, encodeDiscovery, encodeFailure, WELL_KNOWN } from '../../../src/notices/site/discovery.ts';
import {
  bucketDigest,
  bucketOf,
  bucketsFor,
  encodeEntries,
  encodeSummary,
  type ManifestEntry,
} from '../../../src/notices/site/manifest.ts';
import { bodyHash, decodeWanted, encodePages, type Outgoing } from '../../../src/notices/site/pages.ts';
import { decodeCursor, encodeCursor, type ToldKind } from '../../../src/notices/site/paths.ts';

export interface Document {
  readonly body: string;
  readonly kind?: ToldKind;
  readonly type?: string;
}

export interface CooperatingSite extends AsyncDisposable {
  readonly origin: string;
  /** Puts a document there, or takes it away, and enters that into the journal unless it is kept silent. */
  set(path: string, document: Document | undefined, how?: { silent?: boolean; time?: number }): void;
  /** Says that a page has changed that has not. */
  lie(path: string): void;
  /** What bulk gives in place of the page. */
  forge(path: string, body: string): void;
  /** Forgets the last so many entries of the journal, and writes it on from there. */
  restore(entries: number): void;
  /** Requests so far, by method and path without the query; robots.txt left out. */
  readonly asked: string[];
  /** Answers of other paths. */
  readonly extra: Map<
    string,
    (request: IncomingMessage, body: Buffer) => { status: number; body?: string | Uint8Array; type?: string }
  >;
  /** Bytes both ways at its sockets. */
  bytes(): number;
}

interface Entry extends SiteChange {
  readonly chain: string;
}

export function contentOf(url: string, body: string, type = 'text/html; charset=utf-8'): Uint8Array {
  const headers = new Map([['content-type', type]]);
  const page = analyse(
    { url, headers, body: Buffer.from(body), raw: new Uint8Array(16) },
    { focus: [], agentToken: 'x' },
  );
  return unpackFacts(page.facts)!.content.slice(0, 8);
}

const html = 'text/html; charset=utf-8';

export async function openSite(): Promise<CooperatingSite> {
  const documents = new Map<string, Document & { time: number; versions: Map<string, string> }>();
  const forged = new Map<string, string>();
  let journal: Entry[] = [];
  const asked: string[] = [];
  const extra: CooperatingSite['extra'] = new Map();
  let bytes = 0;
  let origin = '';
  const cursorAt = (sequence: number) =>
    encodeCursor({ sequence, chain: sequence === 0 ? '0'.repeat(16) : journal[sequence - 1]!.chain });
  const enter = (change: SiteChange) => {
    const before = journal.at(-1)?.chain ?? '';
    const chain = hash(
      'sha256',
      `${before} ${change.url} ${change.operation} ${Buffer.from(change.content).toString('hex')} ${change.time}`,
    );
    journal.push({ ...change, chain: chain.slice(0, 16) });
  };
  const entries = (): ManifestEntry[] =>
    [...documents].map(([path, { body, kind = 'page', type = html, time }]) => {
      const url = origin + path;
      return { url, kind, time, content: contentOf(url, body, type) };
    });
  const manifest = (query: URLSearchParams): Uint8Array => {
    const all = entries();
    if (!query.has('of')) {
      const buckets = bucketsFor(all.length);
      const spread = Array.from({ length: buckets }, (_, n) => all.filter(({ url }) => bucketOf(url, buckets) === n));
      return encodeSummary({ cursor: cursorAt(journal.length), pages: all.length, digests: spread.map(bucketDigest) });
    }
    const of = new Set(query.get('of')!.split(',').map(Number));
    return encodeEntries(all.filter(({ url }) => of.has(bucketOf(url, Number(query.get('buckets'))))));
  };
  const changes = (query: URLSearchParams): { status: number; body?: Uint8Array | string } => {
    const cursor = decodeCursor(query.get('since') ?? '');
    if (!cursor) return { status: 400, body: encodeFailure('bad-request', 'no cursor') };
    const { sequence } = cursor;
    if (sequence > journal.length || cursorAt(sequence) !== query.get('since'))
      return { status: 409, body: encodeFailure('other-history', 'this is another journal') };
    if (sequence === journal.length) return { status: 204 };
    const last = new Map<string, SiteChange>();
    for (const entry of journal.slice(sequence)) last.set(entry.url, entry);
    return {
      status: 200,
      body: encodeChanges({ cursor: cursorAt(journal.length), more: false, changes: [...last.values()] }),
    };
  };
  const pages = async (body: Buffer): Promise<Uint8Array> => {
    const outgoing = decodeWanted(body, `${origin}/`).map(({ url, have }): Outgoing => {
      const path = url.slice(origin.length);
      const found = documents.get(path);
      if (!found) return { page: { state: 'gone' } };
      const { type = html, time } = found;
      const kind = found.kind === 'unlisted' ? 'page' : (found.kind ?? 'page');
      const text = Buffer.from(forged.get(path) ?? found.body);
      const name = Buffer.from(have ?? []).toString('hex');
      if (name === Buffer.from(bodyHash(text)).toString('hex')) return { page: { state: 'same' } };
      const base = found.versions.get(name);
      const page = { state: 'page', kind, type, time, title: '', body: text } as const;
      return { page, ...(base !== undefined && { base: Buffer.from(base) }) };
    });
    return encodePages(outgoing);
  };
  const discovery = () =>
    encodeDiscovery({
      ...{ protocol: 1, software: 'test', site: `${origin}/`, detector: DETECTOR, access: 'open' },
      ...{ journal: { first: 0, cursor: cursorAt(journal.length) }, pages: documents.size },
      ...{ changes: `${WELL_KNOWN}/changes`, manifest: `${WELL_KNOWN}/manifest`, pagesAt: `${WELL_KNOWN}/pages` },
      limits: { requestsAMinute: 1000, wanted: 1000, wait: 0 },
    });
  const answer = async (request: IncomingMessage, body: Buffer) => {
    const url = new URL(request.url!, origin);
    const path = url.pathname;
    const other = extra.get(path);
    if (other) return other(request, body);
    if (path === '/robots.txt') return { status: 404 };
    if (path === WELL_KNOWN) return { status: 200, body: discovery(), type: 'application/json' };
    if (path === `${WELL_KNOWN}/changes`) return changes(url.searchParams);
    if (path === `${WELL_KNOWN}/manifest`) return { status: 200, body: manifest(url.searchParams) };
    if (path === `${WELL_KNOWN}/pages`) return { status: 200, body: await pages(body) };
    const found = documents.get(path + url.search);
    // What no link leads to has no page of its own.
    if (!found || found.kind === 'record' || found.kind === 'media')
      return { status: 404, body: 'nothing here', type: 'text/plain' };
    return { status: 200, body: found.body, type: found.type ?? html };
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.url !== '/robots.txt') asked.push(`${request.method} ${request.url!.split('?')[0]}`);
    const {
      status,
      body = '',
      type = 'application/octet-stream',
    } = (await answer(request, Buffer.concat(chunks))) as {
      status: number;
      body?: string | Uint8Array;
      type?: string;
    };
    const etag = `"${hash('sha256', body).slice(0, 16)}"`;
    if (status === 200 && request.headers['if-none-match'] === etag) return response.writeHead(304, { etag }).end();
    response
      .writeHead(status, { 'content-type': type, ...(status === 200 && { etag }) })
      .end(status === 204 ? undefined : body);
  });
  server.on('connection', socket => {
    let [read, written] = [0, 0];
    const count = () => {
      bytes += socket.bytesRead - read + socket.bytesWritten - written;
      [read, written] = [socket.bytesRead, socket.bytesWritten];
    };
    socket.on('data', count);
    socket.on('close', count);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    asked,
    extra,
    bytes: () => bytes,
    set(path, document, { silent = false, time = Date.now() } = {}) {
      const before = documents.get(path);
      const versions = before?.versions ?? new Map<string, string>();
      if (before) versions.set(Buffer.from(bodyHash(Buffer.from(before.body))).toString('hex'), before.body);
      if (document) documents.set(path, { ...document, time, versions });
      else documents.delete(path);
      if (silent) return;
      const url = origin + path;
      const kind = (document ?? before)?.kind ?? 'page';
      const operation = !document ? 'delete' : before ? 'update' : 'create';
      const content = document ? contentOf(url, document.body, document.type) : new Uint8Array(8);
      enter({ url, operation, kind, time: Math.floor(time / 1000) * 1000, content });
    },
    lie(path) {
      const content = new Uint8Array(hash('sha256', `${path} ${journal.length}`, 'buffer').subarray(0, 8));
      enter({
        url: origin + path,
        operation: 'update',
        kind: 'page',
        time: Math.floor(Date.now() / 1000) * 1000,
        content,
      });
    },
    forge: (path, body) => void forged.set(path, body),
    restore(count) {
      journal = journal.slice(0, journal.length - count);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
