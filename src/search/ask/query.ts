/**
 * The query language: text that a person typed becomes a tree. Words must all occur; OR, NOT (or -), parentheses,
 * "phrases", beginnings (comp*), and the filters site: type: lang: changed: title: url: refine.
 *
 * Never talks to the database, and never lets text through that could mean something to it: the tree holds plain
 * words, and match.ts writes the only FTS5 expressions. What cannot be understood is refused with one sentence.
 */
import { DAY, HOUR } from '../../base/clock.ts';
import { SkeinError } from '../../base/errors.ts';
import { signTerms } from '../terms/signs.ts';
import { primaryLanguage } from '../terms/stems.ts';

export type Query =
  | { readonly kind: 'all'; readonly parts: readonly Query[] }
  | { readonly kind: 'any'; readonly parts: readonly Query[] }
  | { readonly kind: 'not'; readonly part: Query }
  | WordsQuery
  | { readonly kind: 'site'; readonly host: string; readonly path: string }
  | { readonly kind: 'type'; readonly name: string }
  | { readonly kind: 'language'; readonly tag: string }
  | ChangedQuery;

export interface WordsQuery {
  readonly kind: 'words';
  readonly text: string;
  readonly column?: 'title' | 'address';
  readonly phrase: boolean;
  /** The last word is only the beginning of one. */
  readonly beginning: boolean;
}

export interface ChangedQuery {
  readonly kind: 'changed';
  /** True: changed less than `age` ago. */
  readonly within: boolean;
  /** Milliseconds. */
  readonly age: number;
}

const LONGEST_QUERY = 1000;
const MOST_PARTS = 64;
const DEEPEST = 16;

const units: Readonly<Record<string, number>> = { h: HOUR, d: DAY, w: 7 * DAY, m: 30 * DAY, y: 365 * DAY };

type QueryToken =
  | { readonly kind: 'open' | 'close' | 'and' | 'or' | 'not' }
  | { readonly kind: 'leaf'; readonly field: string; readonly text: string; readonly quoted: boolean };

const fields = new Set(['site', 'type', 'lang', 'changed', 'title', 'url']);
const signs: Readonly<Record<string, 'open' | 'close' | 'or'>> = { '(': 'open', ')': 'close', '|': 'or' };
const keywords: Readonly<Record<string, 'and' | 'or' | 'not'>> = { AND: 'and', OR: 'or', NOT: 'not' };
const quotes = '"“”„«»';
/** What a minus sign leaves out begins so; before other signs it is one of them, as in `->`. */
const leftOut = /[\p{L}\p{N}("“”„«»_.#@$'/]/u;

/** Nothing but one name behind a minus sign: without it nothing is asked for, so it is the option of a program. */
const option = /^\s*-[\p{L}\p{N}][\p{L}\p{N}_=-]*\s*$/u;

function refuse(sentence: string): never {
  throw new SkeinError('bad-query', sentence);
}

/** The end of the word that starts at `from`: white space, a quote, or a sign that groups ends it. */
function endOfWord(text: string, from: number): number {
  let at = from;
  while (at < text.length && !/\s/.test(text[at]!) && !quotes.includes(text[at]!)) {
    if (/[()|]/.test(text[at]!)) {
      const end = endOfSigns(text, from, at);
      if (end === at) break;
      at = end;
    } else at++;
  }
  return at;
}

/**
 * Where a parenthesis or a stroke at `at` is part of a name, the end of that part; else `at`. It is in `jest.fn()`,
 * `operator==(std::bitset)` and `operator||`: it follows a word at once, and has no white space in it.
 */
function endOfSigns(text: string, from: number, at: number): number {
  if (at === from || Object.hasOwn(keywords, text.slice(from, at))) return at;
  if (text[at] === '|') {
    const end = at + /^[|=]+/.exec(text.slice(at))![0].length;
    return /^[\s()]|^$/.test(text.slice(end, end + 1)) ? end : at;
  }
  if (text[at] === ')') return at;
  const closed = /^\([^\s()]*\)/.exec(text.slice(at));
  return closed ? at + closed[0].length : at;
}

/** A quotation mark that nobody closed is closed by the end of the query. */
function endOfPhrase(text: string, from: number): number {
  let at = from;
  while (at < text.length && !quotes.includes(text[at]!)) at++;
  return at;
}

/** Reads one word or `field:value` or `field:"value"` at `from`. */
function readLeaf(text: string, from: number): { readonly token: QueryToken; readonly next: number } {
  const end = endOfWord(text, from);
  const word = text.slice(from, end);
  const keyword = Object.hasOwn(keywords, word) ? keywords[word] : undefined;
  if (keyword !== undefined) return { token: { kind: keyword }, next: end };
  const colon = word.indexOf(':');
  const field = colon > 0 ? word.slice(0, colon).toLowerCase() : '';
  if (!fields.has(field)) return { token: { kind: 'leaf', field: '', text: word, quoted: false }, next: end };
  const value = word.slice(colon + 1);
  if (value !== '' || end >= text.length || !quotes.includes(text[end]!)) {
    return { token: { kind: 'leaf', field, text: value, quoted: false }, next: end };
  }
  const close = endOfPhrase(text, end + 1);
  return { token: { kind: 'leaf', field, text: text.slice(end + 1, close), quoted: true }, next: close + 1 };
}

function tokensOf(text: string): QueryToken[] {
  const tokens: QueryToken[] = [];
  let at = 0;
  while (at < text.length) {
    const character = text[at]!;
    const sign = Object.hasOwn(signs, character) ? signs[character] : undefined;
    if (/\s/.test(character)) at++;
    else if (sign !== undefined) {
      tokens.push({ kind: sign });
      at++;
    } else if (quotes.includes(character)) {
      const close = endOfPhrase(text, at + 1);
      tokens.push({ kind: 'leaf', field: '', text: text.slice(at + 1, close), quoted: true });
      at = close + 1;
    } else if (character === '-' && leftOut.test(text[at + 1] ?? ' ') && !option.test(text)) {
      tokens.push({ kind: 'not' });
      at++;
    } else {
      const { token, next } = readLeaf(text, at);
      tokens.push(token);
      at = next;
    }
    if (tokens.length > MOST_PARTS) refuse(`The query has more than ${MOST_PARTS} parts.`);
  }
  return tokens;
}

function wordsLeaf(text: string, quoted: boolean, column?: 'title' | 'address'): Query | undefined {
  const beginning = !quoted && /[\p{L}\p{N}][^*]*\*$/u.test(text) && !/(?:^|\W)operator\*$/.test(text);
  const bare = beginning ? text.slice(0, -1) : text;
  // Only punctuation: nothing to look for, unless it is a name (`->>`, `<=>`).
  if (!/[\p{L}\p{N}]/u.test(bare) && (quoted || signTerms(bare).length === 0)) return undefined;
  if (beginning && !/[\p{L}\p{N}].*[\p{L}\p{N}]|[^\x00-\u02ff]/u.test(bare)) {
    refuse(`“${text}” is too short: a prefix needs at least two letters.`);
  }
  return { kind: 'words', text: bare, phrase: quoted, beginning, ...(column === undefined ? {} : { column }) };
}

function siteLeaf(value: string): Query {
  const bare = value.replace(/^https?:\/\//i, '').replace(/^\*?\./, '');
  const url = URL.parse(`http://${bare}`);
  if (url === null || url.hostname === '' || url.username !== '' || /^[^/]*@/.test(bare)) {
    refuse(`“site:${value}” is not a site; write a host, as in “site:example.org”.`);
  }
  let path = url.pathname;
  try {
    path = decodeURIComponent(path);
  } catch {
    // not UTF-8 behind the percent signs: its letters are looked for as they stand
  }
  return { kind: 'site', host: url.host, path: path === '/' ? '' : path };
}

function changedLeaf(value: string): Query {
  const match = /^([<>]?)(\d{1,5})([hdwmy])$/i.exec(value);
  const unit = units[match?.[3]?.toLowerCase() ?? ''];
  if (match === null || unit === undefined) {
    refuse(`“changed:${value}” is not a time span; write “changed:<7d” or “changed:>2w” (h, d, w, m, y).`);
  }
  return { kind: 'changed', within: match[1] !== '>', age: Number(match[2]) * unit };
}

function leaf(token: QueryToken & { kind: 'leaf' }): Query | undefined {
  const { field, text, quoted } = token;
  if (field !== '' && text.trim() === '') refuse(`“${field}:” needs a value right after the colon.`);
  switch (field) {
    case 'site':
      return siteLeaf(text);
    case 'changed':
      return changedLeaf(text);
    case 'type':
      if (!/^[\w.+-]+(\/[\w.+*-]+)?$/.test(text))
        refuse(`“type:${text}” is not a media type; write “type:html” or “type:text/html”.`);
      return { kind: 'type', name: text.toLowerCase() };
    case 'lang': {
      const tag = primaryLanguage(text);
      if (tag === '') refuse(`“lang:${text}” is not a language; write its code, as in “lang:de”.`);
      return { kind: 'language', tag };
    }
    case 'title':
    case 'url':
      return wordsLeaf(text, quoted, field === 'url' ? 'address' : 'title');
    default:
      return wordsLeaf(text, quoted);
  }
}

/** Recursive descent over the tokens: any := all (OR all)*, all := one+, one := NOT one | ( any ) | leaf. */
class Parser {
  readonly #tokens: readonly QueryToken[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly QueryToken[]) {
    this.#tokens = tokens;
  }

  parse(): Query | undefined {
    const query = this.#any();
    if (this.#at < this.#tokens.length) refuse('A closing parenthesis has no opening one.');
    return query;
  }

  #any(): Query | undefined {
    const parts: Query[] = [];
    for (;;) {
      const before = this.#at;
      const part = this.#all();
      if (before === this.#at) {
        // Nothing here: a stray parenthesis or an empty query is the caller's to name, the rest is an OR's fault.
        if (parts.length === 0 && this.#tokens[this.#at]?.kind !== 'or') return undefined;
        refuse('OR needs a term on both sides.');
      }
      if (part !== undefined) parts.push(part);
      if (this.#tokens[this.#at]?.kind !== 'or') break;
      this.#at++;
    }
    return parts.length > 1 ? { kind: 'any', parts } : parts[0];
  }

  #all(): Query | undefined {
    const parts: Query[] = [];
    const first = this.#at;
    for (;;) {
      const token = this.#tokens[this.#at];
      if (token === undefined || token.kind === 'close' || token.kind === 'or') break;
      if (token.kind === 'and') {
        const next = this.#tokens[this.#at + 1]?.kind;
        if (this.#at++ === first || next === undefined || next === 'close' || next === 'or' || next === 'and') {
          refuse('AND needs a term on both sides.');
        }
        continue;
      }
      const part = this.#one();
      if (part !== undefined) parts.push(part);
    }
    return parts.length > 1 ? { kind: 'all', parts } : parts[0];
  }

  #one(): Query | undefined {
    const token = this.#tokens[this.#at++];
    if (token === undefined || token.kind === 'close' || token.kind === 'and' || token.kind === 'or') {
      refuse('NOT needs a term right after it.');
    }
    if (token.kind === 'leaf') return leaf(token);
    if (++this.#depth > DEEPEST) refuse(`The query is nested more than ${DEEPEST} levels deep.`);
    const inner = token.kind === 'not' ? this.#one() : this.#group();
    this.#depth--;
    if (token.kind === 'open' || inner === undefined) return inner;
    return inner.kind === 'not' ? inner.part : { kind: 'not', part: inner };
  }

  #group(): Query | undefined {
    if (this.#tokens[this.#at]?.kind === 'close') refuse('The parentheses are empty.');
    const inner = this.#any();
    if (this.#tokens[this.#at]?.kind !== 'close') refuse('An opening parenthesis is not closed.');
    this.#at++;
    return inner;
  }
}

/** The tree of a query. Throws `bad-query` with a sentence for the person who typed it. */
export function parseQuery(text: string): Query {
  if (text.length > LONGEST_QUERY) refuse(`The query is longer than ${LONGEST_QUERY} characters.`);
  const query = new Parser(tokensOf(text.normalize('NFC').toWellFormed())).parse();
  if (query === undefined) refuse('This query has no search term.');
  return query;
}

/** Whether the query ends in a plain word, which may be one that is not typed to its end. */
export function mayGoOn(query: Query): boolean {
  const last = query.kind === 'all' ? query.parts.at(-1) : query;
  return last?.kind === 'words' && !last.phrase && !last.beginning && last.column === undefined;
}
