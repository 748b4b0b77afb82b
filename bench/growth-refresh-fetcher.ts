/** The synthetic web under the URLs of a made-up ledger (workbench/large-ledger.ts): the page's number tells which it is. */
import type { Fetcher } from '../src/crawler/stages.ts';
import { syntheticFetcher } from '../test/web/synthetic.ts';

export function makeFetcher(): Fetcher {
  const web = syntheticFetcher({ servers: 1_000_000, pagesPerServer: 1_000_000_000 });
  return {
    ...web,
    fetch: ask => web.fetch({ ...ask, url: ask.url.replace(/\/section-\d+\/page-(\d+)\.html$/, '/p/$1') }),
  };
}
