/** Checks of single pages, and of what several have in common: titles, descriptions, canonicals, copies, sizes. */

import { FLAG_ALIAS } from '../ledger/pages/known-row.ts';
import type { SiteRow } from '../ledger/queries/site-questions.ts';
import { type CheckName, checks, type Finding, type Related } from './findings.ts';
import type { Markups } from './markups.ts';
import { isBroken, isHtml, isPage, type ReportedSite } from './site.ts';

/** Characters that search results show. */
const LONGEST_TITLE = 60;
const LONGEST_DESCRIPTION = 160;
const SLOW_MS = 2000;
const LARGE_BYTES = 1_000_000;

/** Pages that readers and search engines should see: not the second addresses of other pages. */
function* shown(site: ReportedSite): Iterable<SiteRow> {
  for (const row of site) {
    const second = row.sameAs !== null || (row.flags ?? 0) & FLAG_ALIAS;
    if (isPage(row) && isHtml(row) && !second && isOwnCanonical(row)) yield row;
  }
}

function isOwnCanonical({ canonical, url }: SiteRow): boolean {
  return canonical === null || canonical === url;
}

interface FindingDetail {
  readonly detail?: string;
  readonly related?: readonly Related[];
}

function finding(check: CheckName, row: SiteRow, { detail = '', related = [] }: FindingDetail = {}): Finding {
  const time = row.changedTime ?? row.found;
  return { check, level: checks[check].level, url: row.url, time, status: row.status ?? 0, detail, related };
}

/** Missing, shared or longer than is shown. */
function texts(kind: 'title' | 'description', pages: readonly (readonly [SiteRow, string])[]): Finding[] {
  const longest = kind === 'title' ? LONGEST_TITLE : LONGEST_DESCRIPTION;
  const found: Finding[] = [];
  const groups = new Map<string, SiteRow[]>();
  for (const [row, text] of pages) {
    if (text === '') found.push(finding(`${kind}-missing`, row));
    else groups.set(text, [...(groups.get(text) ?? []), row]);
    if (text.length > longest) found.push(finding(`${kind}-long`, row, { detail: `${text.length} characters` }));
  }
  for (const [text, rows] of groups) {
    if (rows.length < 2) continue;
    const others = rows.slice(1).map(({ url }) => ({ url, anchor: '' }));
    found.push(finding(`${kind}-duplicate`, rows[0]!, { detail: text.slice(0, 200), related: others }));
  }
  return found;
}

export function titlesAndDescriptions(site: ReportedSite, markups: Markups): Finding[] {
  const rows = [...shown(site)];
  const described = rows.flatMap(row => {
    const description = markups.description(row.id);
    return description === undefined ? [] : [[row, description] as const];
  });
  const titles = rows.map(row => [row, (row.title ?? '').replace(/\s+/g, ' ').trim()] as const);
  return [...texts('title', titles), ...texts('description', described)];
}

export function canonicals(site: ReportedSite): Finding[] {
  const found: Finding[] = [];
  for (const row of site) {
    if (!isPage(row) || row.canonical === null || row.canonical === row.url) continue;
    const target = site.find(row.canonical);
    if (!target) continue;
    const { row: end, way, loop } = site.end(target);
    if (loop || isBroken(end))
      found.push(finding('canonical-broken', row, { detail: `${row.canonical} ${end?.reason ?? 'redirect-loop'}` }));
    else if (way.length > 0) found.push(finding('canonical-moved', row, { detail: `${row.canonical} → ${end?.url}` }));
  }
  return found;
}

export function translations(site: ReportedSite, markups: Markups): Finding[] {
  const found: Finding[] = [];
  for (const [id, list] of markups.translations) {
    const row = site.get(id)!;
    for (const { language, url } of list) {
      const target = site.find(url);
      if (!target || target === row) continue;
      const { row: end } = site.end(target);
      const detail = `${language} ${url}`;
      if (isBroken(end)) found.push(finding('hreflang-broken', row, { detail }));
      else if (isPage(end) && !markups.translations.get(end.id)?.some(back => back.url === row.url))
        found.push(finding('hreflang-unreturned', row, { detail }));
    }
  }
  return found;
}

export function copies(site: ReportedSite): Finding[] {
  const found: Finding[] = [];
  for (const row of site) {
    if (!isPage(row) || !isHtml(row) || !isOwnCanonical(row)) continue;
    const twin = row.sameAs ?? row.near;
    const other = twin === null ? undefined : site.get(twin);
    if (!other || other.canonical === row.url) continue;
    const related = [{ url: other.url, anchor: '' }];
    found.push(finding(row.sameAs === null ? 'near-duplicate' : 'duplicate', row, { related }));
  }
  return found;
}

export function weights(site: ReportedSite): Finding[] {
  const found: Finding[] = [];
  const times = site.times();
  for (const row of site) {
    if (!isPage(row)) continue;
    const ms = times.get(row.id) ?? 0;
    if (ms > SLOW_MS) found.push(finding('slow', row, { detail: `${ms} ms` }));
    if (isHtml(row) && (row.bytes ?? 0) > LARGE_BYTES) found.push(finding('large', row, { detail: `${row.bytes} B` }));
  }
  return found;
}

/** Compares the sitemap with the crawl. `linked`: number of links to each page. */
export function coverage(site: ReportedSite, linked: Uint32Array): Finding[] {
  const listed = site.listed();
  if (listed.size === 0) return [];
  // Where a server has no sitemap, no page is missing from it.
  const mapped = new Set([...listed].flatMap(id => originOf(site.get(id)) ?? []));
  const found: Finding[] = [];
  for (const row of site) {
    const named = listed.has(row.id);
    const { row: end, way } = site.end(row);
    if (named && (isBroken(end) || way.length > 0))
      found.push(
        finding('sitemap-dead', row, { detail: way.length > 0 ? `→ ${end?.url ?? '?'}` : (end?.reason ?? '') }),
      );
    if (!isPage(row) || !isHtml(row)) continue;
    if (named && linked[row.id] === 0 && row.depth > 0) found.push(finding('orphan', row));
    if (!named && isOwnCanonical(row) && mapped.has(originOf(row)!)) found.push(finding('sitemap-missing', row));
  }
  return found;
}

const originOf = (row: SiteRow | undefined): string | undefined => row && new URL(row.url).origin;
