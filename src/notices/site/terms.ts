/**
 * The shared search cache: terms that people searched at home and that led to pages of this site, with counts. Nothing
 * says who asked, when, or what else they asked.
 */
import { z } from 'zod';
import { normalise, originOf } from '../../base/url.ts';
import { bad, siteLimits } from './discovery.ts';

export interface SharedTerm {
  readonly term: string;
  readonly count: number;
  /** The page of this site that most of these searches led to. */
  readonly url?: string;
  readonly title?: string;
}

const termSchema = z.object({
  term: z.string().min(1).max(100),
  count: z.int().min(1).max(1e12),
  url: z.string().max(4096).optional(),
  title: z.string().max(500).optional(),
});
const termsSchema = z.object({ terms: z.array(termSchema).max(siteLimits.terms) });

export function encodeTerms(terms: readonly SharedTerm[]): string {
  return JSON.stringify({ terms });
}

/** Terms come back in small letters with single blanks; a page of another server is left out. */
export function decodeTerms(text: string, site: string): readonly SharedTerm[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw bad('the terms are not JSON');
  }
  const read = termsSchema.safeParse(json);
  if (!read.success) throw bad(`the terms are malformed (${read.error.issues[0]?.path.join('.')})`);
  return read.data.terms.map(({ term, count, url, title }) => {
    const page = url === undefined ? undefined : normalise(url, site);
    const own = page !== undefined && originOf(page) === originOf(site);
    return { term: plain(term).toLowerCase(), count, ...(own && { url: page, ...(title && { title: plain(title) }) }) };
  });
}

function plain(text: string): string {
  return text
    .normalize('NFC')
    .replace(/[\x00-\x20\x7f]+/g, ' ')
    .trim();
}
