/**
 * Relevance by known items: the words of a page's title, typed as a query, must find that page. Pages: day 0 of the
 * recorded sites in ../shared/data/dev. Pages that share their title (translations, numbered lists) have no single
 * right answer: any of them counts as found, and each title is asked once.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Parser } from 'htmlparser2';
import { openSearch, type SearchDocument } from '../../src/search/index.ts';

interface Entry {
  readonly s: string;
  readonly u: string;
  readonly b: string;
  readonly ct: string;
}

interface Group {
  readonly o: number;
  readonly z: number;
  readonly b: readonly (readonly [string, number])[];
}

const hidden = new Set(['script', 'style', 'noscript', 'template', 'svg', 'head']);
const heading = /^h[1-6]$/;
/** Mean reciprocal rank to reach. */
const WANTED = 0.8;

interface Read {
  title: string;
  headings: string;
  text: string;
  language: string;
  readonly links: { href: string; text: string }[];
}

function read(html: string): Read {
  const page: Read = { title: '', headings: '', text: '', language: '', links: [] };
  const open: string[] = [];
  let depthHidden = 0;
  const parser = new Parser({
    onopentag(name, attributes) {
      open.push(name);
      if (hidden.has(name)) depthHidden++;
      if (name === 'html') page.language = attributes['lang'] ?? '';
      if (name === 'a' && attributes['href']) page.links.push({ href: attributes['href'], text: '' });
    },
    ontext(text) {
      if (open.includes('title') && !open.includes('svg')) page.title += text;
      if (depthHidden > 0) return;
      page.text += text;
      if (open.some(name => heading.test(name))) page.headings += text;
      if (open.includes('a') && page.links.length > 0) page.links.at(-1)!.text += text;
    },
    onclosetag(name) {
      open.pop();
      if (hidden.has(name)) depthHidden--;
      if (heading.test(name)) page.headings += '\n';
      if (/^(p|div|li|td|tr|h\d|br|section|pre|dt|dd)$/.test(name)) page.text += '\n';
    },
  });
  parser.end(html);
  return page;
}

/** The bodies of day 0 by blob id. */
function blobs(data: string, wanted: ReadonlySet<string>): Map<string, string> {
  const found = new Map<string, string>();
  const packs = join(data, 'packs');
  for (const name of readdirSync(packs).filter(file => file.endsWith('.idx.json.gz'))) {
    const groups: Group[] = JSON.parse(gunzipSync(readFileSync(join(packs, name))).toString());
    const pack = readFileSync(join(packs, name.replace('.idx.json.gz', '.pack')));
    for (const group of groups) {
      if (!group.b.some(([id]) => wanted.has(id) && !found.has(id))) continue;
      const body = brotliDecompressSync(pack.subarray(group.o, group.o + group.z));
      let at = 0;
      for (const [id, length] of group.b) {
        if (wanted.has(id)) found.set(id, body.toString('utf8', at, at + length));
        at += length;
      }
    }
  }
  return found;
}

function documentsOf(data: string): SearchDocument[] {
  const lines = gunzipSync(readFileSync(join(data, 'manifests', 'day-000.jsonl.gz')))
    .toString()
    .split('\n');
  const entries: Entry[] = lines.filter(Boolean).map(line => JSON.parse(line));
  const pages = entries.filter(entry => entry.ct?.startsWith('text/html'));
  const bodies = blobs(data, new Set(pages.map(entry => entry.b)));
  const anchors = new Map<string, Set<string>>();
  const made = pages.map((entry, index) => {
    const url = `https://${entry.s}${entry.u}`;
    const page = read(bodies.get(entry.b) ?? '');
    for (const { href, text } of page.links) {
      const target = URL.parse(href, url)?.href.replace(/#.*/, '');
      if (target === undefined || text.trim() === '') continue;
      if (!anchors.has(target)) anchors.set(target, new Set());
      if (anchors.get(target)!.size < 20) anchors.get(target)!.add(text.trim());
    }
    return { index, url, page };
  });
  return made.map(({ index, url, page }) => ({
    page: index + 1,
    url,
    title: page.title.trim(),
    headings: page.headings,
    anchors: [...(anchors.get(url) ?? [])].join('\n'),
    text: page.text.replace(/[ \t]+/g, ' '),
    language: page.language,
    mediaType: 'text/html',
    fetched: 0,
    changed: 0,
    importance: 0,
    noindex: false,
    noarchive: false,
  }));
}

export async function relevance(root: string, directory: string): Promise<void> {
  const data = join(root, '..', 'shared', 'data', 'dev');
  if (!existsSync(data))
    return console.log('relevance: left out, the recorded sites (../shared/data/dev) are not here');
  const documents = documentsOf(data);
  const search = openSearch(join(directory, 'known-items.db'));
  const started = performance.now();
  for (let at = 0; at < documents.length; at += 200) search.put(documents.slice(at, at + 200));
  const perSecond = (1000 * documents.length) / (performance.now() - started);
  const byTitle = new Map<string, Set<number>>();
  for (const { title, page } of documents) {
    const query = (title.normalize('NFC').match(/[\p{L}\p{N}\p{M}]+/gu) ?? [])
      .map(word => word.toLowerCase())
      .join(' ');
    if (query === '') continue;
    if (!byTitle.has(query)) byTitle.set(query, new Set());
    byTitle.get(query)!.add(page);
  }
  const ranks = [...byTitle].map(([query, pages]) => {
    const place = search.query(query.slice(0, 300), { limit: 100 }).hits.findIndex(hit => pages.has(hit.page));
    if (place !== 0 && process.argv.includes('--misses')) console.log(place, query, [...pages].slice(0, 3));
    return place < 0 ? 0 : 1 / (place + 1);
  });
  const mean = ranks.reduce((sum, rank) => sum + rank, 0) / ranks.length;
  search.close();
  console.log(
    `relevance: ${documents.length} real pages (${perSecond.toFixed(0)} pages/s in), ${ranks.length} titles asked`,
  );
  const verdict = mean >= WANTED ? 'met' : 'missed';
  console.log(`mean reciprocal rank of the page by its title ${mean.toFixed(3)}, target ${WANTED} (${verdict})`);
}
