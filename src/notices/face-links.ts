/**
 * Where a site says that it tells of its changes: `Link` headers, `<link>` elements, lines of robots.txt. It reads text
 * that anybody may have written, never throws, and returns few candidates; whoever asks them finds out what they are.
 */
import { normalise } from '../base/url.ts';

export interface FaceLink {
  /** `hub` and `topic` belong together: who tells, and of what. `dictionary`: pages come as differences (RFC 9842). */
  readonly kind: 'cursor' | 'resourcesync' | 'feed' | 'hub' | 'topic' | 'dictionary';
  readonly url: string;
}

/** Of one text, and characters of it that are looked at. */
const MOST_LINKS = 20;
const MOST_TEXT = 200_000;

const feedTypes = /^application\/(?:rss\+xml|atom\+xml|rdf\+xml|feed\+json)\b/i;

/** The value of a `Link` header (RFC 8288), several joined by commas. */
export function linksInHeader(header: string, base: string): FaceLink[] {
  const links: FaceLink[] = [];
  // One parameter after the other: a pattern over all of them at once would try every way to divide them.
  const target = /<([^<>]{1,2000})>([^<]*)/g;
  for (const [, href, parameters] of header.slice(0, MOST_TEXT).matchAll(target)) {
    const rel = /;\s*rel\s*=\s*("[^"]*"|[^\s;,"]+)/i.exec(parameters!)?.[1]?.replaceAll('"', '') ?? '';
    const type = /;\s*type\s*=\s*("[^"]*"|[^\s;,"]+)/i.exec(parameters!)?.[1]?.replaceAll('"', '') ?? '';
    if (links.length < MOST_LINKS) links.push(...linkOf({ rel, type, href: href! }, base));
  }
  return links;
}

/** The `<link>` elements of a page. */
export function linksInPage(html: string, base: string): FaceLink[] {
  const links: FaceLink[] = [];
  for (const [tag] of html.slice(0, MOST_TEXT).matchAll(/<link\s[^<>]{1,2000}>/gi)) {
    const [rel, type, href] = ['rel', 'type', 'href'].map(name => attribute(tag, name));
    if (links.length < MOST_LINKS) links.push(...linkOf({ rel: rel!, type: type!, href: href! }, base));
  }
  return links;
}

/** Lines that name a document of ResourceSync, or the site's own face. Feeds and sitemaps among them are read as such. */
export function linksInRobots(text: string, base: string): FaceLink[] {
  const links: FaceLink[] = [];
  for (const [, name, value] of text
    .slice(0, MOST_TEXT * 3)
    .matchAll(/^[ \t]*(sitemap|skein|feed)[ \t]*:[ \t]*(\S+)/gim)) {
    const url = normalise(value!, base);
    if (url === undefined || links.length >= MOST_LINKS) continue;
    const field = name!.toLowerCase();
    if (field === 'skein') links.push({ kind: 'cursor', url });
    else if (field === 'feed') links.push({ kind: 'feed', url });
    else if (/resource-?sync|resourcelist|changelist|capabilitylist/i.test(url))
      links.push({ kind: 'resourcesync', url });
  }
  return links;
}

interface Written {
  readonly rel: string;
  readonly type: string;
  readonly href: string;
}

function linkOf({ rel, type, href }: Written, base: string): FaceLink[] {
  const url = href === '' ? undefined : normalise(decode(href), base);
  if (url === undefined) return [];
  const relations = rel.toLowerCase().split(/\s+/);
  const links: FaceLink[] = [];
  if (relations.includes('skein')) links.push({ kind: 'cursor', url });
  if (relations.includes('resourcesync')) links.push({ kind: 'resourcesync', url });
  if (relations.includes('hub')) links.push({ kind: 'hub', url });
  if (relations.includes('self')) links.push({ kind: 'topic', url });
  if (relations.includes('alternate') && feedTypes.test(type)) links.push({ kind: 'feed', url });
  return links;
}

function attribute(tag: string, name: string): string {
  const found = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(tag);
  return found?.[1] ?? found?.[2] ?? found?.[3] ?? '';
}

function decode(href: string): string {
  return href.replace(/&amp;/gi, '&').trim();
}
