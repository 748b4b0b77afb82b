/**
 * What ResourceSync (ANSI/NISO Z39.99) asks of its documents, as far as a reader can check it in one of them. The examples
 * of the specification hold every rule here; so must what we write.
 */
import { XmlScanner } from '../../src/notices/xml.ts';

export interface SyncDocument {
  readonly root: string;
  /** Attributes of the rs:md of the document itself. */
  readonly md: Readonly<Record<string, string>>;
  readonly links: readonly Readonly<Record<string, string>>[];
  readonly entries: readonly SyncEntry[];
}

export interface SyncEntry {
  readonly loc: string;
  readonly lastmod: string;
  readonly md: Readonly<Record<string, string>>;
}

const attributes = [
  ...[
    'capability',
    'at',
    'completed',
    'from',
    'until',
    'change',
    'datetime',
    'hash',
    'length',
    'type',
    'path',
    'encoding',
  ],
  ...['rel', 'href', 'modified', 'pri'],
];

export function readSync(text: string): SyncDocument {
  const scanner = new XmlScanner(text);
  let root = '';
  let md: Record<string, string> = {};
  const links: Record<string, string>[] = [];
  const entries: { loc: string; lastmod: string; md: Record<string, string> }[] = [];
  let entry: (typeof entries)[number] | undefined;
  let field = '';
  while (scanner.next()) {
    const { kind, name, prefix } = scanner;
    if (kind === 'text') {
      if (entry && (field === 'loc' || field === 'lastmod')) entry[field] += scanner.value.trim();
    } else if (kind === 'close') {
      field = '';
      if (name === 'url' || name === 'sitemap') entry = undefined;
    } else if (prefix === 'rs') {
      const found = Object.fromEntries(
        attributes.map(each => [each, scanner.attribute(each)]).filter(([, value]) => value),
      );
      if (name === 'md' && entry) entry.md = found;
      else if (name === 'md') md = found;
      else if (name === 'ln' && !entry) links.push(found);
    } else if (name === 'url' || name === 'sitemap') entries.push((entry = { loc: '', lastmod: '', md: {} }));
    else if (root === '') root = name;
    else field = name;
  }
  return { root, md, links, entries };
}

const capabilities = [
  ...['description', 'capabilitylist', 'resourcelist', 'resourcedump', 'resourcedump-manifest'],
  ...['changelist', 'changedump', 'changedump-manifest'],
];
const archives = capabilities.filter(each => /list$|dump$/.test(each)).map(each => `${each}-archive`);
const W3C = /^\d{4}(?:-\d\d(?:-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?)?)?$/;
const HASH = /^(?:md5:[0-9a-f]{32}|sha-1:[0-9a-f]{40}|sha-256:(?:[0-9a-f]{64}|[\w-]{43}))$/;

/** What is wrong with it; empty = nothing. `strict`: also what the specification only recommends, as we keep to it. */
export function breaches(document: SyncDocument, strict = false): readonly string[] {
  const { root, md, links, entries } = document;
  const found: string[] = [];
  const want = (holds: boolean, what: string): void => void (holds || found.push(what));
  const capability = md['capability'] ?? '';
  want(root === 'urlset' || root === 'sitemapindex', `the root is ${root}`);
  want([...capabilities, ...archives].includes(capability), `capability ${capability}`);
  if (/^resource(?:list|dump)/.test(capability) && !capability.endsWith('-archive')) want(!!md['at'], 'no at');
  if (/^change(?:list|dump)/.test(capability) && !capability.endsWith('-archive')) want(!!md['from'], 'no from');
  for (const name of ['at', 'completed', 'from', 'until']) want(!md[name] || W3C.test(md[name]), `${name} ${md[name]}`);
  for (const { rel, href } of links) want(!!rel && URL.canParse(href ?? ''), `link ${rel} ${href}`);
  for (const each of entries) {
    want(URL.canParse(each.loc), `loc ${each.loc}`);
    want(each.lastmod === '' || W3C.test(each.lastmod), `lastmod ${each.lastmod}`);
    const { hash, length, change, datetime } = each.md;
    for (const one of hash?.trim().split(/\s+/) ?? []) want(HASH.test(one), `hash ${one}`);
    want(length === undefined || /^\d+$/.test(length), `length ${length}`);
    want(change === undefined || /^(?:created|updated|deleted)$/.test(change), `change ${change}`);
    want(datetime === undefined || W3C.test(datetime), `datetime ${datetime}`);
    if (capability === 'changelist' && root === 'urlset') want(change !== undefined, `no change of ${each.loc}`);
    if (capability === 'capabilitylist' || capability === 'description')
      want(!!each.md['capability'], `no capability of ${each.loc}`);
  }
  if (strict) found.push(...strictBreaches(document));
  return found;
}

function strictBreaches({ md, links, entries, root }: SyncDocument): readonly string[] {
  const found: string[] = [];
  if (md['capability'] !== 'description' && !links.some(({ rel }) => rel === 'up')) found.push('no link up');
  if (md['capability'] === 'changelist' && root === 'urlset') {
    const times = entries.map(each => Date.parse(each.md['datetime'] ?? ''));
    if (times.some(Number.isNaN)) found.push('a change without a time');
    if (times.some((time, i) => i > 0 && time < times[i - 1]!)) found.push('changes are not in order');
    if (times.some(time => time < Date.parse(md['from']!))) found.push('a change before from');
    if (entries.some(each => each.md['change'] === 'deleted' && each.lastmod !== ''))
      found.push('a deleted page has lastmod');
  }
  if (md['capability'] === 'resourcelist' && root === 'urlset') {
    if (entries.some(each => !each.md['hash'] || !each.md['length'] || !each.lastmod))
      found.push('a page without facts');
    if (new Set(entries.map(({ loc }) => loc)).size !== entries.length) found.push('a page twice');
  }
  return found;
}
