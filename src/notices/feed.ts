/**
 * Feeds: RSS 0.9x, 1.0 and 2.0, Atom and JSON Feed, as a list of pages that are new or changed, how often the site
 * wants to be asked, and the WebSub hubs that would tell us. It reads text; it never fetches, and never throws.
 */
import { HOUR } from '../base/clock.ts';
import { normalise } from '../base/url.ts';
import { parseInstant } from './dates.ts';
import { Problems } from './problems.ts';
import { unpack, XmlScanner } from './xml.ts';

export interface Feed {
  readonly format: 'rss' | 'atom' | 'json' | 'none';
  readonly title: string;
  /** WebSub hubs, and the topic to name to them; absolute URLs. */
  readonly hubs: readonly string[];
  readonly self: string | undefined;
  /** Milliseconds that the site wants between two looks, 0 = does not say. */
  readonly every: number;
  readonly entries: readonly FeedEntry[];
  readonly problems: readonly string[];
}

interface FeedEntry {
  /** Of the page, in normal form. */
  readonly url: string;
  readonly id: string;
  readonly title: string;
  /** Last change if known, else publication; milliseconds since 1970. */
  readonly time?: number;
}

const FEED_ENTRIES = 50_000;
const FEED_BYTES = 50 * 1024 * 1024;
const TITLE_LENGTH = 500;

export function parseFeed(bytes: Uint8Array, url: string): Feed {
  const problems = new Problems();
  const unpacked = unpack(bytes, FEED_BYTES);
  for (const problem of unpacked.problems) problems.add(problem);
  return /^\s*\{/.test(unpacked.text) ? readJson(unpacked.text, url, problems) : readFeed(unpacked.text, url, problems);
}

/** What is gathered of one entry, or of the feed itself; the first of several titles counts. */
interface EntryDraft {
  link: string;
  id: string;
  /** An id that says it is no URL. */
  opaque: boolean;
  title: string;
  published: number | undefined;
  updated: number | undefined;
}

const emptyDraft = (): EntryDraft => ({
  link: '',
  id: '',
  opaque: false,
  title: '',
  published: undefined,
  updated: undefined,
});

interface FeedReading {
  format: Feed['format'];
  readonly base: string;
  readonly channel: EntryDraft;
  entry: EntryDraft | undefined;
  readonly hubs: string[];
  self: string | undefined;
  ttl: number;
  period: number;
  frequency: number;
  readonly entries: FeedEntry[];
  readonly problems: Problems;
}

export function readFeed(text: string, base: string, problems: Problems): Feed {
  const scanner = new XmlScanner(text);
  const reading: FeedReading = {
    ...{ format: 'none', base, channel: emptyDraft(), entry: undefined, hubs: [], self: undefined },
    ...{ ttl: 0, period: 0, frequency: 1, entries: [], problems },
  };
  let field = '';
  let value = '';
  while (scanner.next() && reading.entries.length < FEED_ENTRIES) {
    if (scanner.kind === 'text') {
      if (field !== '') value += scanner.value;
    } else if (scanner.kind === 'open') {
      field = openElement(scanner, reading);
      value = '';
    } else {
      if (field === scanner.name) takeField(field, value.trim(), reading);
      field = '';
      if (scanner.name === 'item' || scanner.name === 'entry') finishEntry(reading);
    }
  }
  finishEntry(reading);
  if (reading.format === 'none') problems.add('not a feed');
  const { format, channel, hubs, self, entries } = reading;
  const every = reading.ttl || reading.period / reading.frequency;
  return { format, title: channel.title, hubs, self, every, entries, problems: problems.list() };
}

/** Elements of these prefixes say the same as those without; others (media:title) speak of something else. */
const ours = new Set(['', 'rss', 'rdf', 'atom', 'a10', 'dc', 'dcterms', 'sy']);

/** The field whose text follows, empty = none. */
function openElement(scanner: XmlScanner, reading: FeedReading): string {
  const { name, prefix } = scanner;
  if (!ours.has(prefix)) return '';
  if (name === 'rss' || name === 'rdf') reading.format = 'rss';
  else if (name === 'feed') reading.format = 'atom';
  else if (name === 'item' || name === 'entry') {
    finishEntry(reading);
    reading.entry = emptyDraft();
    reading.entry.id = scanner.attribute('rdf:about');
  } else if (name === 'link') takeLink(scanner, reading);
  else if (name === 'guid' && reading.entry) reading.entry.opaque = scanner.attribute('ispermalink') === 'false';
  return scanner.empty ? '' : name;
}

/** Atom's form; RSS has the URL as text, which takeField gets. */
function takeLink(scanner: XmlScanner, reading: FeedReading): void {
  const href = scanner.attribute('href');
  if (href === '') return;
  const relation = scanner.attribute('rel').toLowerCase() || 'alternate';
  const target = reading.entry ?? reading.channel;
  if (relation === 'alternate') target.link ||= href;
  else if (reading.entry === undefined) {
    const url = normalise(href, reading.base);
    if (relation === 'hub' && url !== undefined && reading.hubs.length < 10) reading.hubs.push(url);
    if (relation === 'self') reading.self ??= url;
  }
}

const periods: Readonly<Record<string, number>> = { hourly: 1, daily: 24, weekly: 168, monthly: 730, yearly: 8766 };

function takeField(field: string, value: string, reading: FeedReading): void {
  const target = reading.entry ?? reading.channel;
  if (field === 'link') target.link ||= value;
  else if (field === 'guid' || field === 'id') target.id ||= value;
  else if (field === 'title') target.title ||= value.slice(0, TITLE_LENGTH);
  else if (field === 'pubdate' || field === 'published' || field === 'date' || field === 'issued')
    target.published ??= parseInstant(value);
  else if (field === 'updated' || field === 'modified') target.updated ??= parseInstant(value);
  else if (reading.entry !== undefined) return;
  else if (field === 'ttl') reading.ttl = positive(value) * 60_000;
  else if (field === 'updateperiod') reading.period = (Object.hasOwn(periods, value) ? periods[value]! : 0) * HOUR;
  else if (field === 'updatefrequency') reading.frequency = positive(value) || 1;
}

function positive(text: string): number {
  const number = Number(text);
  return number > 0 && number < 1e6 ? number : 0;
}

function finishEntry(reading: FeedReading): void {
  const { entry, base, entries, problems } = reading;
  if (entry === undefined) return;
  reading.entry = undefined;
  const written = entry.link || (entry.opaque ? '' : entry.id);
  const url = written === '' ? undefined : normalise(written, base);
  if (url === undefined) {
    problems.add('an entry without a URL');
    return;
  }
  const time = entry.updated ?? entry.published;
  entries.push({ url, id: entry.id || url, title: entry.title, ...(time !== undefined && { time }) });
}

function readJson(text: string, base: string, problems: Problems): Feed {
  const nothing = { format: 'none', title: '', hubs: [], self: undefined, every: 0, entries: [] } as const;
  let feed: Record<string, unknown>;
  try {
    feed = JSON.parse(text) as Record<string, unknown>;
  } catch {
    problems.add('damaged JSON'); // not thrown on: a broken feed is an everyday thing
    return { ...nothing, problems: problems.list() };
  }
  if (!Array.isArray(feed['items'])) return { ...nothing, problems: [...problems.list(), 'not a feed'] };
  const entries: FeedEntry[] = [];
  for (const item of feed['items'].slice(0, FEED_ENTRIES) as unknown[]) {
    const fields = (typeof item === 'object' && item !== null ? item : {}) as Record<string, unknown>;
    const url = absolute(fields['url'] || fields['external_url'] || fields['id'], base);
    if (url === undefined) problems.add('an entry without a URL');
    else {
      const time = parseInstant(string(fields['date_modified'])) ?? parseInstant(string(fields['date_published']));
      const title = string(fields['title']).slice(0, TITLE_LENGTH);
      entries.push({ url, id: string(fields['id']) || url, title, ...(time !== undefined && { time }) });
    }
  }
  const hubs = (Array.isArray(feed['hubs']) ? feed['hubs'] : [])
    .map(hub => absolute((hub as Record<string, unknown> | null)?.['url'], base))
    .filter(hub => hub !== undefined);
  const self = absolute(feed['feed_url'], base);
  return { format: 'json', title: string(feed['title']), hubs, self, every: 0, entries, problems: problems.list() };
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

/** Not `normalise` alone: an empty string would mean the feed itself. */
function absolute(value: unknown, base: string): string | undefined {
  const text = string(value);
  return text === '' ? undefined : normalise(text, base);
}
