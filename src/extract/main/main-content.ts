/**
 * The part of a page that is its own: what is left when navigation, footers, offers and comments are gone. First the
 * elements that say what they are go, and menus around the heading that names the page (title.ts); then we go down from
 * the body as long as one child holds nearly all of the text; then what is only links goes from that. With what is known of its server (site.ts), blocks that many of its pages
 * share weigh nothing and go from both ends.
 */
import { laysOut } from '../tables.ts';
import {
  bodyOf,
  type Document,
  type Element,
  elementsOf,
  everyOf,
  firstOf,
  isTag,
  type ParentNode,
  plainText,
} from '../tree.ts';
import { measure, nothing, type Template, type Weight } from '../weigh.ts';
import { hasNegativeName, isByline, isComments, isHidden, isImprint, isNeverContent } from './hints.ts';
import { headingOf, menusAround, OwnLinks } from './title.ts';

/** A child with this share of the text is where the text is. */
const NEARLY_ALL = 0.8;

interface Main {
  readonly root: ParentNode;
  /** Elements below the root that are not part of it. */
  readonly dropped: ReadonlySet<Element>;
}

export function mainOf(tree: Document, template?: Template): Main {
  const found = chosen(tree, template, true);
  const { text } = of(measure(found.root, found.dropped, template), found.root);
  if (text >= LITTLE) return found;
  // Names may lie: whole pages stand in what calls itself an overlay.
  const other = chosen(tree, template, false);
  return of(measure(other.root, other.dropped, template), other.root).text > 2 * text ? other : found;
}

/** Characters below which we look again. */
const LITTLE = 250;

function chosen(tree: Document, template: Template | undefined, byName: boolean): Main {
  const body = bodyOf(tree);
  const article = isArticle(tree);
  const dropped = new Set<Element>();
  const all = measure(body, dropped, template);
  if (byName) dropComments(body, all, dropped);
  dropNamed(body, dropped.size > 0 ? measure(body, dropped, template) : all, { dropped, byName });
  const whole = measure(body, dropped, template);
  const heading = headingOf(tree, dropped);
  for (const menu of heading ? menusAround(heading, whole) : []) dropped.add(menu);
  const weights = measure(body, dropped, template);
  const root = descend(start(body, weights), { weights, whole }, article);
  if (article) dropAsides(root, weights, dropped);
  if (template) dropShared(root, weights, dropped);
  return { root, dropped };
}

type NodeWeights = ReadonlyMap<ParentNode, Weight>;
const of = (weights: NodeWeights, node: ParentNode): Weight => weights.get(node) ?? nothing;

/** Such a share of the page's text is too much to be an aside, whatever its name says. */
const TOO_MUCH = 0.5;
/** Characters of prose that are enough for an article. */
const AN_ARTICLE = 1000;

/** Characters of prose beside which a footer is one, however much longer it is. */
const A_LITTLE = 100;

/** Readers may write more than the author did: then their comments go first, so that they outweigh nothing else. */
function dropComments(body: ParentNode, weights: NodeWeights, dropped: Set<Element>): void {
  const { prose: all } = of(weights, body);
  const heavy = everyOf(body, child => of(weights, child).prose > TOO_MUCH * all && isComments(child))[0];
  if (heavy && all - of(weights, heavy).prose >= AN_ARTICLE) dropped.add(heavy);
}

function dropNamed(body: ParentNode, weights: NodeWeights, to: { dropped: Set<Element>; byName: boolean }): void {
  const all = of(weights, body).prose;
  const own = new OwnLinks(body);
  const visit = (node: ParentNode): void => {
    for (const child of elementsOf(node)) {
      const weight = of(weights, child);
      const heavy = weight.prose > TOO_MUCH * all;
      const goes =
        isNeverContent(child) ||
        (isHidden(child) && (to.byName || !heavy)) ||
        (all - weight.prose >= A_LITTLE && isImprint(child)) ||
        own.are(child, weight) ||
        (to.byName && !heavy && hasNegativeName(child) && !isBox(child, weights));
      if (goes) to.dropped.add(child);
      else visit(child);
    }
  };
  visit(body);
}

/** A paragraph's worth of text between others: a note of the author's, whatever its name. */
function isBox(element: Element, weights: NodeWeights): boolean {
  const isProse = (each: Element | undefined) =>
    each !== undefined && of(weights, each).prose >= Math.max(A_LITTLE, 0.5 * of(weights, each).text);
  const around = [beside(element, 'prev', weights), beside(element, 'next', weights)];
  return isProse(element) && around.every(each => isProse(each) && !hasNegativeName(each!));
}

/** The next element with text on this side. */
function beside(element: Element, side: 'prev' | 'next', weights: NodeWeights): Element | undefined {
  for (let node = element[side]; node; node = node[side]) if (isTag(node) && of(weights, node).text > 0) return node;
  return undefined;
}

/** The element that says that it is the main one, when it holds enough of the text. */
function start(body: ParentNode, weights: NodeWeights): ParentNode {
  const all = of(weights, body).prose;
  const declared = everyOf(body, element => {
    const { name, attribs } = element;
    return name === 'main' || attribs['role'] === 'main' || /articleBody/i.test(attribs['itemprop'] ?? '');
  });
  const heaviest = declared.sort((a, b) => of(weights, b).prose - of(weights, a).prose)[0];
  return heaviest && of(weights, heaviest).prose > 0.4 * all ? heaviest : body;
}

const containers: ReadonlySet<string> = new Set([
  'div',
  'section',
  'article',
  'main',
  'td',
  'tr',
  'tbody',
  'table',
  'center',
  'body',
  'form',
  'span',
  'font',
]);

/** Characters that count: less is a label, or the way to the page. */
const NEXT_TO_NOTHING = 20;

/** `whole`: with the menus that were dropped, since what stands beside these is of their kind. */
function descend(
  from: ParentNode,
  { weights, whole }: { weights: NodeWeights; whole: NodeWeights },
  article: boolean,
): ParentNode {
  let node = from;
  for (;;) {
    const all = of(weights, node);
    const next = elementsOf(node)
      .filter(child => weights.has(child) && containers.has(child.name))
      .filter(child => child.name !== 'table' || laysOut(child))
      .find(child => of(weights, child).prose >= NEARLY_ALL * all.prose);
    if (!next || all.prose === 0) return node;
    const its = of(weights, next);
    const text = all.text - all.shared - its.text + its.shared;
    const leading = of(whole, node).links - of(whole, next).links;
    const around = text + leading - (all.links - its.links);
    const little = all.prose - its.prose < NEXT_TO_NOTHING && text < 0.2 * its.text;
    // Besides articles, what stands around the greater part is left out only where it leads elsewhere or is next to nothing.
    const beside =
      text > 0 &&
      (article
        ? its.blocks <= 1 && all.blocks > 1
        : its.text < 0.5 * (all.text - all.shared) ||
          (!little && (leading < 0.5 * around || its.links > 0.5 * its.text)));
    if (beside) return node;
    node = next;
  }
}

const pruned: ReadonlySet<string> = new Set([
  'div',
  'section',
  'ul',
  'ol',
  'table',
  'form',
  'p',
  'figure',
  'header',
  'dl',
]);

/** Lists of links in an article lead elsewhere (in documentation they are what it says), and so do headings that are links. */
function dropAsides(root: ParentNode, weights: NodeWeights, dropped: Set<Element>): void {
  const all = of(weights, root).prose;
  const visit = (node: ParentNode): void => {
    for (const child of elementsOf(node)) {
      if (dropped.has(child)) continue;
      const { text, links, blocks, prose } = of(weights, child);
      const linkList =
        pruned.has(child.name) && links > 0.6 * text && text < 2000 && (blocks > 1 || child.name !== 'p');
      const light = prose < 0.3 * all;
      if (linkList || (light && (isByline(child) || leadsElsewhere(child)))) dropped.add(child);
      else visit(child);
    }
  };
  visit(root);
}

/** A card: it has one heading, which is a link to another page, or is such a link around all. */
function leadsElsewhere(element: Element): boolean {
  if (!['div', 'li', 'article', 'section', 'a', 'figure'].includes(element.name)) return false;
  const isHeading = ({ name }: Element) => /^h[2-6]$/.test(name);
  const headings = everyOf(element, isHeading);
  if (headings.length === 0) return false;
  if (element.name === 'a') return true;
  return headings.every(heading => {
    const link = firstOf(heading, isAway) ?? parentLink(heading, element);
    return link !== undefined && plainText(link).length >= 0.8 * plainText(heading).length;
  });
}

function isAway({ name, attribs }: Element): boolean {
  return name === 'a' && attribs['href'] !== undefined && !attribs['href'].startsWith('#');
}

function parentLink(heading: Element, within: Element): Element | undefined {
  for (let node = heading.parent; node && node !== within && 'attribs' in node; node = node.parent) {
    if (isAway(node as Element)) return node as Element;
  }
  return undefined;
}

function isArticle(tree: Document): boolean {
  return (
    firstOf(tree, ({ name, attribs }) => {
      if (name !== 'meta') return false;
      const key = attribs['property'] ?? attribs['name'] ?? '';
      return /^og:type$/i.test(key) ? /article/i.test(attribs['content'] ?? '') : /^article:/i.test(key);
    }) !== undefined || everyOf(tree, ({ name }) => name === 'article').length === 1
  );
}

/** Cells, terms and headings that pages share are labels of what is between them. */
const apart: ReadonlySet<string> = new Set([
  'div',
  'section',
  'header',
  'p',
  'ul',
  'ol',
  'form',
  'center',
  'span',
  'a',
]);

/** From both ends up to the first block that is the page's own. */
function dropShared(root: ParentNode, weights: NodeWeights, dropped: Set<Element>): void {
  const order = elementsOf(root).filter(child => weights.has(child) && !dropped.has(child));
  for (const side of [order, order.toReversed()]) {
    for (const child of side) {
      const { text, shared } = of(weights, child);
      if (text === 0) continue;
      if (shared < text || !apart.has(child.name)) {
        if (shared > 0 && apart.has(child.name)) dropShared(child, weights, dropped);
        break;
      }
      dropped.add(child);
    }
  }
}
