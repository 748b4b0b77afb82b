/** The shared search cache, told: terms that people searched here and that led to pages of a site, where it takes them. */
import { DAY } from '../../../base/clock.ts';
import { originOf } from '../../../base/url.ts';
import { decodeDiscovery, decodeFailure, siteLimits, WELL_KNOWN } from '../../../notices/site/discovery.ts';
import { encodeTerms } from '../../../notices/site/terms.ts';
import { forgetSearched, readSearched } from '../../../search/index.ts';
import { type Done, NOTHING } from '../messages.ts';
import type { Asking } from './asking.ts';

interface SearchedParts {
  readonly origin: string;
  readonly token: string | undefined;
  /** The search index. */
  readonly file: string;
}

/** `granted` where there was something to tell, and the site took it. */
export async function tellSearched(asking: Asking, { origin, token, file }: SearchedParts): Promise<Done> {
  const terms = readSearched(file, origin, siteLimits.terms);
  if (terms.length === 0) return NOTHING;
  const url = origin + WELL_KNOWN;
  const found = await asking.own({ url, maxBytes: siteLimits.discoveryBytes, accept: 'application/json' });
  if (found.status !== 200) return failed(`it answers ${found.status}`);
  const { terms: at } = decodeDiscovery(Buffer.from(found.body).toString(), found.url);
  if (at === undefined || originOf(at) !== origin) return failed('it accepts no search terms');
  const content = { type: 'application/json', bytes: Buffer.from(encodeTerms(terms)) };
  const credentials = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { status, body } = await asking.own({
    ...{ url: at, method: 'POST', content, maxBytes: siteLimits.discoveryBytes, accept: '*/*' },
    ...credentials,
  });
  if (status !== 204) return failed(decodeFailure(status, Buffer.from(body).toString()).message);
  forgetSearched(file, origin);
  return { ...NOTHING, granted: true };
}

function failed(trouble: string): Done {
  return { ...NOTHING, every: DAY, trouble };
}
