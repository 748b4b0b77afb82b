/** A page's main content: its title and its blocks, as Markdown and as text. */
import { blocksOf } from './blocks.ts';
import type { Block } from './inline.ts';
import { mainOf } from './main/main-content.ts';
import { firstOf, plainText, treeOf } from './tree.ts';
import type { Template } from './weigh.ts';

export interface Extracted {
  readonly title: string;
  readonly blocks: readonly Block[];
}

/** Feeds and other XML wrap markup in sections of characters; HTML has none. */
const XML = /^\s*<\?xml(?![\s\S]{0,2000}<html)/i;
const CDATA = /<!\[CDATA\[|\]\]>/g;

/** `base` is the page's address; `template` what is known of its server. */
export function extractPage(html: string, base: string, template?: Template): Extracted {
  const tree = treeOf(XML.test(html) ? html.replace(CDATA, '') : html);
  const { root, dropped } = mainOf(tree, template);
  const blocks = blocksOf(root, { base, dropped });
  const title = firstOf(tree, ({ name }) => name === 'title');
  return { title: title ? plainText(title) : '', blocks };
}

export function markdownOf({ blocks }: Pick<Extracted, 'blocks'>): string {
  return blocks.map(({ markdown }) => markdown).join('\n\n');
}

export function textOf({ blocks }: Pick<Extracted, 'blocks'>): string {
  return blocks.map(({ text }) => text).join('\n\n');
}
