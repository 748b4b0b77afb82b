/**
 * Text to index terms, the same way for pages and for queries. A term is lower case, stemmed by the page's language,
 * and free of diacritics; it never holds white space or ASCII punctuation, so FTS5's `ascii` tokenizer, which reads
 * the terms joined by blanks, cuts exactly where this file cut.
 *
 * Scripts that write without spaces are cut by ICU's dictionaries. ICU decides by context, so the last word of a run
 * can come out longer in a page than in a query; a query therefore treats it as a beginning (query side, match.ts).
 */
import { signTerms, type TextSigns } from './signs.ts';
import { lowerCase, rulesOf, stemmerFor } from './stems.ts';

/** One term and where it stands in the text it came from. */
interface Word {
  readonly term: string;
  readonly start: number;
  readonly end: number;
}

/** Longer words are cut here: nobody types them, and a hostile page must not fill the index with one. */
const LONGEST = 64;
const UNKNOWN = 255;
const BREAK = 0;
const LETTER = 1;
/** Letter of a script without spaces. */
const DENSE = 2;

const letterPattern = /[\p{L}\p{N}\p{M}]/u;
const densePattern =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]|[ー々〆]/u;
/** Marks that change a letter but not the word: Latin, Greek and Cyrillic accents, Hebrew points, Arabic vowels. */
const accents =
  /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670\u06d6-\u06ed\u0640]/g;
/** Letters that Unicode does not decompose, as readers without that keyboard write them. */
const plain: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ħ: 'h',
  ı: 'i',
  ŋ: 'n',
  ى: 'ي',
  ة: 'ه',
};
const plainPattern = new RegExp(`[${Object.keys(plain).join('')}]`, 'g');

/** Class of every UTF-16 unit, found once and remembered: a table beats the regular expression by a factor of 6. */
const classes = new Uint8Array(65_536).fill(UNKNOWN);

function classOf(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  const known = classes[unit]!;
  if (known !== UNKNOWN) return known;
  // A surrogate's class depends on its partner and is not remembered.
  const surrogate = unit >= 0xd800 && unit <= 0xdfff;
  let character = text.charAt(at);
  if (surrogate) {
    const first = unit >= 0xdc00 ? at - 1 : at;
    const point = first < 0 ? undefined : text.codePointAt(first);
    if (point === undefined || point < 0x10000) return BREAK;
    character = String.fromCodePoint(point);
  }
  const found = densePattern.test(character) ? DENSE : letterPattern.test(character) ? LETTER : BREAK;
  if (!surrogate) classes[unit] = found;
  return found;
}

const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

/** Words to terms, with a table for each language. */
export class TermMaker {
  readonly #tables = new Map<string, TermTable>();
  readonly #notice: ((word: string) => void) | undefined;

  /** `notice` hears of words that it had not met, or not for long. */
  constructor(notice?: (word: string) => void) {
    this.#notice = notice;
  }

  tableOf(language: string): TermTable {
    const rules = rulesOf(language);
    let table = this.#tables.get(rules);
    if (table === undefined) this.#tables.set(rules, (table = new TermTable(rules, this.#notice)));
    return table;
  }
}

const shared = new TermMaker();

/** Slots of a language's first table, a power of two; and of all tables together, about 60 bytes each. */
const FIRST_SLOTS = 1 << 10;
let slotsLeft = 1 << 18;

/**
 * Word → term for one language: a table that two running hashes of the word point into. The words themselves are not
 * kept: 64 bits tell 200,000 of them apart but for one chance in 10^9, and then one is found as the other. Each word has
 * two slots, the newer first, and the table grows while words fall out of it.
 *
 * Most of the cost is memory that is not at hand, so a word touches as little of it as can be: looking up the words of
 * 20,000 pages took 1.75 s, where comparing the strings in place took 4.3.
 */
class TermTable {
  readonly #language: string;
  #slots = FIRST_SLOTS;
  #hashes = new Int32Array(FIRST_SLOTS * 2);
  #terms: (string | undefined)[] = new Array(FIRST_SLOTS).fill(undefined);
  #replaced = 0;
  /** Hashes of the words since `print` was called, in their order. */
  #first = 0;
  #second = 0;
  readonly #notice: ((word: string) => void) | undefined;

  constructor(language: string, notice?: (word: string) => void) {
    this.#language = language;
    this.#notice = notice;
  }

  /** The term of text[start, end). */
  at(text: string, start: number, end: number): string {
    const last = Math.min(end, start + LONGEST);
    let [one, two] = [0, 0];
    for (let at = start; at < last; at++) {
      const unit = text.charCodeAt(at);
      one = Math.imul(one ^ unit, 0x9e3779b1);
      one ^= one >>> 15;
      two = Math.imul(two + unit, 0x85ebca6b) ^ (two >>> 13);
    }
    this.#first = Math.imul(this.#first ^ one, 0x85ebca6b) + two;
    this.#second = Math.imul(this.#second + two, 0x9e3779b1) ^ one;
    const slot = one & (this.#slots - 1);
    if (this.#holds(slot, one, two)) return this.#terms[slot]!;
    if (this.#holds(slot ^ 1, one, two)) return this.#terms[slot ^ 1]!;
    const word = text.slice(start, last);
    const term = detached(makeTerm(word, this.#language));
    this.#keep(one, two, term);
    this.#notice?.(word);
    return term;
  }

  /** 48 bits of all words since it was last called: the same for the same words in the same order. */
  print(): number {
    const print = (this.#first >>> 0) * 65_536 + (this.#second >>> 16);
    this.#first = this.#second = 0;
    return print;
  }

  #holds(slot: number, one: number, two: number): boolean {
    return this.#hashes[2 * slot] === one && this.#hashes[2 * slot + 1] === two && this.#terms[slot] !== undefined;
  }

  #keep(one: number, two: number, term: string): void {
    if (this.#replaced > this.#slots / 4 && slotsLeft >= this.#slots) this.#grow();
    const slot = one & (this.#slots - 1);
    if (this.#terms[slot] !== undefined) {
      if (this.#terms[slot ^ 1] !== undefined) this.#replaced++;
      this.#hashes.copyWithin(2 * (slot ^ 1), 2 * slot, 2 * slot + 2);
      this.#terms[slot ^ 1] = this.#terms[slot];
    }
    this.#hashes[2 * slot] = one;
    this.#hashes[2 * slot + 1] = two;
    this.#terms[slot] = term;
  }

  #grow(): void {
    const [hashes, terms] = [this.#hashes, this.#terms];
    slotsLeft -= this.#slots;
    this.#slots *= 2;
    this.#replaced = 0;
    this.#hashes = new Int32Array(this.#slots * 2);
    this.#terms = new Array(this.#slots).fill(undefined);
    terms.forEach((term, slot) => {
      if (term !== undefined) this.#keep(hashes[2 * slot]!, hashes[2 * slot + 1]!, term);
    });
  }
}

/** A copy that shares nothing: V8's slices of 13 characters and more keep the text alive that they were cut from. */
function detached(word: string): string {
  return word.length < 13 ? word : word.split('').join('');
}

/** Lower case, compatibility forms unified, accents removed. */
function fold(word: string): string {
  const bare = word.normalize('NFKD').replace(accents, '').normalize('NFC');
  return bare.replace(plainPattern, letter => plain[letter]!);
}

const asciiWord = /^[a-z0-9]*$/;
/** ASCII that compatibility forms can leave inside a word (`⑴` becomes `(1)`); FTS5 would cut there. */
const asciiBreaks = /[\0-/:-@[-`{-\x7f\s]+/g;

/** Languages that write other letters: words in Latin ones are mostly English. */
const otherLetters = new Set(['ar', 'bg', 'el', 'hy', 'ko', 'ne', 'ru', 'ta', 'uk']);

/** The mark of a long vowel that Japanese writes at the end of a borrowed word, or not: サーバー, サーバ. */
const drawn = /(?<=^[\u30a1-\u30fc]{3,})\u30fc$/;

function makeTerm(raw: string, language: string): string {
  const lower = lowerCase(raw, language);
  const rules = otherLetters.has(language) && asciiWord.test(lower) ? 'en' : language;
  const stemmed = stemmerFor(rules)?.(lower.normalize('NFC')) ?? lower;
  if (asciiWord.test(stemmed) && stemmed !== '') return stemmed;
  // A lone surrogate would not survive the way through UTF-8.
  return fold(stemmed === '' ? lower : stemmed)
    .replace(drawn, '')
    .toLowerCase()
    .replace(asciiBreaks, '')
    .toWellFormed();
}

/** The term of one word, as the pages of that language hold it. */
export function termOf(raw: string, language: string): string {
  return shared.tableOf(language).at(raw, 0, raw.length);
}

/** The term of the word text[start, end). */
export function termAt(text: string, language: string, start: number, end: number): string {
  return shared.tableOf(language).at(text, start, end);
}

/** Languages whose stemmers cut at the front, too. */
const prefixing = new Set(['id', 'ga']);

/**
 * Which two ASCII letters the wanted terms begin with. Looking up a term is most of the cost of reading text, and a stem
 * keeps the first letters of its word: words that begin otherwise need no look. A letter beyond ASCII may stand for any.
 */
export class Initials {
  /** Of each first letter, the second ones that are wanted, by their place in the alphabet; all bits = any. */
  readonly #seconds = new Int32Array(128);

  constructor(wanted: Iterable<string>) {
    for (const term of wanted) {
      const unit = term.charCodeAt(0);
      if (!(unit < 128)) continue;
      const upper = term.charAt(0).toUpperCase().charCodeAt(0);
      this.#seconds[unit] = this.#seconds[upper] = this.#seconds[unit]! | (term.length < 3 ? ANY : secondBit(term, 1));
    }
  }

  /** False: the word that begins there is none of the wanted terms. */
  may(text: string, start: number, language: string): boolean {
    const unit = text.charCodeAt(start);
    if (unit >= 128 || prefixing.has(language)) return true;
    const seconds = this.#seconds[unit]!;
    return seconds !== 0 && (seconds & secondBit(text, start + 1)) !== 0;
  }
}

const ANY = -1;

/** The bit of an ASCII letter, whatever its case; all bits for anything else. */
function secondBit(text: string, at: number): number {
  const letter = (text.charCodeAt(at) | 32) - 97;
  return letter >= 0 && letter < 26 ? 1 << letter : ANY;
}

type Take = (term: string, start: number, end: number) => void;

/** Calls `take` for every word of the text, in order; with an empty term for those that `initials` rules out. */
export function eachWord(text: string, language: string, take: Take, initials?: Initials): void {
  cut(text, language, shared.tableOf(language), take, initials);
}

type Cut = readonly [
  text: string,
  language: string,
  table: TermTable,
  take: Take,
  initials?: Initials,
  signs?: TextSigns,
];

function cut(...[text, language, table, take, initials, signs]: Cut): void {
  const emit = (start: number, end: number) => {
    if (initials !== undefined && !initials.may(text, start, language)) return take('', start, end);
    const term = table.at(text, start, end);
    if (term !== '') take(term, start, end);
  };
  const length = text.length;
  let at = 0;
  while (at < length) {
    const kind = classOf(text, at);
    if (kind === BREAK) {
      if (signs !== undefined) signs.at(text, at);
      at++;
      continue;
    }
    const start = at;
    do at++;
    while (at < length && classOf(text, at) === kind);
    if (kind === LETTER) emit(start, at);
    else
      for (const { index, segment } of segmenter.segment(text.slice(start, at))) {
        emit(start + index, start + index + segment.length);
      }
  }
}

/** The words of a text with their places. */
export function words(text: string, language: string): Word[] {
  const found: Word[] = [];
  eachWord(text, language, (term, start, end) => found.push({ term, start, end }));
  return found;
}

/** The terms of a text joined by blanks, as FTS5 takes them; `signs` meets those between its words. */
export function terms(text: string, language: string, maker = shared, signs?: TextSigns): string {
  let joined = '';
  const take = (term: string) => {
    joined += joined === '' ? term : ` ${term}`;
  };
  cut(text, language, maker.tableOf(language), take, undefined, signs);
  return joined;
}

/** `StringBuilder` as `String Builder`, `XMLReader` as `XML Reader`; other words as they are. */
export function splitHumps(word: string): string {
  return word.replace(/([a-z\d])([A-Z])/g, '$1 $2').replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2');
}

/** A dictionary has names of two scripts as one word, and cuts some of one script: 東京タワー is also 東京 and タワー. */
const isMixed = /\p{Script=Han}[\u30a1-\u30fc]|[\u30a1-\u30fc]\p{Script=Han}/u;
const ofOneScript = /[\u30a1-\u30fc]+|\p{Script=Han}+/gu;

/**
 * The terms of a title, heading, link text or address: those of its words, and behind them those that a name is made of.
 * `StringBuilder` is also `string builder`, `push_back` (two words already) also `pushback`, and `operator[]` itself.
 */
export function nameTerms(text: string, language: string, maker = shared): string {
  const plain = terms(text, language, maker);
  const more = new Set<string>();
  for (const name of new Set(text.match(/\w*(?:[a-z\d][A-Z]|[A-Z][A-Z][a-z]|[a-zA-Z\d]_[a-zA-Z\d])\w*/g))) {
    if (name.includes('_')) more.add(terms(name.replaceAll('_', ''), language, maker));
    for (const part of name.split('_')) {
      const split = splitHumps(part);
      if (split !== part) more.add(terms(split, language, maker));
    }
  }
  for (const term of signTerms(text)) more.add(term);
  for (const part of isMixed.test(text) ? text.match(ofOneScript)! : [])
    more.add(maker.tableOf(language).at(part, 0, part.length));
  return more.size === 0 ? plain : `${plain} ${[...more].join(' ')}`;
}

/** True when the text ends in a script without spaces. */
export function endsDense(text: string): boolean {
  return text !== '' && classOf(text, text.length - 1) === DENSE;
}
