/**
 * What differs between two stored versions of a page, as a reader would put it: words of its text, links, images.
 * Blocks are aligned first and only blocks that differ are compared word by word, so that a huge page costs little.
 */

import type { Stored } from '../../archive/read.ts';
import { difference, type EditRun } from '../../base/myers.ts';
import { analyse } from '../../crawler/analysis/analyse.ts';
import type { Page } from '../../crawler/stages.ts';

export interface PageDifference {
  readonly title: { readonly before: string; readonly after: string };
  /** Of each stretch of blocks: unchanged ones as they are, changed ones as runs of words. */
  readonly text: readonly Stretch[];
  readonly links: Sides;
  readonly images: Sides;
  /** Words taken away and put in. */
  readonly removed: number;
  readonly added: number;
  /** The text is as it was; only bytes, markup or attributes differ. */
  readonly sameText: boolean;
}

export type Stretch =
  | { readonly kind: 'same'; readonly blocks: readonly string[] }
  | { readonly kind: 'changed'; readonly words: readonly EditRun[] };

export interface Sides {
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** Words of one changed stretch beyond which it is called replaced as a whole. */
const MOST_WORD_DIFFERENCES = 800;

/** The page that a stored response holds; analysed as it was when it came. */
export function pageOf(stored: Pick<Stored, 'url' | 'headers' | 'decoded'>): Page {
  return analyse({ url: stored.url, headers: stored.headers, body: stored.decoded().bytes });
}

export function differenceOf(before: Page, after: Page): PageDifference {
  const text = stretches(blocksOf(before.text()), blocksOf(after.text()), wordsOf);
  const sum = { removed: 0, added: 0 };
  for (const stretch of text) {
    if (stretch.kind === 'same') continue;
    for (const { kind, items } of stretch.words) if (kind !== 'same') sum[kind] += items.length;
  }
  return {
    title: { before: before.title, after: after.title },
    text,
    links: sides(linksOf(before), linksOf(after)),
    images: sides(before.images, after.images),
    ...sum,
    sameText: sum.removed + sum.added === 0,
  };
}

/** Of blocks, and of words where blocks differ; `wordsOf` says which words some blocks have. */
export function stretches(
  before: readonly string[],
  after: readonly string[],
  wordsOf: (blocks: readonly string[]) => string[],
): Stretch[] {
  const found: Stretch[] = [];
  let changed: { removed: readonly string[]; added: readonly string[] } = { removed: [], added: [] };
  const flush = () => {
    const { removed, added } = changed;
    if (removed.length === 0 && added.length === 0) return;
    found.push({ kind: 'changed', words: difference(wordsOf(removed), wordsOf(added), MOST_WORD_DIFFERENCES) });
    changed = { removed: [], added: [] };
  };
  for (const { kind, items } of difference(before, after)) {
    if (kind === 'same') {
      flush();
      found.push({ kind, blocks: items });
    } else changed = { ...changed, [kind]: items };
  }
  flush();
  return found;
}

function blocksOf(text: string): string[] {
  return text.split('\n').filter(block => block.trim() !== '');
}

function wordsOf(blocks: readonly string[]): string[] {
  return blocks.flatMap(block => block.split(/\s+/).filter(word => word !== ''));
}

function linksOf(page: Page): string[] {
  return page.links.count === 0 ? [] : Buffer.from(page.links.urls).toString().split('\n');
}

function sides(before: readonly string[], after: readonly string[]): Sides {
  const old = new Set(before);
  const now = new Set(after);
  return { removed: [...old].filter(each => !now.has(each)), added: [...now].filter(each => !old.has(each)) };
}
