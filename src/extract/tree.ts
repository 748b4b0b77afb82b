/** A page as a tree of elements, by the rules that browsers follow, bounded in depth whatever was sent. */
import { type ChildNode, type Document, Element, isTag, isText, type ParentNode, Text } from 'domhandler';
import { parse } from 'parse5';
import { adapter } from 'parse5-htmlparser2-tree-adapter';

/** Levels below which elements are only their text: whoever walks the tree may do so by recursion. */
const DEEPEST = 300;
/** Characters of a page that are read. */
const MOST = 16_000_000;
/** Elements and texts: what a page is in memory depends on them, and a hostile one has one in three characters. */
const MOST_NODES = 1_000_000;

export function treeOf(html: string): Document {
  const tree = parsed(html.slice(0, MOST));
  flatten(tree);
  return tree;
}

/** Up to the node that is one too many. */
function parsed(html: string): Document {
  const full = new Error('too many nodes');
  let [nodes, tree]: [number, Document | undefined] = [0, undefined];
  const count = () => {
    if (++nodes > MOST_NODES) throw full;
  };
  const counting: typeof adapter = {
    ...adapter,
    createDocument: () => (tree = adapter.createDocument()),
    createElement(...given) {
      count();
      return adapter.createElement(...given);
    },
    // Words of one text come one by one.
    insertText(parent, text) {
      if (!parent.lastChild || !isText(parent.lastChild)) count();
      adapter.insertText(parent, text);
    },
  };
  try {
    return parse(html, { treeAdapter: counting, scriptingEnabled: false });
  } catch (error) {
    if (error !== full || !tree) throw error;
    return tree;
  }
}

/** By a list of its own, since the tree may be deeper than the stack. */
function flatten(tree: Document): void {
  const open: [ParentNode, number][] = [[tree, 0]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [node, depth] = next;
    if (depth >= DEEPEST) {
      const text = new Text(deepText(node));
      text.parent = node;
      node.children = [text];
      continue;
    }
    for (const child of node.children) if ('children' in child) open.push([child, depth + 1]);
  }
}

const silent: ReadonlySet<string> = new Set(['script', 'style', 'template', 'noscript']);

function deepText(node: ParentNode): string {
  const parts: string[] = [];
  const open: ChildNode[] = [...node.children].reverse();
  for (let next = open.pop(); next; next = open.pop()) {
    if (isText(next)) parts.push(next.data);
    else if (isTag(next) && !silent.has(next.name)) for (const child of next.children.toReversed()) open.push(child);
  }
  return parts.join(' ');
}

/** The text of a node, spaces as they stand. */
export function rawText(node: ChildNode): string {
  if (isText(node)) return node.data;
  if (!isTag(node) || silent.has(node.name)) return '';
  if (node.name === 'br') return '\n';
  return node.children.map(rawText).join('');
}

export function plainText(node: ChildNode): string {
  return squeezed(rawText(node));
}

export function squeezed(text: string): string {
  return text.replace(/[\s\u00a0]+/g, ' ').trim();
}

export function elementsOf(node: ParentNode): Element[] {
  return node.children.filter(isTag);
}

/** The first element that passes, in the order of the page. */
export function firstOf(node: ParentNode, passes: (element: Element) => boolean): Element | undefined {
  for (const child of elementsOf(node)) {
    if (passes(child)) return child;
    const below = firstOf(child, passes);
    if (below) return below;
  }
  return undefined;
}

export function everyOf(node: ParentNode, passes: (element: Element) => boolean, found: Element[] = []): Element[] {
  for (const child of elementsOf(node)) {
    if (passes(child)) found.push(child);
    everyOf(child, passes, found);
  }
  return found;
}

export function bodyOf(tree: Document): ParentNode {
  return firstOf(tree, ({ name }) => name === 'body') ?? tree;
}

export { type ChildNode, type Document, Element, isTag, isText, type ParentNode, type Text };
