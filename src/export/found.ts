/** What hooks took from pages, a line of JSON each: the URL, the time, and the data. */
import type { Writable } from 'node:stream';
import { Ledger } from '../ledger/ledger.ts';
import { type Exporter, partsOf, put, type Wanted } from './exporter.ts';

async function writeFound(wanted: Wanted, out: Writable): Promise<number> {
  let count = 0;
  for (const { data } of partsOf(wanted)) {
    using opened = new DisposableStack();
    const ledger = opened.adopt(new Ledger(data, 'read'), each => each.close());
    for (const { url, time, data: found } of ledger.visits.found.between(0, Number.MAX_SAFE_INTEGER, wanted.newest)) {
      if (time < wanted.since || time >= wanted.until || !wanted.matches(url)) continue;
      const head = JSON.stringify({ url, time: new Date(time).toISOString() }).slice(0, -1);
      await put(out, `${head},"data":${found}}\n`);
      count++;
    }
  }
  return count;
}

export const found: Exporter = { name: 'found', binary: false, pages: true, write: writeFound };
