/**
 * A folder of HTML files as a site: a fetcher of your own stands in for the network.
 *
 *   node own-fetcher.ts FOLDER COLLECTION
 */
import { readFile } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import { type Answer, type Ask, type Fetcher, open } from 'skein';

const ORIGIN = 'http://folder.invalid';

/** Called once in each fetching thread, with the options that open() was given: plain data. */
export function makeFetcher({ folder }: { folder: string }): Fetcher {
  return {
    async fetch({ url }: Ask): Promise<Answer> {
      const path = normalize(decodeURIComponent(new URL(url).pathname));
      const body = await readFile(join(folder, path.endsWith('/') ? `${path}index.html` : path)).catch(() => undefined);
      const status = body ? 200 : 404;
      const type = path.endsWith('.css') ? 'text/css' : 'text/html; charset=utf-8';
      return {
        kind: 'response',
        status,
        head: Buffer.from(`HTTP/1.1 ${status} ${body ? 'OK' : 'Not Found'}\r\nContent-Type: ${type}\r\n\r\n`),
        requestHead: Buffer.from(`GET ${path} HTTP/1.1\r\nHost: folder.invalid\r\n\r\n`),
        headers: new Map([['content-type', type]]),
        body: body ?? Buffer.alloc(0),
        protocol: 'http/1.1',
        address: '',
        wire: { up: 0, down: body?.length ?? 0, firstByte: 0, total: 0 },
      };
    },
    release() {},
    async close() {},
  };
}

// The threads import this file, too: only the program itself crawls.
if (import.meta.main) {
  const [folder = '.', data = 'collection'] = process.argv.slice(2);
  await using skein = await open({ data, pace: 0, fetcher: { module: import.meta.url, options: { folder } } });
  for await (const page of skein.crawl(`${ORIGIN}/`))
    console.log(page.outcome, page.url.slice(ORIGIN.length), page.title ?? '');
}
