/** A fetcher as a browser would be one: pages of its site come with a redirect before them and a script beside them. */
import type { Answer, Ask, Fetcher, Response } from '../../src/crawler/stages.ts';

function responseOf(url: string, status: number, lines: readonly string[], text: string): Response {
  const body = Buffer.from(text);
  const head = `HTTP/1.1 ${status} Fine\r\n${lines.map(line => `${line}\r\n`).join('')}\r\n`;
  const headers = lines.map(line => line.split(': ') as [string, string]);
  return {
    ...{ kind: 'response', status, protocol: 'http/1.1', address: '192.0.2.8', body },
    head: Buffer.from(head),
    requestHead: Buffer.from(`GET ${new URL(url).pathname} HTTP/1.1\r\nHost: ${new URL(url).host}\r\n\r\n`),
    headers: new Map(headers.map(([name, value]) => [name.toLowerCase(), value])),
    wire: { up: 10, down: body.length, firstByte: 1, total: 1 },
  };
}

export function makeFetcher({ secret }: { secret: string }): Fetcher {
  return {
    async fetch({ url }: Ask): Promise<Answer> {
      const { pathname, origin } = new URL(url);
      if (pathname !== '/' && !pathname.startsWith('/p'))
        return responseOf(url, 404, ['Content-Type: text/plain'], 'no');
      const time = Date.UTC(2026, 0, 1);
      const hop = `${origin}/old${pathname}`;
      const script = `${origin}/script.js`;
      const links = pathname === '/' ? '<a href="/p1">one</a><a href="/p2">two</a>' : '';
      const page = responseOf(
        url,
        200,
        ['Content-Type: text/html'],
        `<title>${pathname}</title>made by ${pathname}${links}`,
      );
      return {
        ...page,
        parts: [
          { url: hop, time, response: responseOf(hop, 302, [`Location: ${url}`], '') },
          { url: script, time, response: responseOf(script, 200, ['Content-Type: text/javascript'], `// ${secret}`) },
        ],
      };
    },
    release() {},
    async close() {},
  };
}
