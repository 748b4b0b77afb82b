/** A page as the errand carries it: the URL, and what is known of it where the delegation rule says so. */
export interface Known {
  readonly url: string;
  /** What it is asked for: a sitemap is read for its entries only, an image for its bytes only. */
  readonly role: 'page' | 'sitemap' | 'image';
  /** Links between this page and its seed; a seed has 0. */
  readonly depth: number;
  /** Redirects that led here in a row. */
  readonly hops: number;
  /** Earlier failed tries in a row. */
  readonly tries: number;
  readonly etag?: string;
  /** As the server wrote it. */
  readonly lastModified?: string;
  /** As packFacts wrote them. */
  readonly facts?: Uint8Array;
  /** What was learned of its noise; the detector wrote it (Visit.mask) and alone can read it. */
  readonly mask?: Uint8Array;
}
