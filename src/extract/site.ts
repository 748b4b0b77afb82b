/** What the pages of a server share: blocks of text that many of them have are its template. */

import { bodyOf, treeOf } from './tree.ts';
import { blockTexts, type Template } from './weigh.ts';

/** Pages that must have a block, and the share of the pages looked at, before it is called shared. */
const LEAST_PAGES = 4;
const LEAST_SHARE = 0.6;

export class SiteBlocks implements Template {
  readonly #pages = new Map<string, number>();
  #looked = 0;

  add(html: string): void {
    this.#looked++;
    for (const text of new Set(blockTexts(bodyOf(treeOf(html))))) {
      this.#pages.set(text, (this.#pages.get(text) ?? 0) + 1);
    }
  }

  has(text: string): boolean {
    return (this.#pages.get(text) ?? 0) >= Math.max(LEAST_PAGES, LEAST_SHARE * this.#looked);
  }
}
