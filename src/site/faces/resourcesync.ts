/**
 * ResourceSync (ANSI/NISO Z39.99), the same documents for versions 1.0 and 1.1: the source description names the capability
 * list, that one the resource list (what there is, with hashes) and the change list (what happened, in order).
 */
import { originOf } from '../../base/url.ts';
import { WELL_KNOWN } from '../../notices/site/discovery.ts';
import type { Journal } from '../journal/journal.ts';
import { type Entry, isListed, type JournalPage } from '../journal/lines.ts';
import { parts } from './sitemap.ts';
import { DECLARATION, dateTime, escaped, instant, SITEMAP_NAMESPACE } from './xml.ts';

export const SOURCE_DESCRIPTION = '/.well-known/resourcesync';
const TERMS = 'http://www.openarchives.org/rs/terms/';
const base = `${WELL_KNOWN}/resourcesync`;
const LIST = new RegExp(`^${base.replace('.', '\\.')}/(resourcelist|changelist)(?:-([1-9]\\d{0,8}))?\\.xml$`);
/**
 * Changes of one list. A reader asks for the last one again after every change, so it is short; those before are closed, and
 * nobody has to read them twice. By the numbers of the changes, so that a list keeps its name.
 */
const PART = 1000;

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
  const asked = LIST.exec(path);
  if (!asked) return undefined;
  const wanted = { origin, up: capabilities, now, number: Number(asked[2] ?? 0) };
  return asked[1] === 'changelist' ? changeList(journal, wanted) : resourceList(journal, wanted);
}

interface SyncRequest {
  readonly origin: string;
  readonly up: string;
  readonly now: number;
  /** 0 = the list itself, which is an index when there is more than one part. */
  readonly number: number;
}

function resourceList(journal: Journal, { origin, up, now, number }: SyncRequest): string | undefined {
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

/** Oldest first; an index of lists where there is more than one, of which the last is open. */
function changeList(journal: Journal, { origin, up, number }: SyncRequest): string | undefined {
  const { entries, first } = journal;
  const partOf = (sequence: number) => Math.floor((sequence - 1) / PART) + 1;
  const last = partOf(Math.max(1, journal.cursor.sequence));
  const oldest = Math.min(last, partOf(first + 1));
  const ofPart = (part: number): ChangePart => {
    const from = Math.max(0, (part - 1) * PART - first);
    const until = part * PART - first;
    const told = entries.slice(from, until);
    const begun = (entries[from - 1] ?? told[0])?.at ?? 0;
    return { told, md: `from="${instant(begun)}"${part < last ? ` until="${instant(told.at(-1)!.at)}"` : ''}` };
  };
  const capability = 'capability="changelist"';
  if (number === 0 && oldest < last) {
    const lists = Array.from({ length: last - oldest + 1 }, (_, i) => oldest + i).map(part => {
      const loc = escaped(`${origin}${base}/changelist-${part}.xml`);
      return `<sitemap><loc>${loc}</loc><rs:md ${ofPart(part).md}/></sitemap>\n`;
    });
    return list(up, `${capability} from="${instant(entries[0]!.at)}"`, lists, 'sitemapindex');
  }
  const part = number === 0 ? last : number;
  if (part < oldest || part > last) return undefined;
  const { told, md } = ofPart(part);
  const index = number > 0 ? `<rs:ln rel="index" href="${escaped(`${origin}${base}/changelist.xml`)}"/>\n` : '';
  const listed = told.filter(({ page }) => isListed(page)).map(entry => changed(entry, origin));
  return list(up + index, `${capability} ${md}`, listed);
}

interface ChangePart {
  readonly told: readonly Entry[];
  readonly md: string;
}

const changes = { create: 'created', update: 'updated', delete: 'deleted' } as const;

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
