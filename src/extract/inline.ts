/** Text within a block, as Markdown and plain: links, images, code, emphasis. */

import { isFormula } from './main/hints.ts';
import {
  type ChildNode,
  type Element,
  firstOf,
  isTag,
  isText,
  plainText,
  rawText,
  squeezed,
  type Text,
} from './tree.ts';
import { inline } from './weigh.ts';

export interface Inline {
  readonly markdown: string;
  readonly text: string;
}

export interface Block extends Inline {
  readonly kind: 'heading' | 'paragraph' | 'code' | 'table' | 'list' | 'quote';
  /** Of a heading: 1 to 6; 0 otherwise. */
  readonly level: number;
  /** Of a heading: the name by which links lead to it, where it has one. */
  readonly anchor?: string;
}

/** What a walk over a page knows. */
export interface InlinePage {
  /** Links and images are relative to it. */
  readonly base: string;
  readonly dropped: ReadonlySet<Element>;
}

const silent: ReadonlySet<string> = new Set(['script', 'style', 'template', 'noscript', 'head', 'title']);

export function inlineOf(nodes: readonly ChildNode[], page: InlinePage): Inline {
  const parts = nodes.map(node => pieceOf(node, page));
  return { markdown: parts.map(part => part.markdown).join(''), text: parts.map(part => part.text).join('') };
}

/** Spaces squeezed; breaks of lines that were meant stay. */
export function tidy({ markdown, text }: Inline): Inline {
  return { markdown: lines(markdown).replace(/\n/g, '  \n'), text: lines(text) };
}

function lines(text: string): string {
  return text
    .replace(/[\s\u00a0]+/g, ' ')
    .replace(/ *\u0085 */g, '\n')
    .trim();
}

/** A break that was meant, until spaces are squeezed. */
const BREAK = '\u0085';

function pieceOf(node: ChildNode, page: InlinePage): Inline {
  if (isText(node)) return { markdown: escaped(node.data), text: node.data };
  if (isTag(node) && (node.name === 'math' || isFormula(node)) && !page.dropped.has(node)) return formulaOf(node);
  if (!isTag(node) || silent.has(node.name) || page.dropped.has(node)) return { markdown: '', text: '' };
  if (node.name === 'br') return { markdown: BREAK, text: BREAK };
  if (node.name === 'a' && isSelfLink(node, page)) return { markdown: '', text: '' };
  if (node.name === 'img') return { markdown: imageOf(node, page), text: '' };
  if (code.has(node.name)) return codeOf(node);
  const inner = inlineOf(node.children, page);
  if (node.name === 'a') return linkOf(node, inner, page);
  const mark = marks[node.name];
  // Blocks within a line, as in a cell, stand apart.
  if (!inline.has(node.name)) return { markdown: ` ${inner.markdown} `, text: ` ${inner.text} ` };
  if (levels.has(node.name) && inner.markdown.trim() !== '')
    return { ...inner, markdown: `<${node.name}>${inner.markdown.trim()}</${node.name}>` };
  if (mark === undefined || inner.markdown.trim() === '' || inner.markdown.includes(mark)) return inner;
  return { ...inner, markdown: around(inner.markdown, mark) };
}

/** TeX where the page has it: nothing else says a formula in a line. */
function formulaOf(node: Element): Inline {
  const { name, attribs } = node;
  const note = firstOf(node, each => each.name === 'annotation' && /tex/i.test(each.attribs['encoding'] ?? ''));
  const own = isText(node.children[0] ?? node) ? (node.children[0] as Text).data : '';
  const tex = squeezed(name === 'script' ? own : note ? rawText(note) : (attribs['alttext'] ?? ''));
  if (tex === '') return { markdown: escaped(plainText(node)), text: plainText(node) };
  const sign = /mode=display/.test(attribs['type'] ?? '') || attribs['display'] === 'block' ? '$$' : '$';
  return { markdown: `${sign}${tex}${sign}`, text: tex };
}

/** The sign beside a heading or a term that links to it. */
function isSelfLink(node: Element, { base }: InlinePage): boolean {
  if (!/^\s*(?:[¶§#🔗]\s*)?$/u.test(rawText(node)) || firstOf(node, ({ name }) => name === 'img')) return false;
  const [page, fragment] = (addressOf(node.attribs['href'], base) ?? '').split('#');
  return fragment !== undefined && page === base.split('#')[0];
}

const code: ReadonlySet<string> = new Set(['code', 'kbd', 'samp', 'tt', 'var']);
const marks: Readonly<Record<string, string>> = { b: '**', strong: '**', em: '*', i: '*', del: '~~', s: '~~' };

/** Markdown has no signs for these, and HTML in it is Markdown: 10<sup>6</sup> is not 106. */
const levels: ReadonlySet<string> = new Set(['sup', 'sub']);

function around(text: string, mark: string): string {
  const inner = text.trim();
  const [before, after] = [text.startsWith(inner) ? '' : ' ', text.endsWith(inner) ? '' : ' '];
  return `${before}${mark}${inner}${mark}${after}`;
}

function codeOf(node: Element): Inline {
  const raw = rawText(node);
  const inner = plainText(node);
  if (inner === '') return { markdown: raw === '' ? '' : ' ', text: raw };
  const fence = '`'.repeat(longest(inner) + 1);
  const pad = inner.startsWith('`') || inner.endsWith('`') ? ' ' : '';
  const [before, after] = [/^\s/.test(raw) ? ' ' : '', /\s$/.test(raw) ? ' ' : ''];
  return { markdown: `${before}${fence}${pad}${inner}${pad}${fence}${after}`, text: raw };
}

/** Length of the longest run of backticks. */
export function longest(text: string): number {
  let most = 0;
  for (const [run] of text.matchAll(/`+/g)) most = Math.max(most, run.length);
  return most;
}

function linkOf({ attribs }: Element, inner: Inline, { base }: InlinePage): Inline {
  const href = addressOf(attribs['href'], base);
  const label = inner.markdown.trim();
  if (href === undefined || label === '' || /\]\(/.test(label.replace(/!\[[^\]]*\]\([^)]*\)/g, ''))) return inner;
  return { ...inner, markdown: around(inner.markdown, '').replace(label, () => `[${label}](${href})`) };
}

function imageOf({ attribs }: Element, { base }: InlinePage): string {
  const src = addressOf(attribs['src'] ?? attribs['data-src'], base);
  if (src === undefined || src.startsWith('data:')) return '';
  return `![${escaped(attribs['alt'] ?? '').replace(/\s+/g, ' ')}](${src})`;
}

/** Absolute; undefined = none, or one that acts instead of leading somewhere. */
export function addressOf(given: string | undefined, base: string): string | undefined {
  if (given === undefined || given.trim() === '') return undefined;
  const url = URL.parse(given.trim(), base || undefined);
  const href = url?.href ?? (base === '' ? given.trim() : undefined);
  if (href === undefined || /^\s*(?:javascript|vbscript):/i.test(href)) return undefined;
  return href.replace(/[()\s<>]/g, found => encodeURIComponent(found).replace('(', '%28').replace(')', '%29'));
}

/** Characters that Markdown would take for marks, where they would be taken so. */
export function escaped(text: string): string {
  return text.replace(/[\\`*[\]<|]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\$&');
}
