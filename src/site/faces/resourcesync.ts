/**
 * ResourceSync (ANSI/NISO Z39.99), the same documents for versions 1.0 and 1.1: the source description names the capability
 * list, that one the resource list (what there is, with hashes) and the change list (what happened, in order).
 */
import { originOf } from '../../base/url.ts';
import { WELL_KNOWN } from '../../notices/site/discovery.ts';
import type { Journal } from '../journal/journal.ts';
import type { Entry, JournalPage } from '../journal/lines.ts';
import { parts, SITEMAP_PAGES } from './sitemap.ts';
import { DECLARATION, dateTime, escaped, instant, SITEMAP_NAMESPACE } from './xml.ts';

export const SOURCE_DESCRIPTION = '/.well-known/resourcesync';
const TERMS = 'http://www.openarchives.org/rs/terms/';
const base = `${WELL_KNOWN}/resourcesync`;

/** Paths and what stands there; undefined = no such document. `now` is when the answer is made. */
export function resourceSync(path: string, journal: Journal, site: string, now: number): string | undefined {
  const origin = originOf(site);
  const up = (to: string) => `<rs:ln rel="up" href="${escaped(origin + to)}"/>\n`;
  if (path === SOURCE_DESCRIPTION) {
    return list('', 'capability="description"', [named(`${origin}${base}/capabilitylist.xml`, 'capabilitylist')]);
  }
  if (path === `${base}/capabilitylist.xml`) {
    const lists = ['resourcelist', 'changelist'].map(name => named(`${origin}${base}/${name}.xml`, name));
    return list(up(SOURCE_DESCRIPTION), 'capability="capabilitylist"', lists);
  }
  const capabilities = up(`${base}/capabilitylist.xml`);
  if (path === `${base}/changelist.xml`) return changeList(journal, origin, capabilities);
  const number = new RegExp(`^${base.replace('.', '\\.')}/resourcelist(?:-(\\d{1,4}))?\\.xml$`).exec(path);
  return number ? resourceList(journal, { origin, up: capabilities, now, number: Number(number[1] ?? 0) }) : undefined;
}

interface Wanted {
  readonly origin: string;
  readonly up: string;
  readonly now: number;
  /** 0 = the list itself, which is an index when there is more than one part. */
  readonly number: number;
}

function resourceList(journal: Journal, { origin, up, now, number }: Wanted): string | undefined {
  const all = parts(journal);
  const at = `capability="resourcelist" at="${dateTime(now)}"`;
  if (number === 0 && all.length > 1) {
    const entries = all.map((_, i) => {
      const loc = escaped(`${origin}${base}/resourcelist-${i + 1}.xml`);
      return `<sitemap><loc>${loc}</loc><rs:md at="${dateTime(now)}"/></sitemap>\n`;
    });
    return list(up, at, entries, 'sitemapindex');
  }
  const pages = all[Math.max(0, number - 1)];
  if (pages === undefined) return undefined;
  const index = number > 0 ? `<rs:ln rel="index" href="${escaped(`${origin}${base}/resourcelist.xml`)}"/>\n` : '';
  return list(
    up + index,
    at,
    pages.map(page => `${opened(page, origin)}<rs:md ${facts(page)}/></url>\n`),
  );
}

const changes = { create: 'created', update: 'updated', delete: 'deleted' } as const;

/** The newest changes that one document may hold, oldest first; open at its end. */
function changeList(journal: Journal, origin: string, up: string): string {
  const entries = journal.entries.slice(-SITEMAP_PAGES);
  const before = journal.entries.at(-SITEMAP_PAGES - 1);
  const from = before?.at ?? entries[0]?.at ?? 0;
  return list(
    up,
    `capability="changelist" from="${instant(from)}"`,
    entries.map(entry => changed(entry, origin)),
  );
}

function changed({ operation, page, at }: Entry, origin: string): string {
  const told = `change="${changes[operation]}" datetime="${instant(at)}"`;
  if (operation === 'delete') return `<url><loc>${escaped(origin + page.path)}</loc><rs:md ${told}/></url>\n`;
  return `${opened(page, origin)}<rs:md ${told} ${facts(page)}/></url>\n`;
}

function opened({ path, time }: JournalPage, origin: string): string {
  return `<url><loc>${escaped(origin + path)}</loc><lastmod>${dateTime(time)}</lastmod>`;
}

function facts({ body, bytes, type }: JournalPage): string {
  return `hash="sha-256:${body}" length="${bytes}" type="${escaped(type)}"`;
}

function named(url: string, capability: string): string {
  return `<url><loc>${escaped(url)}</loc><rs:md capability="${capability}"/></url>\n`;
}

function list(links: string, md: string, entries: readonly string[], root = 'urlset'): string {
  const open = `<${root} xmlns="${SITEMAP_NAMESPACE}" xmlns:rs="${TERMS}">\n`;
  return `${DECLARATION}${open}${links}<rs:md ${md}/>\n${entries.join('')}</${root}>\n`;
}
