/**
 * Sitemaps: what a site says it has, and when each page last changed. XML (also in a namespace with a prefix), an index
 * of sitemaps, plain text with a URL per line, RSS and Atom; any of them in gzip. It reads bytes; it never fetches,
 * never throws, and believes nothing: `lastmod` is a claim that the revisit policy learns to trust or not.
 *
 * Invariants: at most 50,000 entries of at most 50 MB, as sitemaps.org has it; every URL is in normal form; whatever
 * could not be used is counted in `problems`.
 */
import { normalise, resolver } from '../base/url.ts';
import { parseDate } from './dates.ts';
import { readFeed } from './feed.ts';
import { Problems } from './problems.ts';
import { unpack, XmlScanner } from './xml.ts';

interface Sitemap {
  /** `index`: the entries are sitemaps. */
  readonly kind: 'index' | 'urls';
  readonly entries: readonly SitemapEntry[];
  /** For people; each kind once, with its number. */
  readonly problems: readonly string[];
}

interface SitemapEntry {
  readonly url: string;
  /** Milliseconds since 1970. */
  readonly lastmod?: number;
  readonly changefreq?: ChangeFrequency;
  /** 0–1. */
  readonly priority?: number;
}

const frequencies = ['always', 'hourly', 'daily', 'weekly', 'monthly', 'yearly', 'never'] as const;
type ChangeFrequency = (typeof frequencies)[number];

export const SITEMAP_ENTRIES = 50_000;
export const SITEMAP_BYTES = 50 * 1024 * 1024;

/** `url` is where the sitemap was found; relative entries, which the standard does not know, are resolved against it. */
export function parseSitemap(bytes: Uint8Array, url: string): Sitemap {
  const problems = new Problems();
  const unpacked = unpack(bytes, SITEMAP_BYTES);
  for (const problem of unpacked.problems) problems.add(problem);
  const text = unpacked.text;
  if (!looksLikeXml(text.slice(0, 1000))) return readLines(text, problems);
  const scanner = new XmlScanner(text);
  while (scanner.next() && scanner.kind !== 'open');
  if (scanner.kind === 'open' && ['rss', 'rdf', 'feed'].includes(scanner.name)) {
    const { entries } = readFeed(text, url, problems);
    const dated = entries.map(({ url: page, time }) => ({ url: page, ...(time !== undefined && { lastmod: time }) }));
    return { kind: 'urls', entries: dated, problems: problems.list() };
  }
  return readXml(scanner, url, problems);
}

/** Also when something stands before the declaration: a warning of PHP, a blank line. */
function looksLikeXml(start: string): boolean {
  return /^\s*</.test(start) || /<(?:\?xml|urlset|sitemapindex|rss|feed)[\s>]/i.test(start);
}

function readLines(text: string, problems: Problems): Sitemap {
  const entries: SitemapEntry[] = [];
  let tried = 0;
  // One at a time: fifty megabytes of short lines are twenty-five million of them.
  for (const [line] of text.matchAll(/[^\r\n]+/g)) {
    const word = line.trim();
    if (word === '') continue;
    // What is no URL counts, too: finding that out takes as long, and a file may hold millions.
    if (tried++ === SITEMAP_ENTRIES) {
      problems.add(`more than ${SITEMAP_ENTRIES} entries, the rest is ignored`);
      break;
    }
    const page = /^https?:\/\//i.test(word) ? normalise(word) : undefined;
    if (page === undefined) problems.add('a line that is not a URL');
    else entries.push({ url: page });
  }
  return { kind: 'urls', entries, problems: problems.list() };
}

/** The fields of one `url` or `sitemap` element, as written. */
type EntryFields = Partial<Record<'loc' | 'lastmod' | 'changefreq' | 'priority', string>>;

/** `scanner` stands at the root element. */
function readXml(scanner: XmlScanner, base: string, problems: Problems): Sitemap {
  const root = scanner.kind === 'open' ? scanner.name : '';
  if (root !== 'urlset' && root !== 'sitemapindex') problems.add('the root element is neither urlset nor sitemapindex');
  // Elements of other namespaces (image:loc) are not ours.
  const { prefix } = scanner;
  let kind: Sitemap['kind'] = root === 'sitemapindex' ? 'index' : 'urls';
  const entries: SitemapEntry[] = [];
  const resolve = resolver(base);
  let tried = 0;
  let fields: EntryFields | undefined;
  let field: keyof EntryFields | undefined;
  const finish = () => {
    if (fields) tried++;
    const entry = fields && entryOf(fields, resolve, problems);
    if (entry !== undefined) entries.push(entry);
    fields = undefined;
  };
  do {
    if (scanner.kind === 'text') {
      if (field !== undefined && fields !== undefined) fields[field] = (fields[field] ?? '') + scanner.value;
      continue;
    }
    field = undefined;
    if (scanner.prefix !== prefix) continue;
    const { name } = scanner;
    if (name === 'url' || name === 'sitemap') {
      finish();
      if (scanner.kind === 'close') continue;
      if (tried >= SITEMAP_ENTRIES) {
        problems.add(`more than ${SITEMAP_ENTRIES} entries, the rest is ignored`);
        break;
      }
      fields = {};
      if (name === 'sitemap') kind = 'index';
    } else if (scanner.kind === 'open' && !scanner.empty && isField(name)) {
      field = name;
      // A second address in one entry is another entry, not the end of the first address.
      if (name !== 'loc' || fields?.loc === undefined || tried >= SITEMAP_ENTRIES) continue;
      finish();
      fields = {};
    }
  } while (scanner.next());
  finish();
  return { kind, entries, problems: problems.list() };
}

function isField(name: string): name is keyof EntryFields {
  return name === 'loc' || name === 'lastmod' || name === 'changefreq' || name === 'priority';
}

function entryOf(
  fields: EntryFields,
  resolve: (href: string) => string | undefined,
  problems: Problems,
): SitemapEntry | undefined {
  const url = fields.loc === undefined || fields.loc.trim() === '' ? undefined : resolve(fields.loc.trim());
  if (url === undefined) {
    problems.add(fields.loc === undefined ? 'an entry without a URL' : 'an entry whose URL is not one');
    return undefined;
  }
  const lastmod = fields.lastmod === undefined ? undefined : parseDate(fields.lastmod);
  if (fields.lastmod !== undefined && lastmod === undefined) problems.add('a lastmod that is not a date');
  const changefreq = frequencies.find(each => each === fields.changefreq?.trim().toLowerCase());
  const priority = Number(fields.priority?.trim() || Number.NaN);
  return {
    url,
    ...(lastmod !== undefined && { lastmod }),
    ...(changefreq !== undefined && { changefreq }),
    ...(priority >= 0 && priority <= 1 && { priority }),
  };
}
