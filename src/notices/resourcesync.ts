/**
 * ResourceSync (ANSI/NISO Z39.99, versions 1.0 and 1.1): source descriptions, capability lists, resource lists and change
 * lists, with their indexes, archives and dumps as far as one needs them to find the others. All are sitemaps with terms
 * of a namespace of their own. It reads bytes; it never fetches, never throws, and believes nothing.
 *
 * Invariants: at most 50,000 entries of at most 50 MB; every URL is in normal form.
 */
import { normalise } from '../base/url.ts';
import { parseDate, parseInstant } from './dates.ts';
import { Problems } from './problems.ts';
import { SITEMAP_BYTES, SITEMAP_ENTRIES } from './sitemap.ts';
import { unpack, XmlScanner } from './xml.ts';

export interface SyncDocument {
  /** `description`, `capabilitylist`, `resourcelist`, `changelist` …; empty = this is no ResourceSync document. */
  readonly capability: string;
  /** The entries are documents of the same capability. */
  readonly index: boolean;
  /** Of which time it tells, milliseconds since 1970; 0 = it does not say. `until` 0 = it goes on. */
  readonly from: number;
  readonly until: number;
  readonly entries: readonly SyncEntry[];
  readonly problems: readonly string[];
}

export interface SyncEntry {
  readonly url: string;
  /** When it changed, milliseconds since 1970; 0 = it does not say. Version 1.0 writes it as lastmod. */
  readonly time: number;
  /** Of a document: what it is. */
  readonly capability: string;
  readonly change: 'created' | 'updated' | 'deleted' | '';
  /** Of a part of an index. */
  readonly from: number;
  readonly until: number;
  /** Hexadecimal SHA-256 of the resource; empty = none was named. */
  readonly sha256: string;
}

interface ResourceDraft {
  loc: string;
  lastmod: number;
  datetime: number;
  from: number;
  until: number;
  capability: string;
  change: string;
  hash: string;
}

const blank = (): ResourceDraft => ({
  ...{ loc: '', lastmod: 0, datetime: 0, from: 0, until: 0 },
  ...{ capability: '', change: '', hash: '' },
});

export function parseSync(bytes: Uint8Array, base: string): SyncDocument {
  const problems = new Problems();
  const unpacked = unpack(bytes, SITEMAP_BYTES);
  for (const problem of unpacked.problems) problems.add(problem);
  const scanner = new XmlScanner(unpacked.text);
  const whole = blank();
  const entries: SyncEntry[] = [];
  let index = false;
  let entry: ResourceDraft | undefined;
  let field = '';
  let text = '';
  while (scanner.next()) {
    const { kind, name, prefix } = scanner;
    if (kind === 'text') {
      if (field !== '') text += scanner.value;
    } else if (kind === 'open') {
      field = prefix === '' && entry && !scanner.empty && (name === 'loc' || name === 'lastmod') ? name : '';
      text = '';
      if (name === 'sitemapindex') index = true;
      else if (name === 'url' || name === 'sitemap') entry = blank();
      else if (name === 'md' && prefix !== '') takeTerms(scanner, entry ?? whole);
    } else {
      if (entry && field === name && field !== '') takeText(entry, field, text.trim());
      field = '';
      if (entry && (name === 'url' || name === 'sitemap')) {
        if (entries.length >= SITEMAP_ENTRIES) {
          problems.add(`more than ${SITEMAP_ENTRIES} entries, the rest is ignored`);
          break;
        }
        finish(entry, { base, entries, problems });
        entry = undefined;
      }
    }
  }
  if (whole.capability === '') problems.add('no ResourceSync document');
  const { capability, from, until } = whole;
  return { capability, index, from, until, entries, problems: problems.list() };
}

function takeText(entry: ResourceDraft, field: string, value: string): void {
  if (field === 'loc') entry.loc ||= value;
  else entry.lastmod = parseDate(value) ?? 0;
}

function takeTerms(scanner: XmlScanner, draft: ResourceDraft): void {
  const date = (name: string) => parseInstant(scanner.attribute(name)) ?? 0;
  draft.capability ||= scanner.attribute('capability').toLowerCase();
  draft.change ||= scanner.attribute('change').toLowerCase();
  draft.hash ||= scanner.attribute('hash');
  draft.datetime ||= date('datetime');
  draft.from ||= date('from');
  draft.until ||= date('until');
}

interface Document {
  readonly base: string;
  readonly entries: SyncEntry[];
  readonly problems: Problems;
}

const changes = new Set(['created', 'updated', 'deleted']);

function finish(draft: ResourceDraft, { base, entries, problems }: Document): void {
  const url = draft.loc === '' ? undefined : normalise(draft.loc, base);
  if (url === undefined) {
    problems.add('an entry without a URL');
    return;
  }
  if (draft.change !== '' && !changes.has(draft.change)) problems.add('a change that is not known');
  const { capability, from, until } = draft;
  entries.push({
    ...{ url, capability, from, until },
    time: draft.datetime || draft.lastmod,
    change: changes.has(draft.change) ? (draft.change as SyncEntry['change']) : '',
    sha256: /(?:^|\s)sha-256:([0-9a-f]{64})(?:\s|$)/i.exec(draft.hash)?.[1]?.toLowerCase() ?? '',
  });
}
