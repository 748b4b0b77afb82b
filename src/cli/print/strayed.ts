/** Seeds that redirect to another host: whoever asked for one site should hear that it got another, or none. */
import { fingerprint } from '../../base/url.ts';
import { compileScope } from '../../errand/scope/scope.ts';
import type { FrontierOptions } from '../../frontier/options.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { PageRow } from '../../ledger/pages/pages.ts';

/** Seeds that are looked at; finding one reads the table of pages. */
const LOOKED_AT = 10;
const HOPS = 5;

/** A sentence for each. */
export function strayed(ledger: Ledger, seeds: readonly string[], outside: FrontierOptions['outside']): string[] {
  return seeds.slice(0, LOOKED_AT).flatMap(seed => {
    const end = endOf(ledger, seed);
    if (end === undefined || outsideOwn(seed, end.url) === undefined) return [];
    return outside(end.url) === undefined
      ? [`${seed} has moved to ${end.url}, and the crawl followed. Use --scope to restrict it.`]
      : [
          `${seed} redirects to ${end.url}, which is out of scope: Skein followed no links from there. To crawl it: skein crawl URL`,
        ];
  });
}

/** Is it on another host than the seed? */
function outsideOwn(seed: string, url: string): unknown {
  return compileScope({ domains: [], include: [], exclude: [] }, [seed])(url);
}

/** Where its redirects lead. */
function endOf(ledger: Ledger, seed: string): PageRow | undefined {
  const { high, low } = fingerprint(seed, { high: 0, low: 0 });
  let page = ledger.pages.find(high, low);
  for (let hop = 0; page && hop < HOPS; hop++) {
    const next = ledger.pages.known(page.id)?.moved_to;
    if (!next) return page;
    page = ledger.pages.get(next);
  }
  return page;
}
