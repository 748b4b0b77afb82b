/** Crawlee's CheerioCrawler as a contender: saves bodies, request queue in memory (its faster setting). */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { CONNECTIONS } from './contenders.ts';

const [modules, directory, pages, ...seeds] = process.argv.slice(2) as [string, string, string, ...string[]];
const { CheerioCrawler, Configuration, log, LogLevel } = createRequire(join(modules, 'x.js'))('@crawlee/cheerio');
log.setLevel(LogLevel.ERROR);
const hosts = new Set(seeds.map(seed => new URL(seed).host));

const crawler = new CheerioCrawler(
  {
    minConcurrency: CONNECTIONS,
    maxConcurrency: CONNECTIONS,
    maxRequestsPerCrawl: Number(pages),
    maxRequestRetries: 0,
    async requestHandler(context: {
      request: { loadedUrl: string };
      body: string | Buffer;
      enqueueLinks: (options: object) => Promise<unknown>;
    }) {
      const name = createHash('sha1').update(context.request.loadedUrl).digest('hex');
      writeFileSync(join(directory, `${name}.html`), context.body);
      await context.enqueueLinks({
        strategy: 'all',
        transformRequestFunction: (request: { url: string }) =>
          hosts.has(new URL(request.url).host) ? request : false,
      });
    },
  },
  new Configuration({ persistStorage: false, availableMemoryRatio: 0.5 }),
);
await crawler.run(seeds);
