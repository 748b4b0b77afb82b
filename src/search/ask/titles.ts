/**
 * How well a page's name answers a query: its title, and the end of its address. BM25 knows no order and no "that is all
 * the title says". Names are compared letter by letter with nothing between the words, so that `string builder`,
 * `StringBuilder` and `string_builder` are one.
 *
 * What most titles of a server share (`– Example Docs`, `(Java SE 17)`) says nothing about a page, and is left out.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { tableOf } from '../shelves.ts';
import { signTerms } from '../terms/signs.ts';
import { eachWord, splitHumps } from '../terms/words.ts';
import { type QueryPlan, siteMark } from './match.ts';

/** Titles of a server that are looked at, how many there must be, and the share of them that makes a word common. */
const SAMPLED = 64;
const LEAST = 8;
const COMMON = 0.6;
/** Servers remembered, and milliseconds for which they are; and those that one query may look at anew, a tenth of one each. */
const SERVERS = 20_000;
const ANEW = 16;
const LIFE = 10 * 60_000;

const none: ReadonlySet<string> = new Set();

/** The words that most titles of a server have. */
export class SharedWords {
  readonly #database: DatabaseSync;
  #statement: StatementSync | undefined;
  #left = ANEW;
  readonly #servers = new Map<string, { readonly words: ReadonlySet<string>; readonly time: number }>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** A query begins. */
  begin(): void {
    this.#left = ANEW;
  }

  of(host: string): ReadonlySet<string> {
    const kept = this.#servers.get(host);
    if (kept && performance.now() - kept.time < LIFE) return kept.words;
    // Results of many servers: the others are looked at by later queries.
    if (this.#left-- <= 0) return kept?.words ?? none;
    if (this.#servers.size >= SERVERS) this.#servers.clear();
    const words = this.#read(host);
    this.#servers.set(host, { words, time: performance.now() });
    return words;
  }

  #read(host: string): Set<string> {
    const table = tableOf(0);
    this.#statement ??= this.#database.prepare(
      `SELECT title FROM pages WHERE id IN (SELECT rowid FROM ${table} WHERE ${table} MATCH ? LIMIT ${SAMPLED})`,
    );
    const titles = this.#statement.all(`marks : "${siteMark(host)}"`).map(row => String(row['title']));
    const counts = new Map<string, number>();
    for (const title of titles)
      for (const word of new Set(nameAtoms(title))) counts.set(word, (counts.get(word) ?? 0) + 1);
    const least = Math.max(LEAST, titles.length * COMMON);
    return new Set([...counts].filter(([, count]) => count >= least).map(([word]) => word));
  }
}

/** The words of a name, humps apart, in lower case without accents but with their endings. */
export function nameAtoms(text: string): string[] {
  const found: string[] = [];
  eachWord(splitHumps(text.slice(0, 300)), 'zxx', term => found.push(term));
  return found;
}

interface SiteTitle {
  readonly title: string;
  readonly language: string;
  readonly url: string;
}

/**
 * What a title adds to the factor: that its words are asked for and few others, that it has the words in their order,
 * that it is the query, that it has all words, that it has a name with its signs (`operator[]`), that
 * it is the first part of a name like `HashMap.get`, and in the same letters; that it begins with the query; that it has
 * small words of a question, too (`when should I use`: *Appropriate uses*); and that the address ends in the query.
 */
const worth = {
  share: 1.5,
  order: 1,
  exact: 3,
  all: 1.5,
  signs: 2,
  owner: 1.5,
  written: 3,
  starts: 0.5,
  small: 0.5,
  address: 1,
} as const;

/** What no title has. */
const NEVER = '\u0000';
/** What a title keeps of its worth that has the words of `Thread.sleep`, but no `Thread`. */
const MISWRITTEN = 0.5;
/** And one that has the letters of `__init__`, but not its signs, where some page has them. */
const UNSIGNED = 0.2;

/** What the first part of a title is worth beside the whole of it. */
const FIRST_PART = 0.8;

/** Letters with which two words begin, at least, that are the same but for their endings. */
const ALIKE = 3;

export class TitleJudge {
  readonly #asked: readonly string[];
  readonly #telling: ReadonlySet<string>;
  readonly #small: readonly string[];
  readonly #joined: string;
  readonly #shared: SharedWords;
  readonly #open: boolean;
  readonly #signs: readonly string[];
  /** The query is one name with signs, which some page has. */
  readonly #unsigned: boolean;
  /** What a name of several parts says first, and how it is written where that tells something. */
  readonly #owners: ReadonlyMap<string, string>;
  readonly #written: readonly string[];
  /** Beginnings of which a name has one, at least, if it answers the query. */
  readonly #beginnings: readonly string[];

  constructor({ words, names, highlights, signed }: QueryPlan, shared: SharedWords) {
    const about = withoutScope(words);
    this.#asked = about.flatMap(({ text }) => nameAtoms(text));
    this.#telling = new Set(about.filter(({ small }) => !small).flatMap(({ text }) => nameAtoms(text)));
    this.#small = words.filter(({ small }) => small).flatMap(({ text }) => nameAtoms(text));
    this.#joined = this.#asked.join('');
    this.#shared = shared;
    shared.begin();
    this.#open = highlights.beginnings.length > 0;
    this.#signs = names.flatMap(signTerms);
    this.#unsigned = signed !== '' && names.length === 1 && nameAtoms(names[0]!).join('') === this.#joined;
    this.#owners = new Map(
      names.flatMap(name => {
        const [, owner = '', sign] = /^(.*)([.#]|::)\w+(?:\(\))?$/.exec(name) ?? [];
        // With a point, the case of letters tells a class from a word: `Thread.sleep`.
        return owner === ''
          ? []
          : [[nameAtoms(owner).join(''), sign !== '::' && /[A-Z]/.test(owner) ? owner : NEVER] as const];
      }),
    );
    this.#written = [...this.#owners.values()].filter(name => name !== NEVER);
    const begun = [...this.#telling, ...(this.#open ? this.#asked.slice(-1) : [])];
    this.#beginnings = [...new Set(begun.map(word => word.slice(0, ALIKE)))];
  }

  /** False: neither the title nor the address has anything of the query. Most have not, and are not read word by word. */
  #mayAnswer(name: string): boolean {
    if (this.#signs.length > 0 || !/^[\0-$&-\x7f]*$/.test(name)) return true; // also what is written with percent signs
    const letters = name.toLowerCase().replace(/[^a-z\d]+/g, '');
    return this.#beginnings.some(beginning => letters.includes(beginning));
  }

  /** How much better a page answers for its name: a factor from 1 on, and the share of the telling words it has. */
  judge({ title, url }: SiteTitle): { readonly factor: number; readonly all: number } {
    if (this.#telling.size === 0 || !(this.#mayAnswer(title) || this.#mayAnswer(url))) return { factor: 1, all: 0 };
    const { host, pathname } = URL.parse(url) ?? { host: '', pathname: '' };
    const shared = this.#shared.of(host);
    const whole = this.#judgeName(title, shared);
    const first = firstPart(title);
    const { worthy, all } = whole;
    // `json — JSON encoder and decoder` is called json.
    const part = first === '' ? 0 : FIRST_PART * this.#judgeName(first, shared).worthy;
    const located = all >= 0 && this.#joined.length > 3 && tailOf(pathname).endsWith(this.#joined) ? 1 : 0;
    return { factor: 1 + Math.max(worthy, part) + worth.address * located, all: Math.max(0, all) };
  }

  /** What a name adds to the factor, and the share of the telling words it has; -1 = it says nothing of its own. */
  #judgeName(name: string, shared: ReadonlySet<string>): { readonly worthy: number; readonly all: number } {
    const whole = nameAtoms(name);
    const words = unnumbered(whole).filter(word => !shared.has(word));
    if (words.length === 0) return { worthy: 0, all: -1 };
    const had = new Set<string>();
    let covered = 0;
    for (const word of whole) {
      const asked = this.#like(word);
      if (asked === undefined) continue;
      if (!shared.has(word)) covered++;
      had.add(asked);
    }
    const [joined, full] = [words.join(''), whole.join('')];
    const spelled = had.size < this.#telling.size && this.#isSpelled(whole);
    const all = spelled ? 1 : had.size / this.#telling.size;
    const share = Math.min(1, Math.max(covered / words.length, spelled ? this.#joined.length / joined.length : 0));
    const inOrder = full.includes(this.#joined) ? 1 : share === 1 && this.#joined.includes(joined) ? all : 0;
    const begun = this.#open && share === 1 && joined.startsWith(this.#joined);
    const exact = joined === this.#joined || full === this.#joined || begun ? 1 : 0;
    const signs = this.#signs.length > 0 && signTerms(name).some(term => this.#signs.includes(term)) ? 1 : 0;
    const owner = share === 1 && this.#owners.has(joined) ? 1 : 0;
    const written = owner === 1 && name.includes(this.#owners.get(joined)!) ? 1 : 0;
    const miswritten = owner === 0 && this.#written.length > 0 && !this.#written.some(each => name.includes(each));
    const starts = joined.startsWith(this.#joined) ? 1 : 0;
    const alike = this.#small.filter(word => words.some(each => isPlural(each, word)));
    const small = this.#small.length > 0 ? (alike.length / this.#small.length) * all : 0;
    const named =
      worth.share * share * share * all + worth.order * inOrder + worth.exact * exact + worth.all * all * all;
    const worthy =
      named * (miswritten ? MISWRITTEN : 1) +
      worth.signs * signs * all +
      worth.owner * owner +
      worth.written * written +
      worth.starts * starts +
      worth.small * small;
    return { worthy: this.#unsigned && signs === 0 ? worthy * UNSIGNED : worthy, all };
  }

  /** Letter by letter, from the beginning of a word to the end of one: `shared_ptr` for `sharedptr`. */
  #isSpelled(whole: readonly string[]): boolean {
    for (let from = 0; from < whole.length; from++) {
      let letters = '';
      for (let to = from; to < whole.length && letters.length < this.#joined.length; to++) letters += whole[to]!;
      if (letters === this.#joined) return true;
    }
    return false;
  }

  /** The asked word that this one of the title is: the same but for its ending, or what was begun. */
  #like(word: string): string | undefined {
    if (this.#telling.has(word)) return word;
    for (const asked of this.#telling) {
      if (isPlural(word, asked)) return asked;
      const shorter = Math.min(asked.length, word.length);
      if (
        shorter > ALIKE &&
        Math.abs(asked.length - word.length) <= 3 &&
        asked.slice(0, shorter - 1) === word.slice(0, shorter - 1)
      )
        return asked;
    }
    const last = this.#asked.at(-1)!;
    return this.#open && word.startsWith(last) ? last : undefined;
  }
}

const isPlural = (one: string, two: string) => one === two || one === `${two}s` || two === `${one}s`;

/** What a question is about, without where: `how to sort a vector in c++`. */
function withoutScope(words: QueryPlan['words']): QueryPlan['words'] {
  const at = words.findLastIndex(({ text }) => text === 'in');
  const isOne = words.length - at <= 3 && words.slice(0, Math.max(0, at)).filter(({ small }) => !small).length >= 2;
  return at > 0 && words[at]!.small && isOne ? words.slice(0, at) : words;
}

/** What stands before a dash, a bar or a colon, where something stands behind it. */
function firstPart(title: string): string {
  const end = title.search(/\s[—–|·•-]+\s|:\s/);
  return end < 1 ? '' : title.slice(0, end);
}

/** Without the number of a chapter. */
function unnumbered(words: readonly string[]): readonly string[] {
  const from = words.findIndex(word => !/^\d+$/.test(word));
  return from > 0 ? words.slice(from) : words;
}

/** The words of a path without its ending, joined. */
function tailOf(path: string): string {
  const bare = decode(path).replace(/(?:\/index)?\.[a-z]{2,5}$|\/$/, '');
  return nameAtoms(bare).join('');
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
