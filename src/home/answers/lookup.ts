/** Finding the page that a person names. */
import { SkeinError } from '../../base/errors.ts';
import { fingerprint, normalise, notUrl, withScheme } from '../../base/url.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { KnownRow } from '../../ledger/pages/known-row.ts';
import type { PageRow } from '../../ledger/pages/pages.ts';

export interface LookedUpPage {
  readonly page: PageRow;
  readonly known: KnownRow | undefined;
}

/** URLs that a person who writes this may mean, the likeliest first. Who writes no scheme means the page that there is. */
export function urlsMeant(text: string): readonly string[] {
  const written = withScheme(text);
  const url = normalise(written);
  if (url === undefined) throw notUrl(text);
  const plain = written === text.trim() ? undefined : normalise(`http://${text.trim()}`);
  return plain === undefined ? [url] : [url, plain];
}

/** The first of these pages that there is. Redirects are not followed: an alias is a page of its own. */
export function lookUp(ledger: Ledger, urls: readonly string[]): LookedUpPage | undefined {
  for (const url of urls) {
    const { high, low } = fingerprint(url, { high: 0, low: 0 });
    const page = ledger.pages.find(high, low);
    if (page) return { page, known: ledger.pages.known(page.id) };
  }
  return undefined;
}

export function neverHeard(url: string): SkeinError {
  return new SkeinError('not-found', `The collection does not know ${url}.`, '"skein pages" lists the known pages.');
}

/** The page with this URL. */
export function findPage(ledger: Ledger, text: string): LookedUpPage {
  const urls = urlsMeant(text);
  const found = lookUp(ledger, urls);
  if (found) return found;
  throw neverHeard(urls[0]!);
}
