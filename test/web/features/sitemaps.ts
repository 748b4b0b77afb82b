/** Sitemaps in each form, named in robots.txt, and pages that only they mention. */

import { gzipSync } from 'node:zlib';
import { HOUR } from '../../../src/base/clock.ts';
import type { Entry, Site, Wing } from '../site.ts';
import { reply } from '../site.ts';

const XML = '<?xml version="1.0" encoding="UTF-8"?>\n';
const SCHEMA = 'http://www.sitemaps.org/schemas/sitemap/0.9';

export function sitemaps(site: Site): Wing {
  const url = (number: number) => `${site.origin}/s/${number}.html`;
  const lastmod = new Date(site.start - HOUR).toISOString();
  const set = (...numbers: number[]) =>
    `${XML}<urlset xmlns="${SCHEMA}">${numbers
      .map(number => `<url><loc>${url(number)}</loc><lastmod>${lastmod}</lastmod></url>`)
      .join('\n')}</urlset>`;
  const index = `${XML}<sitemapindex xmlns="${SCHEMA}">
<sitemap><loc>${site.origin}/sitemap-plain.xml</loc><lastmod>${lastmod}</lastmod></sitemap>
<sitemap><loc>${site.origin}/sitemap-packed.xml.gz</loc></sitemap>
</sitemapindex>`;
  const file = (path: string, body: string | Uint8Array, type: string): Entry => ({
    path,
    expect: 'page',
    found: 'unlinked',
    reply: () => reply(200, body, { 'content-type': type }),
  });
  const entries: Entry[] = [
    file('/sitemap.xml', index, 'application/xml'),
    file('/sitemap-plain.xml', set(1, 2), 'text/xml'),
    file('/sitemap-packed.xml.gz', gzipSync(set(3, 4)), 'application/gzip'),
    file('/sitemap.txt', `${url(5)}\n${url(6)}\n`, 'text/plain'),
    file('/sitemap-new.xml', set(7), 'text/xml'),
    {
      path: '/sitemap-old.xml',
      expect: 'moved',
      found: 'unlinked',
      reply: () => reply(301, '', { location: '/sitemap-new.xml' }),
    },
  ];
  for (let number = 1; number <= 7; number++) {
    entries.push({
      path: `/s/${number}.html`,
      expect: 'page',
      found: 'sitemap',
      reply: () =>
        reply(200, `<!DOCTYPE html><title>Sitemap page ${number}</title><p>Only a sitemap names me, ${number}.`),
    });
  }
  return {
    entries,
    doors: [],
    outside: ['sitemap.xml', 'sitemap.txt', 'sitemap-old.xml'].map(name => `Sitemap: ${site.origin}/${name}`),
  };
}
