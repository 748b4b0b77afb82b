/** Finding the page that a person names. */
import { SkeinError } from '../base/errors.ts';
import { fingerprint, normalise } from '../base/url.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { KnownRow, PageRow } from '../ledger/pages.ts';

export interface Found {
  readonly page: PageRow;
  readonly known: KnownRow | undefined;
}

/** The page with this URL. Redirects are not followed: an alias is a page of its own. */
export function findPage(ledger: Ledger, text: string): Found {
  const url = normalise(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`);
  if (url === undefined)
    throw new SkeinError('bad-option', `"${text}" is not a URL.`, 'Write it as https://example.org/page.');
  const { high, low } = fingerprint(url, { high: 0, low: 0 });
  const page = ledger.pages.find(high, low);
  if (!page) {
    throw new SkeinError(
      'not-found',
      `The collection has never heard of ${url}.`,
      'List what it has with "skein pages".',
    );
  }
  return { page, known: ledger.pages.known(page.id) };
}
