/**
 * What a long block may be cut into: rows, items, lines of code, sentences. Any of these in their order, with `head` before
 * and `foot` behind them, are Markdown again: a table has its header in each part, code its fence and its language.
 */
import type { Block } from './inline.ts';

export interface BlockPieces {
  readonly head: string;
  /** Each with what stands between it and the next. */
  readonly units: readonly string[];
  readonly foot: string;
}

/** `most`: characters from which an item of a list is cut, too, with its first line before each part. */
export function piecesOf({ kind, markdown }: Block, most: number): BlockPieces[] {
  if (kind === 'code') {
    const lines = linesOf(markdown);
    return [{ head: lines[0]!, units: lines.slice(1, -1), foot: lines.at(-1)! }];
  }
  if (kind === 'table') {
    const lines = linesOf(markdown);
    return [{ head: lines.slice(0, 2).join(''), units: lines.slice(2), foot: '' }];
  }
  if (kind === 'list') return itemsOf(markdown.split(/(?<=\n)(?=\S)/), most);
  if (kind === 'heading' || (kind === 'quote' && holdsCode(markdown))) return [whole(markdown)];
  return [{ ...whole(''), units: markdown.split(kind === 'quote' ? /(?<=\n>\n)/ : SENTENCES) }];
}

const whole = (text: string): BlockPieces => ({ head: '', units: [text], foot: '' });
const linesOf = (text: string): string[] => text.split(/(?<=\n)/);
/** Whose lines look like anything. */
const holdsCode = (markdown: string): boolean => markdown.includes('```');
const SENTENCES = /(?<=[.!?]["')\]]*\s+)(?=\S)|(?<=[。！？])/;

/** Items that are short go together; one that is long stands apart, below the first lines of those that it is in. */
function itemsOf(items: readonly string[], most: number, head = ''): BlockPieces[] {
  const found: BlockPieces[] = [];
  let units: string[] = [];
  const end = () => {
    if (units.length > 0) found.push({ head, units, foot: '' });
    units = [];
  };
  for (const item of items) {
    const inner = item.length > most ? insideOf(item) : undefined;
    if (inner === undefined) {
      units.push(item);
      continue;
    }
    end();
    for (const pieces of itemsOf(inner.units, most, head + inner.head)) found.push(pieces);
  }
  end();
  return found;
}

/** Undefined: an item of one line, or with code in it. */
function insideOf(item: string): BlockPieces | undefined {
  const [head = '', ...rest] = linesOf(item);
  const pad = /^ */.exec(rest.find(line => line.trim() !== '') ?? '')![0];
  if (rest.length < 2 || pad === '' || holdsCode(item)) return undefined;
  return { head, units: rest.join('').split(new RegExp(`(?<=\n)(?=${pad}\\S)`)), foot: '' };
}
