import { LINK_IS_SITEMAP } from './visit.ts';

/** Redirects in a row that are followed, and indexes in indexes: a site may make either without end. */
export const MOST_HOPS = 10;

/** A page as the errand carries it: the URL, and what is known of it where the delegation rule says so. */
export interface Known {
  readonly url: string;
  /** What it is asked for: a sitemap is read for its entries only, an image for its bytes only. */
  readonly role: 'page' | 'sitemap' | 'image';
  /** Links between this page and its seed; a seed has 0. */
  readonly depth: number;
  /** Redirects that led here in a row; of a sitemap also the indexes that it stands in. */
  readonly hops: number;
  /** Earlier failed tries in a row. */
  readonly tries: number;
  readonly etag?: string;
  /** As the server wrote it. */
  readonly lastModified?: string;
  /** As packFacts wrote them. */
  readonly facts?: Uint8Array;
}

/** Where a link with these flags leads from a page. An index of sitemaps is no level: what is in them is as near as ever. */
export function stepFrom({ depth, hops }: Pick<Known, 'depth' | 'hops'>, flags: number): Pick<Known, 'depth' | 'hops'> {
  return flags & LINK_IS_SITEMAP ? { depth, hops: hops + 1 } : { depth: depth + 1, hops: 0 };
}
