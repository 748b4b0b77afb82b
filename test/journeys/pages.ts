/** A server on loopback whose pages a test sets one by one: for what the synthetic web does not do by itself. */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Served {
  readonly status?: number;
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sends an ETag of the body and answers 304 where it matches. */
  readonly tagged?: boolean;
}

export interface Pages extends AsyncDisposable {
  readonly origin: string;
  /** What a path answers from now on; a function is asked at each request, with the number of requests before. */
  set(path: string, served: Served | ((count: number) => Served)): void;
  /** What every other path answers from now on. */
  otherwise(page: Served): void;
  /** Paths asked for so far, robots.txt and the well-known places left out. */
  readonly asked: string[];
  /** Bytes of bodies sent. */
  sent(): number;
}

export async function openPages(host = '127.0.0.1'): Promise<Pages> {
  const served = new Map<string, Served | ((count: number) => Served)>();
  const counts = new Map<string, number>();
  const asked: string[] = [];
  let sent = 0;
  let other: Served = { status: 404, body: 'nothing here' };
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    if (path !== '/robots.txt' && !path.startsWith('/.well-known/')) asked.push(path);
    const count = counts.get(path) ?? 0;
    counts.set(path, count + 1);
    const found = served.get(path) ?? other;
    const {
      status = 200,
      body = '',
      headers = {},
      tagged = false,
    } = typeof found === 'function' ? found(count) : found;
    const etag = `"${createHash('sha1').update(body).digest('hex').slice(0, 12)}"`;
    const all: Record<string, string> = { 'content-type': 'text/html; charset=utf-8', ...headers };
    if (tagged) all['etag'] = etag;
    if (tagged && request.headers['if-none-match']?.includes(etag)) {
      response.writeHead(304, all);
      response.end();
      return;
    }
    sent += Buffer.byteLength(body);
    response.writeHead(status, all);
    response.end(body);
  });
  const origin = await new Promise<string>(resolve => {
    server.listen(0, host, () => resolve(`http://${host}:${(server.address() as AddressInfo).port}`));
  });
  return {
    origin,
    asked,
    otherwise(page) {
      other = page;
    },
    set: (path, page) => void served.set(path, page),
    sent: () => sent,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

/** A page with a few paragraphs and links. */
export function html(title: string, paragraphs: readonly string[], links: readonly string[] = []): string {
  return `<!DOCTYPE html><html lang="en"><head><title>${title}</title></head><body><main><h1>${title}</h1>
${paragraphs.map(text => `<p>${text}</p>`).join('\n')}
<ul>${links.map(href => `<li><a href="${href}">to ${href}</a></li>`).join('')}</ul></main></body></html>`;
}

/** Some words that are the same each time. */
export function prose(seed: number, words = 40): string {
  const list = 'goose river cloud winter north feather shore reed morning flock distance wind marsh grey'.split(' ');
  return Array.from({ length: words }, (_, i) => list[(seed * 7 + i * (seed + 3)) % list.length]).join(' ');
}
