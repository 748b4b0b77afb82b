/** What a page leads to without a link: the images that it shows, and where a meta refresh sends its readers. */
import { fingerprint } from '../../base/url.ts';
import { LINK_IMAGE, LINK_REDIRECT, type Links } from '../../errand/visit.ts';

/** More images than this are decoration. */
const MOST_IMAGES = 50;

const nothing = new Uint8Array(0);
const none: Links = {
  ...{ count: 0, fingerprints: new Uint32Array(0), flags: nothing, relevance: nothing },
  ...{ urls: nothing, anchors: nothing, lastmod: new Float64Array(0) },
};

/** Images become pages of the role `image`. */
export function withImages(links: Links, images: readonly string[]): Links {
  return withMore(links, images, LINK_IMAGE);
}

/** The images of a page by themselves. */
export function imageLinks(images: readonly string[]): Links {
  return withImages(none, images);
}

/** The page stays a page, because it has a body of its own; its target is found as if it were linked. */
export function withRefresh(links: Links, target: string | undefined): Links {
  return target === undefined ? links : withMore(links, [target], LINK_REDIRECT);
}

function withMore(links: Links, urls: readonly string[], flag: number): Links {
  const known = new Set(links.count === 0 ? [] : Buffer.from(links.urls).toString().split('\n'));
  const added = urls.filter(url => !known.has(url)).slice(0, MOST_IMAGES);
  if (added.length === 0) return links;
  const count = links.count + added.length;
  const fingerprints = new Uint32Array(count * 2);
  fingerprints.set(links.fingerprints);
  const print = { high: 0, low: 0 };
  added.forEach((url, i) => {
    fingerprint(url, print);
    fingerprints[(links.count + i) * 2] = print.high;
    fingerprints[(links.count + i) * 2 + 1] = print.low;
  });
  const flags = new Uint8Array(count).fill(flag);
  flags.set(links.flags);
  const relevance = new Uint8Array(count);
  relevance.set(links.relevance);
  return {
    count,
    fingerprints,
    flags,
    relevance,
    urls: joined(links, links.urls, added.join('\n')),
    anchors: joined(links, links.anchors, '\n'.repeat(added.length - 1)),
    lastmod: links.lastmod,
  };
}

function joined({ count }: Links, first: Uint8Array, more: string): Uint8Array {
  return count === 0 ? Buffer.from(more) : Buffer.concat([first, Buffer.from(`\n${more}`)]);
}
