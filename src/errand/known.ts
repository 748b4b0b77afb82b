/** A page as the errand carries it: the URL, and what is known of it where the delegation rule says so. */
import type { Facts } from './facts.ts';

export interface Known {
  readonly url: string;
  /** Links between this page and its seed; a seed has 0. */
  readonly depth: number;
  /** Redirects that led here in a row. */
  readonly hops: number;
  /** Earlier failed tries in a row. */
  readonly tries: number;
  readonly etag?: string;
  /** As the server wrote it. */
  readonly lastModified?: string;
  readonly facts?: Facts;
}
