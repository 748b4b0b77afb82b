/** Tables that hold data, as Markdown has them. Those that only lay out a page are none. */
import { type Block, type InlinePage, inlineOf, tidy } from './inline.ts';
import { type Element, elementsOf, everyOf, plainText, rawText } from './tree.ts';

/** Columns and rows a cell may claim to span. */
const MOST_SPAN = 50;

interface Cells {
  readonly rows: readonly (readonly string[])[];
  readonly texts: readonly (readonly string[])[];
  readonly caption: string;
}

/** Undefined: it lays out, or holds what no line can. */
export function tableOf(table: Element, page: InlinePage): Block[] | undefined {
  const rows = rowsOf(table).filter(row => !page.dropped.has(row));
  if (laysOut(table)) return undefined;
  const { rows: lines, texts, caption } = cellsOf(table, rows, page);
  if (lines.length === 0) return [];
  const width = lines.reduce((most, line) => Math.max(most, line.length), 0);
  const line = (cells: readonly string[]) =>
    `| ${Array.from({ length: width }, (_, i) => cells[i] ?? '').join(' | ')} |`;
  const [first = [], ...rest] = hasHeader(rows[0]!) ? lines : [[], ...lines];
  const markdown = [line(first), `|${' --- |'.repeat(width)}`, ...rest.map(line)].join('\n');
  const text = texts.map(cells => cells.join('\t')).join('\n');
  const block: Block = { kind: 'table', level: 0, markdown, text };
  return caption === '' ? [block] : [{ kind: 'paragraph', level: 0, markdown: caption, text: caption }, block];
}

export function rowsOf(table: Element): Element[] {
  return elementsOf(table).flatMap(child =>
    child.name === 'tr' ? [child] : ['tbody', 'thead', 'tfoot'].includes(child.name) ? elementsOf(child) : [],
  );
}

/** Cells of a head, or all of them set apart as such. */
function hasHeader(row: Element): boolean {
  if (row.parent && 'name' in row.parent && row.parent.name === 'thead') return true;
  const said = elementsOf(row).filter(cell => plainText(cell) !== '');
  return said.every(cell => cell.name === 'th' || elementsOf(cell).some(isBold(plainText(cell))));
}

const isBold =
  (text: string) =>
  (element: Element): boolean =>
    ['b', 'strong'].includes(element.name) && plainText(element) === text;

/** Whether it is there for the places of what it holds, as pages were made of tables once. */
export function laysOut(table: Element): boolean {
  if (table.attribs['role'] === 'presentation' || rowsOf(table).every(row => elementsOf(row).length < 2)) return true;
  const inside = everyOf(table, ({ name }) => /^(?:table|h[1-6]|blockquote|ul|ol|dl)$/.test(name));
  const longCode = everyOf(table, element => element.name === 'pre' && rawText(element).trim().includes('\n'));
  const longCells = everyOf(table, ({ name }) => name === 'td').filter(
    cell => everyOf(cell, ({ name }) => name === 'p').length > 2,
  );
  return inside.length > 0 || longCode.length > 0 || longCells.length > 0;
}

export function cellsOf(table: Element, rows: readonly Element[], page: InlinePage): Cells {
  const lines: string[][] = [];
  const texts: string[][] = [];
  /** Cells of rows above that reach down: column → rows left. */
  const below = new Map<number, number>();
  for (const row of rows) {
    const [line, plain]: [string[], string[]] = [[], []];
    const skip = () => {
      for (let left = below.get(line.length); left; left = below.get(line.length)) {
        below.set(line.length, left - 1);
        line.push('');
        plain.push('');
      }
    };
    for (const cell of elementsOf(row)) {
      skip();
      const { markdown, text } = tidy(inlineOf(cell.children, page));
      const [wide, high] = [spanOf(cell, 'colspan'), spanOf(cell, 'rowspan')];
      for (let i = 0; i < wide; i++) {
        if (high > 1) below.set(line.length, high - 1);
        line.push(i === 0 ? markdown.replace(/\s*\n/g, '<br>') : '');
        plain.push(i === 0 ? text.replace(/\s+/g, ' ') : '');
      }
    }
    skip();
    if (plain.some(cell => cell !== '')) {
      lines.push(line);
      texts.push(plain);
    }
  }
  const caption = elementsOf(table).find(({ name }) => name === 'caption');
  return { rows: lines, texts, caption: caption ? tidy(inlineOf(caption.children, page)).markdown : '' };
}

function spanOf({ attribs }: Element, name: string): number {
  return Math.min(MOST_SPAN, Math.max(1, Number.parseInt(attribs[name] ?? '1', 10) || 1));
}
