/** Sitemaps: an index, and sitemaps of at most 50,000 pages; `lastmod` is when what a reader sees last changed. */
import { originOf } from '../../base/url.ts';
import { WELL_KNOWN } from '../../notices/site/discovery.ts';
import type { Journal } from '../journal/journal.ts';
import { isListed, type JournalPage } from '../journal/lines.ts';
import { DECLARATION, dateTime, escaped, SITEMAP_NAMESPACE } from './xml.ts';

const SITEMAP_PAGES = 50_000;

/** The pages in the order of their paths, in parts of the size of a sitemap; at least one. */
export function parts(journal: Journal): readonly (readonly JournalPage[])[] {
  const listed = [...journal.pages.values()].filter(isListed);
  const pages = listed.sort((a, b) => (a.path < b.path ? -1 : 1));
  const count = Math.max(1, Math.ceil(pages.length / SITEMAP_PAGES));
  return Array.from({ length: count }, (_, i) => pages.slice(i * SITEMAP_PAGES, (i + 1) * SITEMAP_PAGES));
}

function newest(pages: readonly { readonly time: number }[]): number {
  return pages.reduce((most, { time }) => Math.max(most, time), 0);
}

export function sitemapIndex(journal: Journal, site: string): string {
  const at = originOf(site) + WELL_KNOWN;
  const entries = parts(journal).map((pages, i) => {
    const lastmod = pages.length === 0 ? '' : `<lastmod>${dateTime(newest(pages))}</lastmod>`;
    return `<sitemap><loc>${escaped(`${at}/sitemap-${i + 1}.xml`)}</loc>${lastmod}</sitemap>\n`;
  });
  return `${DECLARATION}<sitemapindex xmlns="${SITEMAP_NAMESPACE}">\n${entries.join('')}</sitemapindex>\n`;
}

/** `number` from 1; undefined = there is no such part. */
export function sitemap(journal: Journal, site: string, number: number): string | undefined {
  const pages = parts(journal)[number - 1];
  if (pages === undefined) return undefined;
  const origin = originOf(site);
  const entries = pages.map(
    ({ path, time }) => `<url><loc>${escaped(origin + path)}</loc><lastmod>${dateTime(time)}</lastmod></url>\n`,
  );
  return `${DECLARATION}<urlset xmlns="${SITEMAP_NAMESPACE}">\n${entries.join('')}</urlset>\n`;
}
