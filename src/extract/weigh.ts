/** How much each element holds: text, text of links, prose, and what its server's pages share. */

import { type Element, elementsOf, isTag, isText, type ParentNode, squeezed } from './tree.ts';

/** What the pages of a server share. */
export interface Template {
  /** Whether many pages have a block with this text, spaces squeezed. */
  has(text: string): boolean;
}

export interface Weight {
  /** Characters, spaces squeezed. */
  readonly text: number;
  readonly links: number;
  /** Characters that count: long blocks, little of them links. */
  readonly prose: number;
  /** Characters in blocks that many pages of the server have. */
  readonly shared: number;
  /** Blocks with text. */
  readonly blocks: number;
}

export const inline: ReadonlySet<string> = new Set(
  `a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark q ruby rp rt s samp small span strike
   strong sub sup time tt u var wbr picture source math`.split(/\s+/),
);

export function isInline(element: Element): boolean {
  return inline.has(element.name);
}

/** Inline elements that hold blocks are blocks: whole cards stand in links. */
export function holdsBlocks(element: Element): boolean {
  return element.name !== 'math' && elementsOf(element).some(child => !isInline(child) || holdsBlocks(child));
}

interface TextRun {
  text: string;
  links: number;
}

/** Weights of the node and of all below it that is not dropped. */
export function measure(
  root: ParentNode,
  dropped: ReadonlySet<Element>,
  template: Template | undefined,
): Map<ParentNode, Weight> {
  const weights = new Map<ParentNode, Weight>();
  const weigh = (node: ParentNode, linked: boolean): Weight => {
    const sum = { text: 0, links: 0, prose: 0, shared: 0, blocks: 0 };
    let run: TextRun = { text: '', links: 0 };
    const end = () => {
      const block = blockOf(run, template);
      for (const key of Object.keys(sum) as (keyof Weight)[]) sum[key] += block[key];
      run = { text: '', links: 0 };
    };
    const take = (child: ParentNode['children'][number], inLink: boolean): void => {
      if (isText(child)) {
        run.text += child.data;
        if (inLink) run.links += squeezed(child.data).length;
      } else if (isTag(child) && !dropped.has(child) && !silent.has(child.name)) {
        const link = inLink || child.name === 'a';
        if (child.name === 'br') run.text += ' ';
        else if (isInline(child) && !holdsBlocks(child)) for (const each of child.children) take(each, link);
        else {
          end();
          const weight = weigh(child, link);
          for (const key of Object.keys(sum) as (keyof Weight)[]) sum[key] += weight[key];
        }
      }
    };
    for (const child of node.children) take(child, linked);
    end();
    weights.set(node, sum);
    return sum;
  };
  weigh(root, false);
  return weights;
}

const silent: ReadonlySet<string> = new Set(['script', 'style', 'template', 'noscript']);
export const nothing: Weight = { text: 0, links: 0, prose: 0, shared: 0, blocks: 0 };
/** Shorter blocks are labels more often than sentences. */
const SENTENCE = 40;

function blockOf({ text, links }: TextRun, template: Template | undefined): Weight {
  const plain = squeezed(text);
  if (plain === '') return nothing;
  const length = plain.length;
  const own = Math.max(0, length - links);
  if (template?.has(plain)) return { text: length, links, prose: 0, shared: length, blocks: 1 };
  const prose = length < SENTENCE ? own * 0.3 : links > 0.5 * length ? own * 0.5 : own;
  return { text: length, links, prose, shared: 0, blocks: 1 };
}

/** The blocks of a page in its order, as `measure` sees them. */
export function blockTexts(root: ParentNode): string[] {
  const found: string[] = [];
  measure(root, new Set(), {
    has(text) {
      found.push(text);
      return false;
    },
  });
  return found;
}
