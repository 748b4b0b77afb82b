/**
 * What it costs home to read facts, links and title of a page itself in place of taking an outpost's word: processor time of
 * restoring parcels with and without derive(), in turns within one run. The synthetic web's pages.
 */
import { hash } from 'node:crypto';
import { derive } from '../src/crawler/analysis/derive.ts';
import type { Errand } from '../src/errand/errand.ts';
import { growing } from '../src/errand/warc/gzip.ts';
import { appendPage } from '../src/errand/warc/page-records.ts';
import { parseHttp } from '../src/errand/warc/warc.ts';
import { plainErrand } from '../test/errand/plain-errand.ts';
import { openWeb } from '../test/web/web.ts';

const ROUNDS = 9;

await using web = await openWeb({ seed: 1, servers: 2, pagesPerServer: 150 });
const pages = await Promise.all(
  web.mustFind().map(async url => {
    const answer = await fetch(url);
    const body = Buffer.from(await answer.arrayBuffer());
    const head = Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${body.length}\r\n\r\n`);
    return { url, body, head };
  }),
);
const plain = plainErrand('k3-1', web.origins[0]!);
const errand: Errand = { ...plain, limits: { ...plain.limits, bodyBytes: 1 << 24 } };

/** Processor milliseconds. */
function restore(deriving: boolean): number {
  const before = process.cpuUsage();
  const members = growing(1 << 20);
  for (const { url, body, head } of pages) {
    const digest = hash('sha256', body, 'buffer');
    const { headers } = parseHttp(head)!;
    if (deriving) derive({ url, status: 200, headers, body, digest, truncated: '' }, errand, 'skein');
    const response = {
      protocol: 'http/1.1',
      address: '127.0.0.1',
      truncated: undefined,
      requestHead: head,
      head,
      body,
    };
    appendPage(members, { url, time: 0, digest, response }, 'small');
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const ratios: number[] = [];
const each = { with: 0, without: 0 };
restore(true);
for (let round = 0; round < ROUNDS; round++) {
  const without = restore(false);
  const withDerive = restore(true);
  ratios.push(withDerive / without);
  each.with += withDerive / pages.length / ROUNDS;
  each.without += without / pages.length / ROUNDS;
}
ratios.sort((a, b) => a - b);
const bytes = pages.reduce((sum, { body }) => sum + body.length, 0) / pages.length;
console.log(
  `${pages.length} pages of ${Math.round(bytes)} bytes, processor time of storing one, mean of ${ROUNDS} rounds:`,
);
console.log(`without deriving ${each.without.toFixed(3)} ms, with it ${each.with.toFixed(3)} ms`);
console.log(`with by without: median ${ratios[ROUNDS >> 1]!.toFixed(2)}, worst ${ratios.at(-1)!.toFixed(2)}`);
