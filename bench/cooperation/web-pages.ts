/** The recorded site as a web server shows it, with the links of its pages leading to the server in front of it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Front as SiteFront } from '../../src/site/front.ts';
import type { Bodies } from '../../src/site/journal/bodies.ts';

export interface WebPages {
  /** As the recorded server has it now; undefined = it does not. */
  read(path: string): Promise<{ readonly body: Buffer; readonly type: string } | undefined>;
  answer(request: IncomingMessage, response: ServerResponse): void;
  close(): void;
}

interface WebOptions {
  /** Of the recorded site, and of the server that readers ask. */
  readonly behind: string;
  readonly origin: () => string;
  /** Named by the pages that are asked for first, as a front page does. */
  readonly feed?: string | undefined;
  /** Versions from which differences are made, by the front of `skein site`; undefined = pages come whole. */
  readonly differences?: Bodies | undefined;
}

const NAMING = 10;

export async function openWebPages({ behind, origin, feed, differences }: WebOptions): Promise<WebPages> {
  const mine = (body: ArrayBuffer) =>
    Buffer.from(Buffer.from(body).toString('latin1').replaceAll(behind, origin()), 'latin1');
  const naming = new Set<string>();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    request.resume();
    const { pathname, search } = new URL(request.url!, behind);
    const headers: Record<string, string> = { 'accept-encoding': 'identity', connection: 'close' };
    for (const name of ['if-none-match', 'if-modified-since']) {
      const value = request.headers[name];
      if (typeof value === 'string') headers[name] = value;
    }
    const found = await fetch(behind + pathname + search, { headers, redirect: 'manual' });
    const kept: Record<string, string> = {};
    for (const name of ['content-type', 'etag', 'last-modified', 'location']) {
      const value = found.headers.get(name);
      if (value !== null) kept[name] = value.replaceAll(behind, origin());
    }
    const isPage = found.status === 200 && /^text\/html/.test(kept['content-type'] ?? '');
    if (isPage && naming.size < NAMING) naming.add(pathname);
    if (feed && naming.has(pathname)) kept['link'] = `<${feed}>; rel=alternate; type=application/atom+xml`;
    let body = mine(await found.arrayBuffer());
    if (/text|xml|json/.test(kept['content-type'] ?? '') && /gzip/.test(String(request.headers['accept-encoding']))) {
      body = gzipSync(body);
      kept['content-encoding'] = 'gzip';
    }
    response.writeHead(found.status, kept).end(found.status === 304 ? undefined : body);
  };
  const read: WebPages['read'] = async path => {
    const found = await fetch(behind + path, { headers: { connection: 'close' }, redirect: 'manual' });
    const body = mine(await found.arrayBuffer());
    return found.status === 200 ? { body, type: found.headers.get('content-type') ?? 'text/html' } : undefined;
  };
  if (!differences) return { read, answer, close: () => {} };
  const server = createServer(answer);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const front = new SiteFront(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, differences);
  return {
    read,
    answer: (request, response) => front.pass(request, response),
    close: () => {
      front.close();
      server.closeAllConnections();
      server.close();
    },
  };
}
