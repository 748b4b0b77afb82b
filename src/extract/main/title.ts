/**
 * The heading that says what a page's title says: content begins there. Lists of links before it are menus, and so are
 * those behind the element in which it stands with most of the page's prose.
 */
import {
  bodyOf,
  type Document,
  type Element,
  elementsOf,
  everyOf,
  firstOf,
  type ParentNode,
  plainText,
} from '../tree.ts';
import { nothing, type Weight } from '../weigh.ts';

/** Words that a heading and the title must share, of those that either has. */
const LIKE = 0.5;
/** Share of a text from which it only leads elsewhere. */
const LINKS = 0.5;
/** Share of a page's prose that what stands around the heading must hold, and, beside it, that a menu behind it may have of its text. */
const MOST_OF_IT = 0.5;
const SMALL = 0.5;

const wordsOf = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);

/** Titles name the page and, before or behind it, the site. Names are written with and without the signs between their parts. */
function likeness(heading: string, titles: readonly string[]): number {
  const words = wordsOf(heading);
  const letters = [...words].join('');
  return Math.max(
    0,
    ...titles.map(title => {
      const its = wordsOf(title);
      const both = [...words].filter(word => its.has(word)).length;
      return letters === [...its].join('') ? 1 : both / (words.size + its.size - both);
    }),
  );
}

/** Of several that say the same, the last of the highest level: a bar above the page may say it, too. A page without a title may have one h1. */
export function headingOf(tree: Document, dropped: ReadonlySet<Element>): Element | undefined {
  const headings = everyOf(bodyOf(tree), ({ name }) => /^h[1-6]$/.test(name)).filter(each => !isBelow(each, dropped));
  const title = firstOf(tree, ({ name }) => name === 'title');
  const said = title ? plainText(title) : '';
  const titles = [said, ...said.split(/\s[-–—|:·»]+\s|:\s|\s\(/)];
  let best: Element | undefined;
  let most = LIKE;
  for (const heading of headings) {
    const like = likeness(saidBy(heading), titles);
    if (like < LIKE || (best && heading.name > best.name) || (best?.name === heading.name && like < most)) continue;
    [best, most] = [heading, like];
  }
  const first = headings.filter(({ name }) => name === 'h1');
  return best ?? (title === undefined && first.length === 1 ? first[0] : undefined);
}

function isBelow(element: Element, dropped: ReadonlySet<Element>): boolean {
  for (let node: ParentNode | null = element; node; node = node.parent) if (dropped.has(node as Element)) return true;
  return false;
}

export function menusAround(heading: Element, weights: ReadonlyMap<ParentNode, Weight>): Element[] {
  const above: Element[] = [];
  for (let node: ParentNode | null = heading; node && weights.has(node.parent!); node = node.parent)
    above.push(node as Element);
  // Inside a formula nothing was weighed.
  if (above.length === 0) return [];
  const of = (node: ParentNode): Weight => weights.get(node) ?? nothing;
  const isMenu = (each: Element): boolean =>
    of(each).links > LINKS * of(each).text && everyOf(each, ({ name }) => name === 'a').length > 1;
  const before = above.flatMap(node => siblingsOf(node, 'before').filter(isMenu));
  const around = of(above.at(-1)!.parent!).prose - before.reduce((sum, each) => sum + of(each).prose, 0);
  const behind = above
    .filter(node => of(node).prose >= MOST_OF_IT * around)
    .flatMap(node => siblingsOf(node, 'behind').filter(each => isMenu(each) && of(each).text < SMALL * of(node).text));
  return [...before, ...behind];
}

function siblingsOf(node: Element, side: 'before' | 'behind'): Element[] {
  const siblings = elementsOf(node.parent!);
  const at = siblings.indexOf(node);
  return side === 'before' ? siblings.slice(0, at) : siblings.slice(at + 1);
}

/** Signs of a label, besides links. */
const LABEL = 40;
const MOST_ENTRIES = 1000;
const listed: ReadonlySet<string> = new Set(['div', 'ul', 'ol', 'p', 'table', 'dl', 'section', 'details']);

/** What a page says of itself: a list of its own headings, or of its translations. */
export class OwnLinks {
  /** By level. */
  readonly #headings: readonly ReadonlySet<string>[];

  constructor(body: ParentNode) {
    const all = everyOf(body, ({ name }) => /^h[1-6]$/.test(name));
    this.#headings = Object.values(Object.groupBy(all, ({ name }) => name)).map(some => new Set(some!.map(saidBy)));
  }

  /** Whether it leads nowhere else. */
  are(element: Element, { text, links, prose, blocks }: Weight): boolean {
    if (!listed.has(element.name) || blocks > MOST_ENTRIES) return false;
    if (text - links > Math.max(LABEL, links) || prose > LABEL) return false;
    const all = everyOf(element, ({ name, attribs }) => name === 'a' && attribs['href'] !== undefined);
    const translated = all.filter(({ attribs }) => attribs['hreflang'] !== undefined).length;
    if (translated > 1 && translated >= 0.6 * all.length) return true;
    const named = all.filter(({ attribs }) => attribs['href']!.startsWith('#')).map(saidBy);
    return named.length >= 0.6 * all.length && this.#headings.some(some => isContentsOf(some, new Set(named)));
  }
}

/** A reference to two of many headings is no table of contents. */
function isContentsOf(headings: ReadonlySet<string>, named: ReadonlySet<string>): boolean {
  const both = [...named].filter(each => headings.has(each)).length;
  return both > 1 && both >= 0.5 * headings.size;
}

/** Without numbers of chapters and signs that are links. */
function saidBy(element: Element): string {
  return plainText(element)
    .replace(/^[\d.]+\s|\s*[¶§#]$/g, '')
    .toLowerCase();
}
