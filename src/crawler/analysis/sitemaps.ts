/** A sitemap seen as a page whose links are its entries. */
import { fingerprint, normalise } from '../../base/url.ts';
import type { Limits } from '../../errand/errand.ts';
import type { Known } from '../../errand/known.ts';
import { LINK_IS_SITEMAP, LINK_SITEMAP, type Links } from '../../errand/visit.ts';
import { parseSitemap, SITEMAP_BYTES } from '../../notices/sitemap.ts';

/** Bytes of a body that are read, coded or not: a sitemap may be as long as sitemaps.org lets it be. */
export function bodyLimit({ role }: Pick<Known, 'role'>, { bodyBytes }: Pick<Limits, 'bodyBytes'>): number {
  return role === 'sitemap' ? Math.max(bodyBytes, SITEMAP_BYTES) : bodyBytes;
}

export function readSitemap(url: string, bytes: Uint8Array): Links {
  const { kind, entries } = parseSitemap(bytes, url);
  const urls: string[] = [];
  const lastmod: number[] = [];
  const seen = new Set<string>();
  for (const entry of entries) {
    const target = normalise(entry.url, url);
    if (target === undefined || seen.has(target)) continue;
    seen.add(target);
    urls.push(target);
    lastmod.push(entry.lastmod ?? 0);
  }
  const fingerprints = new Uint32Array(urls.length * 2);
  const print = { high: 0, low: 0 };
  urls.forEach((target, i) => {
    fingerprint(target, print);
    fingerprints[i * 2] = print.high;
    fingerprints[i * 2 + 1] = print.low;
  });
  const flag = LINK_SITEMAP | (kind === 'index' ? LINK_IS_SITEMAP : 0);
  return {
    count: urls.length,
    fingerprints,
    flags: new Uint8Array(urls.length).fill(flag),
    relevance: new Uint8Array(urls.length),
    urls: Buffer.from(urls.join('\n')),
    anchors: Buffer.from('\n'.repeat(Math.max(0, urls.length - 1))),
    lastmod: Float64Array.from(lastmod),
  };
}
