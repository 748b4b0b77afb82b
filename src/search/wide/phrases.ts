/** The phrases of an FTS5 expression, as match.ts writes them: each is what BM25 sums up over. */

/** A phrase as an expression of its own. */
export type Phrase = string;

const token = /\s*(?:([()])|(AND|OR|NOT)\b|(\{[^}]*\}|[a-z]+)\s*:|(\^)|("[^"]*"(?:\s*\*)?))/y;

/**
 * Those that count for the score of a page that matches: not what pages must lack, and not marks, which weigh nothing. One
 * that stands there twice counts twice.
 */
export function phrasesOf(expression: string): Phrase[] {
  const found: Phrase[] = [];
  read(expression, 0, { columns: '', unwanted: false }, found);
  return found.filter(phrase => !phrase.startsWith('marks : '));
}

interface PhraseContext {
  readonly columns: string;
  readonly unwanted: boolean;
}

/** Reads up to the parenthesis that ends the group, or the end; returns where it stopped. */
function read(expression: string, start: number, around: PhraseContext, found: Phrase[]): number {
  let [at, columns, first, unwanted] = [start, '', false, false];
  for (;;) {
    token.lastIndex = at;
    const parts = token.exec(expression);
    if (!parts) return at;
    at = token.lastIndex;
    const [, bracket, operator, names, caret, phrase] = parts;
    if (bracket === ')') return at;
    if (operator !== undefined) unwanted = operator === 'NOT';
    else if (names !== undefined) columns = names;
    else if (caret !== undefined) first = true;
    else {
      const inside = { columns: columns || around.columns, unwanted: unwanted || around.unwanted };
      if (bracket === '(') at = read(expression, at, inside, found);
      else if (!inside.unwanted) found.push(`${inside.columns && `${inside.columns} : `}${first ? '^ ' : ''}${phrase}`);
      [columns, first] = ['', false];
    }
  }
}
