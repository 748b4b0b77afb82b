/** Finding the page that a person names. */
import { SkeinError } from '../../base/errors.ts';
import { fingerprint, normalise, notUrl, withScheme } from '../../base/url.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { KnownRow } from '../../ledger/pages/known-row.ts';
import type { PageRow } from '../../ledger/pages/pages.ts';

export interface Found {
  readonly page: PageRow;
  readonly known: KnownRow | undefined;
}

/** The page with this URL. Redirects are not followed: an alias is a page of its own. */
export function findPage(ledger: Ledger, text: string): Found {
  const written = withScheme(text);
  const url = normalise(written);
  if (url === undefined) throw notUrl(text);
  // Who writes no scheme means the page that there is.
  const page =
    pageOf(ledger, url) ?? (written === text.trim() ? undefined : pageOf(ledger, normalise(`http://${text.trim()}`)));
  if (!page) {
    throw new SkeinError(
      'not-found',
      `The collection has never heard of ${url}.`,
      'List what it has with "skein pages".',
    );
  }
  return { page, known: ledger.pages.known(page.id) };
}

function pageOf(ledger: Ledger, url: string | undefined): PageRow | undefined {
  if (url === undefined) return undefined;
  const { high, low } = fingerprint(url, { high: 0, low: 0 });
  return ledger.pages.find(high, low);
}
