/** Seeds that redirect to where the crawl does not go: of such a site one page is taken, and its owner's user wonders. */
import { fingerprint } from '../base/url.ts';
import { compileScope, parseScope } from '../errand/scope.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { PageRow } from '../ledger/pages.ts';

/** Seeds that are looked at; finding one reads the table of pages. */
const LOOKED_AT = 10;
const HOPS = 5;

/** A sentence for each. */
export function strayed(ledger: Ledger, seeds: readonly string[], scope: readonly string[]): string[] {
  const outside = compileScope(parseScope(scope), seeds);
  return seeds.slice(0, LOOKED_AT).flatMap(seed => {
    const end = endOf(ledger, seed);
    if (end === undefined || outside(end.url) === undefined) return [];
    return [
      `${seed} redirects to ${end.url}, which is outside: no link was followed from there. Give that URL to "skein crawl".`,
    ];
  });
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
