/** The latest changes as an Atom feed (RFC 4287), removed pages as deleted entries (RFC 6721). */
import { originOf } from '../../base/url.ts';
import { WELL_KNOWN } from '../../notices/site/discovery.ts';
import type { Journal } from '../journal/journal.ts';
import { type Entry, isListed } from '../journal/lines.ts';
import { DECLARATION, escaped, instant } from './xml.ts';

export const ATOM = `${WELL_KNOWN}/atom.xml`;
export const ATOM_TYPE = 'application/atom+xml; charset=utf-8';
const ENTRIES = 100;

interface AtomOptions {
  readonly site: string;
  /** WebSub hubs, absolute. */
  readonly hubs: readonly string[];
}

export function atom(journal: Journal, options: AtomOptions): string {
  return feed(journal.entries.filter(({ page }) => isListed(page)).slice(-ENTRIES), options);
}

/** Of these changes, the newest first; a page once. */
export function feed(entries: readonly Entry[], { site, hubs }: AtomOptions): string {
  const origin = originOf(site);
  const latest = new Map<string, Entry>();
  for (const entry of entries) {
    latest.delete(entry.page.path);
    latest.set(entry.page.path, entry);
  }
  const told = [...latest.values()].reverse();
  const head = [
    `<id>${escaped(origin + ATOM)}</id>`,
    `<title>${escaped(`Changes of ${site}`)}</title>`,
    `<updated>${instant(told[0]?.at ?? 0)}</updated>`,
    `<author><name>${escaped(new URL(site).host)}</name></author>`,
    `<link rel="self" href="${escaped(origin + ATOM)}"/>`,
    `<link rel="alternate" href="${escaped(site)}"/>`,
    ...hubs.map(hub => `<link rel="hub" href="${escaped(hub)}"/>`),
  ];
  const space = 'xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0"';
  const body = told.map(entry => entryText(entry, origin)).join('');
  return `${DECLARATION}<feed ${space}>\n${head.join('\n')}\n${body}</feed>\n`;
}

function entryText({ operation, page, at }: Entry, origin: string): string {
  const url = escaped(origin + page.path);
  if (operation === 'delete') return `<at:deleted-entry ref="${url}" when="${instant(at)}"/>\n`;
  const title = `<title>${escaped(page.title || page.path)}</title>`;
  // When it was told, not when a file says that it was written: copies may be older than what was told before them.
  const updated = `<updated>${instant(at)}</updated>`;
  return `<entry><id>${url}</id>${title}${updated}<link rel="alternate" href="${url}"/></entry>\n`;
}
