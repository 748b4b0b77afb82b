/**
 * Where a site says that it tells of its changes: `Link` headers, `<link>` elements, lines of robots.txt, sitemaps. It reads text
 * that anybody may have written, never throws, and returns few candidates; whoever asks them finds out what they are.
 */
import { normalise } from '../base/url.ts';
import { XmlScanner } from './xml.ts';

export interface FaceLink {
  /** `hub` and `topic` belong together: who tells, and of what. `dictionary`: pages come as differences (RFC 9842). */
  readonly kind: 'cursor' | 'resourcesync' | 'feed' | 'hub' | 'topic' | 'dictionary';
  readonly url: string;
}

/** Of one text, and characters of it that are looked at. */
const MOST_LINKS = 20;
const MOST_TEXT = 200_000;

const SYNC_NAME = /resource-?sync|resourcelist|changelist|capabilitylist/i;
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

/** Lines that name a document of ResourceSync, a feed, or the site's own face. */
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
    else if (SYNC_NAME.test(url)) links.push({ kind: 'resourcesync', url });
  }
  return links;
}

/** Sitemaps that robots.txt names and whose names do not say what they are. */
export function sitemapsInRobots(text: string, base: string): string[] {
  const found: string[] = [];
  for (const [, value] of text.slice(0, MOST_TEXT * 3).matchAll(/^[ \t]*sitemap[ \t]*:[ \t]*(\S+)/gim)) {
    const url = normalise(value!, base);
    if (url !== undefined && found.length < MOST_LINKS && !SYNC_NAME.test(url)) found.push(url);
  }
  return found;
}

/** What the beginning of a sitemap says that it is besides: a feed, or a list of ResourceSync that leads to its changes. */
export function linksInSitemap(text: string, base: string): FaceLink[] {
  const scanner = new XmlScanner(text.slice(0, MOST_TEXT));
  let capability = '';
  let up = '';
  while (scanner.next()) {
    const { kind, name, prefix } = scanner;
    if (kind !== 'open') continue;
    if (name === 'rss' || name === 'feed' || name === 'rdf') return [{ kind: 'feed', url: base }];
    if (name === 'url' || name === 'sitemap') break;
    if (prefix !== '' && name === 'md') capability ||= scanner.attribute('capability');
    if (prefix !== '' && name === 'ln' && scanner.attribute('rel') === 'up') up ||= scanner.attribute('href');
  }
  if (capability === '') return [];
  const url = /list$|dump$/.test(capability) && up !== '' ? normalise(up, base) : base;
  return url === undefined ? [] : [{ kind: 'resourcesync', url }];
}

interface WrittenLink {
  readonly rel: string;
  readonly type: string;
  readonly href: string;
}

function linkOf({ rel, type, href }: WrittenLink, base: string): FaceLink[] {
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
