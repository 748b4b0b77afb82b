/** Links as real pages write them, from the recorded sites beside the project; undefined when they are not there. */
import { existsSync, readFileSync } from 'node:fs';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

interface Group {
  readonly o: number;
  readonly z: number;
  readonly b: readonly [id: string, length: number][];
}

const data = new URL('../../shared/data/dev/', import.meta.url);

/** `[page, href]` of the first day's pages, at most `limit` of each site. */
export function realLinks(limit: number): [string, string][] | undefined {
  if (!existsSync(new URL('sites.json', data))) return undefined;
  const lines = gunzipSync(readFileSync(new URL('manifests/day-000.jsonl.gz', data)))
    .toString()
    .trim()
    .split('\n');
  const pages = new Map<string, Map<string, string>>();
  for (const line of lines) {
    const { s, u, b, ct } = JSON.parse(line) as { s: string; u: string; b: string; ct: string };
    if (!ct.startsWith('text/html')) continue;
    if (!pages.has(s)) pages.set(s, new Map());
    pages.get(s)!.set(b, `https://${s}${u}`);
  }
  return [...pages].flatMap(([host, urls]) => linksOf(host, urls, limit));
}

function linksOf(host: string, urls: ReadonlyMap<string, string>, limit: number): [string, string][] {
  const groups = JSON.parse(gunzipSync(readFileSync(new URL(`packs/${host}.idx.json.gz`, data))).toString()) as Group[];
  const pack = readFileSync(new URL(`packs/${host}.pack`, data));
  const links: [string, string][] = [];
  for (const group of groups) {
    const bytes = brotliDecompressSync(pack.subarray(group.o, group.o + group.z));
    let offset = 0;
    for (const [id, length] of group.b) {
      const url = urls.get(id);
      const html = url === undefined ? '' : bytes.toString('utf8', offset, offset + length);
      for (const match of html.matchAll(/\shref\s*=\s*(?:"([^"]*)"|'([^']*)')/gi)) {
        links.push([url!, (match[1] ?? match[2]!).replaceAll('&amp;', '&')]);
        if (links.length === limit) return links;
      }
      offset += length;
    }
  }
  return links;
}
