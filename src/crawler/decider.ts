/**
 * The port behind which code of the user's decides about pages: whether a page is kept, whether its links are followed,
 * and what they promise. It sees what the crawler found out and, where it asks for it, the text or the body. It answers
 * with a verdict and nothing else: it cannot ask for a page, change one, or speak of another.
 *
 * The crawler goes on while a decider thinks. Who runs it, and in what cage, is the outpost's business.
 */

import type { Added } from './analysis/added-links.ts';
import type { HookPage } from './hooks.ts';

/**
 * What of the page it is shown besides the facts: nothing, the visible text, the body as a browser would get it, or whatever
 * it asks for, where it runs in this thread.
 */
export type Wants = 'facts' | 'text' | 'body' | 'page';

export interface PageQuestion {
  readonly url: string;
  readonly title: string;
  /** BCP 47 primary tag, empty = unknown. */
  readonly language: string;
  readonly mediaType: string;
  readonly status: number;
  readonly depth: number;
  /** Decoded bytes of the body. */
  readonly bytes: number;
  /** Links and words on the page. */
  readonly links: number;
  readonly words: number;
  /** Nothing was known of the page before. */
  readonly first: boolean;
  /** As it was wanted: UTF-8 text, the body, or empty. */
  readonly content: Uint8Array;
  /** Where the page was wanted. */
  readonly page?: HookPage;
}

export interface PageVerdict {
  readonly keep: boolean;
  readonly follow: boolean;
  /** What the links promise to a focused crawl, 0–255; 0 = it does not say. */
  readonly relevance: number;
  /** URLs to visit besides the page's links. */
  readonly add?: readonly Added[];
  /** What it took from the page, as JSON. */
  readonly data?: string;
}

export interface Decider {
  readonly wants: Wants;
  /** Why it cannot be asked any more; empty = it can. */
  readonly over: string;
  /** Rejects when the code failed on this page; others may still be asked about. */
  decide(question: PageQuestion): Promise<PageVerdict>;
}
