/**
 * Relevance by known items: the words of a page's title, typed as a query, must find that page. Pages: day 0 of the
 * recorded sites in ../shared/data/dev. Pages that share their title (translations, numbered lists) have no single
 * right answer: any of them counts as found, and each title is asked once.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { analyse } from '../../src/crawler/analyse.ts';
import { headingsOf } from '../../src/home/headings.ts';
import { openSearch, type Said, type SearchDocument } from '../../src/search/index.ts';

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

/** Mean reciprocal rank to reach. */
const WANTED = 0.8;

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

interface Material {
  readonly documents: readonly SearchDocument[];
  readonly said: readonly Said[];
}

/** Pages and links as a crawl would hand them over: analysed as they are there, headings and importance included. */
function materialOf(data: string): Material {
  const lines = gunzipSync(readFileSync(join(data, 'manifests', 'day-000.jsonl.gz')))
    .toString()
    .split('\n');
  const entries: Entry[] = lines.filter(Boolean).map(line => JSON.parse(line));
  const pages = entries.filter(entry => entry.ct?.startsWith('text/html'));
  const bodies = blobs(data, new Set(pages.map(entry => entry.b)));
  const ids = new Map(pages.map((entry, index) => [`https://${entry.s}${entry.u}`, index + 1]));
  const counts = new Map<number, number>();
  const said: Said[] = [];
  const headers = new Map([['content-type', 'text/html; charset=utf-8']]);
  const read = [...ids].map(([url, id], index) => {
    const html = bodies.get(pages[index]!.b) ?? '';
    const page = analyse({ url, headers, body: Buffer.from(html) });
    const anchors = Buffer.from(page.links.anchors).toString().split('\n');
    const targets = page.links.count === 0 ? [] : Buffer.from(page.links.urls).toString().split('\n');
    const links = targets.map((target, i) => ({ target: ids.get(target) ?? 0, text: anchors[i] ?? '' }));
    for (const { target } of links) counts.set(target, (counts.get(target) ?? 0) + 1);
    said.push({ source: id, links });
    const { title, language, mediaType, noindex } = page;
    const text = page.text();
    return { page: id, url, title, language, mediaType, noindex, text, headings: headingsOf(html) };
  });
  const importance = (id: number) => Math.log2(1 + (counts.get(id) ?? 0)) / 16;
  const rest = { anchors: '', fetched: 0, changed: 0, noarchive: false };
  return { said, documents: read.map(page => ({ ...page, ...rest, importance: importance(page.page) })) };
}

export async function relevance(root: string, directory: string): Promise<void> {
  const data = join(root, '..', 'shared', 'data', 'dev');
  if (!existsSync(data))
    return console.log('relevance: left out, the recorded sites (../shared/data/dev) are not here');
  const { documents, said } = materialOf(data);
  const search = openSearch(join(directory, 'known-items.db'));
  const started = performance.now();
  for (let at = 0; at < said.length; at += 200) {
    search.apply({ changed: [], gone: [], said: said.slice(at, at + 200) });
  }
  const links = said.reduce((sum, { links }) => sum + links.length, 0);
  const linksPerSecond = (1000 * links) / (performance.now() - started);
  for (let at = 0; at < documents.length; at += 200) search.put(documents.slice(at, at + 200));
  const perSecond = (1000 * documents.length) / (performance.now() - started);
  const byTitle = new Map<string, Set<number>>();
  for (const { title, page, noindex } of documents) {
    if (noindex) continue;
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
    `relevance: ${documents.length} real pages (${perSecond.toFixed(0)} pages/s in, ` +
      `${links} links at ${linksPerSecond.toFixed(0)}/s), ${ranks.length} titles asked`,
  );
  const verdict = mean >= WANTED ? 'met' : 'missed';
  console.log(`mean reciprocal rank of the page by its title ${mean.toFixed(3)}, target ${WANTED} (${verdict})`);
}
