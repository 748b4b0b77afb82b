/**
 * The plain words of a query, and all that a page may have in their place. A word is itself in the languages that the
 * pages are in; `StringBuilder` is `string builder` and the other way round; the last word may be typed only half; and
 * words that stand together in the query count more where they stand together in the page.
 *
 * What may stand for a word is an alternative to it: a page needs one of them. What the words are together (the phrase,
 * the name with its signs) is one more alternative of the first of them, which no page needs, and which weighs what BM25
 * makes of it where a page has it.
 */
import { isAsking, isSmall } from '../terms/language.ts';
import { isCall, signTerms } from '../terms/signs.ts';
import { NO_RULES } from '../terms/stems.ts';
import { isListed, type WordList } from '../terms/word-list.ts';
import { eachWord, endsDense, splitHumps, termOf, words } from '../terms/words.ts';
import type { WordsQuery } from './query.ts';

/** One word as it was typed. */
export interface AskedWord {
  readonly text: string;
  /** It says nothing by itself, and others do: it is not looked for. */
  readonly small: boolean;
}

export interface LooseWord {
  /** As it was typed; empty = it is only a beginning, or a sign. */
  readonly text: string;
  readonly match: string;
  /** What the text of a page may have of it: terms, and what terms begin with. */
  readonly terms: readonly string[];
  readonly beginnings: readonly string[];
}

/** What must be known of the index to ask well. */
export interface Vocabulary {
  /** Rules of the languages that a good part of the pages is in, and of the others. */
  readonly languages: readonly string[];
  readonly others: readonly string[];
  /** The language of most pages; empty or absent = there is none. */
  readonly main?: string;
  /** Whether some page has this term; whether some page has had this word. */
  has(term: string): boolean;
  readonly words: Pick<WordList, 'has' | 'longer' | 'isShort'>;
  /** The last word may be one that is not typed to its end. */
  readonly typing: boolean;
  /** What words may be meant to be that hardly a page has. */
  readonly meant?: ReadonlyMap<string, string>;
}

/** What the plain words of a query become. */
interface AskedWords {
  readonly words: readonly AskedWord[];
  readonly loose: readonly LooseWord[];
  readonly terms: ReadonlySet<string>;
  readonly beginnings: readonly string[];
  /** Names with their signs that some page has; not those with the parentheses of a call alone. */
  readonly signs: readonly string[];
}

/** Telling words that a query must have for its small ones not to be looked for, unless it is a question. */
const ENOUGH = 2;
/** Words that may be one name, and its letters. */
const MOST_JOINED = 5;
const LONGEST_JOINED = 48;
/** Words of a phrase that is looked for though nobody put it in quotation marks. */
const LONGEST_PHRASE = 8;
/** Letters from which the last word is taken for the beginning of one. */
const BEGINNING = 2;
const LONG_ENOUGH = 4;

/** Where words weigh most. */
export const HEAD = '{title headings anchors address} : ';

export const quote = (terms: readonly string[]) => `"${terms.join(' ').replaceAll('"', '')}"`;
export const either = (parts: readonly string[]) => (parts.length === 1 ? parts[0]! : `(${parts.join(' OR ')})`);

/** Letters of a beginning that its stem may lack. */
const LONGEST_ENDING = 3;
/** Endings tried on a beginning: the stem of `computing` is shorter than `computi*`, yet must be found. */
const endings = [
  '',
  'e',
  's',
  'es',
  'd',
  'ed',
  'g',
  'ng',
  'ing',
  'n',
  'on',
  'ion',
  'tion',
  'ation',
  'y',
  'ly',
  'en',
  'er',
  'ung',
  'ment',
];

interface Atom {
  readonly text: string;
  readonly leaf: number;
  /** Nothing but the beginning of a word: typed so, or the end of a run without spaces. */
  readonly beginning: boolean;
  readonly small: boolean;
  readonly alternatives: Set<string>;
  readonly terms: Set<string>;
  readonly beginnings: Set<string>;
}

export function ask(leaves: readonly WordsQuery[], vocabulary: Vocabulary): AskedWords {
  return new WordAsking(leaves, vocabulary).asked();
}

class WordAsking {
  readonly #vocabulary: Vocabulary;
  readonly #leaves: readonly WordsQuery[];
  readonly #atoms: Atom[];
  readonly #terms = new Set<string>();
  readonly #beginnings: string[] = [];
  readonly #known = new Set<string>();

  constructor(leaves: readonly WordsQuery[], vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
    this.#leaves = leaves;
    const atoms = leaves.flatMap((leaf, at) => atomsOf(leaf, at));
    const { languages } = vocabulary;
    const language = languages.length === 1 ? languages[0]! || 'en' : 'en';
    const asking = isAsking(atoms[0]?.text ?? '', language);
    // The parts of a name are no small words: `std::vector::at`, `List.of`.
    const alone = (atom: Atom) => atoms.filter(({ leaf }) => leaf === atom.leaf).length === 1;
    const says = (atom: Atom) =>
      !atom.small && (atom.beginning || !alone(atom) || !isSmall(atom.text, language, asking));
    const least = asking || atoms.some(({ small }) => small) ? 1 : ENOUGH;
    const enough = atoms.filter(says).length >= least;
    this.#atoms = atoms.map(atom => ({ ...atom, small: enough && !says(atom) }));
  }

  asked(): AskedWords {
    const telling = this.#atoms.filter(atom => !atom.small);
    for (const atom of telling) this.#itself(atom);
    this.#joined();
    this.#cutShort();
    const last = this.#atoms.at(-1);
    const unfinished = last && this.#vocabulary.typing && !last.small && this.#unfinished(last) ? last : undefined;
    const bonus = this.#together(unfinished);
    if (telling[0]) for (const one of bonus) telling[0].alternatives.add(one);
    this.#signed(telling);
    const loose = telling.map(({ text, beginning, alternatives, terms, beginnings }) => ({
      text: beginning ? '' : text,
      match: either([...alternatives]),
      terms: [...terms],
      beginnings: [...beginnings],
    }));
    return {
      words: this.#atoms.map(({ text, small }) => ({ text: this.#meant(text), small })),
      loose: [...loose, ...this.#signs()],
      terms: this.#terms,
      beginnings: this.#beginnings,
      signs: [...this.#known],
    };
  }

  #meant(text: string): string {
    return this.#vocabulary.meant?.get(text) ?? text;
  }

  /** The word in each language, and its humps apart. */
  #itself(atom: Atom): void {
    const { text, beginning } = atom;
    if (beginning) this.#begins(text, atom, () => true);
    else
      for (const word of new Set([text, this.#meant(text)]))
        for (const language of languagesFor(word, this.#vocabulary)) this.#takes(termsOf(word, language), atom);
    const split = splitHumps(text);
    if (split !== text) this.#takes(termsOf(split, this.#vocabulary.languages[0]!), atom);
  }

  /** Neighbours that are one name in some page. */
  #joined(): void {
    for (let from = 0; from < this.#atoms.length; from++) {
      let name = this.#atoms[from]!.text;
      for (let to = from + 1; to < Math.min(this.#atoms.length, from + MOST_JOINED); to++) {
        name += this.#atoms[to]!.text;
        if (name.length > LONGEST_JOINED) break;
        const run = this.#atoms.slice(from, to + 1);
        if (isListed(name) && !this.#vocabulary.words.has(name)) continue;
        for (const term of new Set(this.#vocabulary.languages.map(language => termOf(name, language))))
          if (isListed(name) || this.#vocabulary.has(term)) for (const atom of run) this.#takes([term], atom);
      }
    }
  }

  /** Half a word of a script without spaces is cut where the whole one is not: `東京タ` in two, `東京タワー` nowhere. */
  #cutShort(): void {
    this.#leaves.forEach(({ text }, leaf) => {
      if (!endsDense(text)) return;
      const run = this.#atoms.filter(atom => atom.leaf === leaf).slice(-MOST_JOINED);
      for (let from = 0; from < run.length - 1; from++) {
        const word = run.slice(from);
        const term = termOf(word.map(atom => atom.text).join(''), NO_RULES);
        for (const { alternatives, beginnings } of word) {
          alternatives.add(`${quote([term])} *`);
          beginnings.add(term);
        }
        this.#beginnings.push(term);
      }
    });
  }

  /** Returns whether it may be the beginning of a longer word. */
  #unfinished(atom: Atom): boolean {
    const { text, leaf, beginning } = atom;
    if (beginning) return false;
    const named = this.#beginsName(leaf);
    if (text.length < BEGINNING) return this.#beginsPart(atom) || named;
    const { words, languages } = this.#vocabulary;
    const longer = words.longer(text);
    const forms = new Set(languages.map(language => termOf(text, language)));
    // Where all that go on are forms of the word itself, it is whole.
    if (!words.isShort(longer) && longer.every(word => languages.some(language => forms.has(termOf(word, language)))))
      return false;
    this.#begins(text, atom, word => !isListed(word) || words.has(word));
    return true;
  }

  /** `unordered_m`, as `unordered_map` is kept without its underscores: one letter of the last part is enough. */
  #beginsName(leaf: number): boolean {
    const name = /\w*_\w*$/.exec(this.#leaves[leaf]!.text)?.[0] ?? '';
    const parts = new Set(name.split('_'));
    const term = termOf(name.replaceAll('_', ''), NO_RULES);
    if (parts.size < 2 || term.length < LONG_ENOUGH) return false;
    for (const atom of this.#atoms)
      if (atom.leaf === leaf && parts.has(atom.text)) {
        atom.alternatives.add(`${quote([term])} *`);
        atom.beginnings.add(term);
      }
    this.#beginnings.push(term);
    return true;
  }

  /** `std::priority_queue::t`: one letter is enough behind the rest of a name, where names stand. */
  #beginsPart({ text, leaf, alternatives }: Atom): boolean {
    const before = this.#atoms.filter(atom => atom.leaf === leaf).at(-2);
    if (before === undefined || !/(?:\w\.|::|#|->)\w$/.test(this.#leaves[leaf]!.text)) return false;
    const { languages } = this.#vocabulary;
    for (const language of languages)
      alternatives.add(`${HEAD}(${quote([termOf(before.text, language), termOf(text, NO_RULES)])} *)`);
    return true;
  }

  /** The words of one leaf, and all of them, as phrases; names with their signs. A phrase may go on in its last word. */
  #together(unfinished: Atom | undefined): Set<string> {
    const runs = this.#leaves.map((_, leaf) => this.#atoms.filter(atom => atom.leaf === leaf));
    const phrases = [...runs, this.#atoms].filter(run => run.length > 1 && run.length <= LONGEST_PHRASE);
    const made = new Set<string>();
    for (const run of phrases)
      for (const language of languagesFor(run.map(({ text }) => text).join(''), this.#vocabulary)) {
        const terms = run.map(({ text }) => termOf(text, language));
        const last = run.at(-1)!;
        made.add(quote(terms) + (last.beginning ? ' *' : ''));
        if (last === unfinished) made.add(`${quote(terms.with(-1, termOf(last.text, NO_RULES)))} *`);
      }
    return made;
  }

  /** A name with its signs is an alternative of its own first word: `c++` must not stand for the others of a query. */
  #signed(telling: readonly Atom[]): void {
    this.#leaves.forEach(({ text }, leaf) => {
      const first = telling.find(atom => atom.leaf === leaf);
      if (first)
        for (const term of signTerms(text))
          if (this.#vocabulary.has(term)) {
            first.alternatives.add(quote([term]));
            if (!isCall(term)) this.#known.add(term);
          }
    });
  }

  /** Leaves of signs alone. */
  #signs(): LooseWord[] {
    return this.#leaves
      .filter((_, leaf) => !this.#atoms.some(atom => atom.leaf === leaf))
      .flatMap(({ text }) =>
        signTerms(text).map(term => ({ text: '', match: quote([term]), terms: [], beginnings: [] })),
      );
  }

  #takes(terms: readonly string[], atom: Atom): void {
    if (terms.length === 0) return;
    atom.alternatives.add(quote(terms));
    for (const term of terms) {
      this.#terms.add(term);
      atom.terms.add(term);
    }
  }

  /** `may`: what the word may be completed to, as far as only its stem would be found. */
  #begins(text: string, atom: Atom, may: (word: string) => boolean): void {
    const term = termOf(text, NO_RULES);
    atom.alternatives.add(`${quote([term])} *`);
    atom.beginnings.add(term);
    if (!this.#beginnings.includes(term)) this.#beginnings.push(term);
    for (const language of this.#vocabulary.languages)
      for (const stem of stemsOf(text, language, may)) this.#takes([stem], atom);
  }
}

/** Letters beyond ASCII may be of a language that few pages are in. */
export function languagesFor(
  text: string,
  { languages, others }: Pick<Vocabulary, 'languages' | 'others'>,
): readonly string[] {
  return /^[\0-\x7f]*$/.test(text) ? languages : [...languages, ...others];
}

/** A word in the forms that it has in these languages. */
export function formsOf(word: string, spoken: Pick<Vocabulary, 'languages' | 'others'>): string {
  return either([...new Set(languagesFor(word, spoken).map(language => quote([termOf(word, language)])))]);
}

const termsOf = (text: string, language: string) => words(text, language).map(word => word.term);

function atomsOf({ text, beginning }: WordsQuery, leaf: number): Atom[] {
  const found: Atom[] = [];
  eachWord(text, NO_RULES, (_, start, end) => {
    // What stands for a type: `std::vector<T>::at`; and what stands before every header: `#include <vector>`.
    const small = (end - start === 1 && /\w<[^<>]*$/.test(text.slice(0, start))) || text === '#include';
    const sets = { alternatives: new Set<string>(), terms: new Set<string>(), beginnings: new Set<string>() };
    found.push({ text: text.slice(start, end), leaf, beginning: false, small, ...sets });
  });
  const last = found.at(-1);
  if (last && (beginning || endsDense(text))) found[found.length - 1] = { ...last, beginning: true };
  return found;
}

/** Stems, shorter than the beginning itself, of the words that it may be completed to. */
function stemsOf(beginning: string, language: string, may: (word: string) => boolean): Set<string> {
  const whole = termOf(beginning, NO_RULES);
  const stems = new Set<string>();
  for (const ending of endings) {
    const word = beginning + ending;
    const stem = termOf(word, language);
    if (
      stem.length > 2 &&
      stem.length < whole.length &&
      stem.length >= whole.length - LONGEST_ENDING &&
      whole.startsWith(stem) &&
      may(word)
    )
      stems.add(stem);
  }
  return stems;
}
