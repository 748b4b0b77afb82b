/** URLs that code of the user's names on a page: they stand behind its links, marked, each with what it promises. */
import { fingerprint, resolver } from '../../base/url.ts';
import { LINK_ADDED, LINK_NOFOLLOW, type Links } from '../../errand/visit.ts';

export interface Added {
  readonly url: string;
  /** 0–255; 0 = it does not say. */
  readonly relevance: number;
}

/** What is no URL is left out; what is a link already is marked. `base`: what relative ones are relative to. */
export function withAdded(links: Links, base: string, added: readonly Added[]): Links {
  const resolve = resolver(base);
  const known = links.count === 0 ? [] : Buffer.from(links.urls).toString().split('\n');
  const places = new Map(known.map((url, i) => [url, i]));
  const wanted = new Map<number, number>();
  for (const { url, relevance } of added) {
    const absolute = resolve(url);
    if (absolute === undefined) continue;
    const place = places.get(absolute) ?? places.size;
    places.set(absolute, place);
    wanted.set(place, Math.max(relevance, wanted.get(place) ?? 0));
  }
  if (wanted.size === 0) return links;
  const urls = [...places.keys()];
  const count = urls.length;
  const fingerprints = grown(Uint32Array, links.fingerprints, count * 2);
  const flags = grown(Uint8Array, links.flags, count);
  const relevance = grown(Uint8Array, links.relevance, count);
  const print = { high: 0, low: 0 };
  for (let i = links.count; i < count; i++) {
    fingerprint(urls[i]!, print);
    fingerprints[i * 2] = print.high;
    fingerprints[i * 2 + 1] = print.low;
  }
  for (const [place, promised] of wanted) {
    flags[place] = (flags[place]! | LINK_ADDED) & ~LINK_NOFOLLOW;
    if (promised > 0) relevance[place] = promised;
  }
  const more = '\n'.repeat(count - Math.max(1, links.count));
  return {
    ...{ count, fingerprints, flags, relevance, lastmod: links.lastmod },
    urls: Buffer.from(urls.join('\n')),
    anchors: links.count === 0 ? Buffer.from(more) : Buffer.concat([links.anchors, Buffer.from(more)]),
  };
}

function grown<A extends Uint8Array | Uint32Array>(kind: new (length: number) => A, from: A, length: number): A {
  const all = new kind(length);
  all.set(from);
  return all;
}
