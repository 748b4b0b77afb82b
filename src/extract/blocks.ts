/** The blocks of a page in its order: headings, paragraphs, code, tables, lists, quotations; as Markdown and as text. */
import { type Block, escaped, type Inline, type InlinePage, inlineOf, longest, tidy } from './inline.ts';
import { anchorOf, isFormula } from './main/hints.ts';
import { tableOf } from './tables.ts';
import {
  type ChildNode,
  type Element,
  elementsOf,
  everyOf,
  firstOf,
  isTag,
  isText,
  type ParentNode,
  plainText,
  rawText,
} from './tree.ts';
import { holdsBlocks, isInline } from './weigh.ts';

export function blocksOf(node: ParentNode, page: InlinePage): Block[] {
  const blocks: Block[] = [];
  let run: ChildNode[] = [];
  const end = () => {
    const found = tidy(inlineOf(run, page));
    run = [];
    if (found.markdown !== '') blocks.push({ kind: 'paragraph', level: 0, ...found });
  };
  for (const child of node.children) {
    if (isText(child) || (isTag(child) && standsInLine(child))) run.push(child);
    else if (isTag(child) && !page.dropped.has(child)) {
      end();
      // One by one: a page may have more than a call takes arguments.
      for (const block of elementBlocks(child, page)) blocks.push(block);
    }
  }
  end();
  return blocks;
}

function standsInLine(element: Element): boolean {
  return isFormula(element) || (isInline(element) && !holdsBlocks(element));
}

function elementBlocks(element: Element, page: InlinePage): Block[] {
  const { name } = element;
  if (/^h[1-6]$/.test(name)) return headingOf(element, page);
  if (name === 'pre' || name === 'listing') return codeOf(element);
  if (name === 'ul' || name === 'ol') return isOutline(element) ? blocksOf(element, page) : listOf(element, page);
  if (name === 'dt') return termOf(element, page);
  if (name === 'blockquote') return quoteOf(element, page);
  if (name === 'svg') return diagramOf(element);
  if (name === 'table') return tableOf(element, page) ?? tableBlocks(element, page);
  return silent.has(name) ? [] : blocksOf(element, page);
}

/** Sections that a generator wrote as items of a list: javadoc has a class's methods so. */
function isOutline(list: Element): boolean {
  return firstOf(list, ({ name }) => /^h[1-6]$/.test(name)) !== undefined;
}

const silent: ReadonlySet<string> = new Set(['script', 'style', 'template', 'noscript', 'head', 'hr', 'iframe']);

/** What is written in a drawing, in its order. */
function diagramOf(element: Element): Block[] {
  const text = everyOf(element, ({ name }) => name === 'text')
    .map(plainText)
    .filter(each => each !== '')
    .join(' ');
  return text === '' ? [] : [{ kind: 'paragraph', level: 0, markdown: escaped(text), text }];
}

/** A table that only lays out: what its cells hold, one after the other. */
function tableBlocks(table: Element, page: InlinePage): Block[] {
  return elementsOf(table).flatMap(child =>
    page.dropped.has(child)
      ? []
      : ['tbody', 'thead', 'tfoot', 'tr'].includes(child.name)
        ? tableBlocks(child, page)
        : blocksOf(child, page),
  );
}

function headingOf(element: Element, page: InlinePage): Block[] {
  const inner = tidy(inlineOf(element.children, page));
  const [markdown, text] = [inner.markdown, inner.text].map(each => each.replace(/\s+/g, ' ').replace(/\s*[¶§#]$/, ''));
  if (text === '' || text === undefined) return [];
  const level = Number(element.name[1]);
  const anchor = anchorOf(element);
  return [{ kind: 'heading', level, markdown: `${'#'.repeat(level)} ${markdown}`, text, ...(anchor && { anchor }) }];
}

function codeOf(element: Element): Block[] {
  const text = codeText(element)
    .replace(/\u00a0/g, ' ')
    .replace(/^\s*\n|\s+$/g, '');
  if (text === '' || isLineNumbers(element, text)) return [];
  const fence = '`'.repeat(Math.max(3, longest(text) + 1));
  return [{ kind: 'code', level: 0, markdown: `${fence}${languageOf(element)}\n${text}\n${fence}`, text }];
}

/** In a cell before the cell with the lines. */
function isLineNumbers({ parent }: Element, text: string): boolean {
  const next = parent && 'name' in parent && parent.name === 'td' ? parent.next : null;
  const beside = next && isText(next) ? next.next : next;
  return (
    /^[\s\d]+$/.test(text) &&
    beside !== null &&
    isTag(beside) &&
    firstOf(beside, ({ name }) => name === 'pre') !== undefined
  );
}

/** As `rawText`, without what is to be pressed; parts that stand apart on screen are lines. */
function codeText(node: ChildNode): string {
  if (!isTag(node) || node.name === 'br') return rawText(node);
  if (node.name === 'button') return '';
  return node.children.reduce((text, child) => {
    const apart = isTag(child) && linesOfCode.has(child.name) && text !== '' && !text.endsWith('\n');
    return `${text}${apart ? '\n' : ''}${codeText(child)}`;
  }, '');
}

const linesOfCode: ReadonlySet<string> = new Set(['code', 'div', 'p', 'li']);

function languageOf(element: Element): string {
  const named = [element, ...everyOf(element, ({ name }) => name === 'code'), element.parent].map(each =>
    each && 'attribs' in each ? (each.attribs['class'] ?? '') : '',
  );
  return (
    named.map(names => /\b(?:language|lang|source|brush:)-?\s*([a-z0-9+#]+)/i.exec(names)?.[1]).find(Boolean) ?? ''
  );
}

function listOf(list: Element, page: InlinePage): Block[] {
  let number = Number.parseInt(list.attribs['start'] ?? '1', 10) || 1;
  const items = elementsOf(list)
    .filter(item => !page.dropped.has(item))
    .map(item => {
      const inner = item.name === 'ul' || item.name === 'ol' ? listOf(item, page) : blocksOf(item, page);
      const marker = list.name === 'ol' ? `${number++}. ` : '- ';
      return inner.length === 0 ? undefined : joined(inner, marker, '\n');
    })
    .filter(item => item !== undefined);
  if (items.length === 0) return [];
  const [markdown, text] = [items.map(item => item.markdown).join('\n'), items.map(item => item.text).join('\n')];
  return [{ kind: 'list', level: 0, markdown, text }];
}

/** Blocks below a marker, indented by it. A nested list follows its line; other blocks stand apart. */
function joined(blocks: readonly Block[], marker: string, between: string): Inline {
  const pad = ' '.repeat(marker.length);
  const markdown = blocks
    .map(({ markdown: each, kind }, i) => (i === 0 ? '' : kind === 'list' ? between : `${between}\n`) + each)
    .join('')
    .replace(/\n(?=[^\n])/g, `\n${pad}`);
  const text = blocks.map(block => block.text).join('\n');
  return { markdown: marker + markdown, text: marker + text.replace(/\n(?=[^\n])/g, `\n${pad}`) };
}

function quoteOf(element: Element, page: InlinePage): Block[] {
  const inner = blocksOf(element, page);
  if (inner.length === 0) return [];
  const markdown = inner
    .map(block => block.markdown)
    .join('\n\n')
    .replace(/^/gm, '> ')
    .replace(/^> $/gm, '>');
  return [{ kind: 'quote', level: 0, markdown, text: inner.map(block => block.text).join('\n') }];
}

/** The term of a definition stands out, unless code inside it does already. */
function termOf(element: Element, page: InlinePage): Block[] {
  const inner = blocksOf(element, page);
  return inner.map(block => {
    const plain = block.kind === 'paragraph' && !/[*`\n]/.test(block.markdown);
    return plain ? { ...block, markdown: `**${block.markdown}**` } : block;
  });
}
