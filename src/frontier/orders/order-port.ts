/** The port behind which the orders stand: which of one server's waiting pages is visited next. */
import type { ReasonCode } from '../../errand/reasons.ts';

/** What an order may go by. */
export interface Hint {
  /** Links between this page and its seed. */
  readonly depth: number;
  /** To the crawl's keywords, 0–255. */
  readonly relevance: number;
  /** Links on the page (FwdLK); negative = not known, as with any page not yet fetched. */
  readonly forward: number;
  /** Known pages that link to it (BkLK). */
  readonly backward: number;
  /** Irrelevant pages in a row on the way that led here (see Strays); absent = 0. */
  readonly strayed?: number;
}

export interface Order {
  /** Pages waiting. */
  readonly size: number;
  /** Relevance of the page that would be taken next, 0–255; 0 in orders that do not go by it. 256 = a user asked for it (holdable-order.ts). */
  readonly top: number;
  /** Where orders share lists: whether this one has a page of the list whose turn it is. Absent = always. */
  readonly called?: boolean;
  /** Takes a page in, or says why it will not; the caller never adds a page that is already waiting. */
  add(page: number, hint: Hint): ReasonCode | undefined;
  /** Removes and returns the next pages, at most `count`. */
  take(count: number): number[];
  /** One more page links to this one. Orders that do not care ignore it. */
  backward(page: number): void;
  /** A page of this server turned out to have so many links. Orders that do not care ignore it. */
  forward(links: number): void;
}
