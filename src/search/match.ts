/**
 * A query's tree as FTS5 and SQL can run it. The only place that writes an FTS5 expression: every term is put in
 * quotes and holds no quote, so nothing a person types can reach FTS5's grammar.
 *
 * A page's terms are stemmed in its own language and a query names none, so each word becomes its terms in all
 * languages that the index holds, joined by OR; most words have one or two.
 */
import { SkeinError } from '../base/errors.ts';
import { isSmall } from './language.ts';
import type { ChangedQuery, Query, WordsQuery } from './query.ts';
import { NO_RULES } from './stems.ts';
import { endsDense, Initials, termOf, words } from './words.ts';

export interface Plan {
  /** FTS5 expression over the columns of `terms`. */
  readonly match: string;
  /** The same, its plain words looked for only where they weigh most: title, headings, anchors. */
  readonly head: string;
  /** True when the expression holds words, so that BM25 has something to say. */
  readonly worded: boolean;
  readonly changed: readonly ChangedQuery[];
  /** What a snippet highlights. */
  readonly highlights: Highlights;
  /** The plain words and phrases at the top of the query as typed, in order. */
  readonly plain: string;
  /** The plain words at the top of the query: what may be left out, or was misspelt, when nothing has them all. */
  readonly loose: readonly LooseWord[];
  /** Everything but those words; empty = nothing. */
  readonly strict: string;
}

export interface LooseWord {
  /** As it was typed; empty = it is only a beginning. */
  readonly text: string;
  readonly match: string;
}

export interface Highlights {
  readonly terms: ReadonlySet<string>;
  readonly beginnings: readonly string[];
  /** What these begin with. */
  readonly initials: Initials;
}

/**
 * Filters are terms too, in a column of their own with weight 0. Their first letter is from Unicode's private area,
 * which words.ts never lets into a term, so that no page and no query can forge one.
 */
const EVERY = '\ue000every';
const siteMark = (host: string) => `\ue000s${host.replaceAll('.', '\ue001').replaceAll(/[:[\]]/g, '\ue002')}`;
const typeMark = (type: string) => `\ue000t${type.replaceAll(/[^a-z0-9]/g, '\ue001')}`;
const languageMark = (tag: string) => `\ue000l${tag}`;

const typeNames: Readonly<Record<string, readonly string[]>> = {
  html: ['text/html', 'application/xhtml+xml'],
  text: ['text/plain'],
  txt: ['text/plain'],
  xml: ['text/xml', 'application/xml'],
  json: ['application/json'],
  pdf: ['application/pdf'],
  feed: ['application/rss+xml', 'application/atom+xml'],
  doc: ['application/msword', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
};

/** The marks of a page, as the index keeps them: its host and all domains above it, type, kind of type, language. */
export function marksOf(url: string, mediaType: string, language: string): string {
  const marks = [EVERY, languageMark(language)];
  const type = mediaType.toLowerCase();
  if (type !== '') marks.push(typeMark(type), typeMark(type.split('/')[0]!));
  const { hostname, host } = URL.parse(url) ?? { hostname: '', host: '' };
  if (host !== hostname) marks.push(siteMark(host));
  const numeric = /^[\d.]+$|^\[/.test(hostname);
  for (let rest = hostname; rest !== ''; ) {
    marks.push(siteMark(rest));
    const dot = rest.indexOf('.');
    rest = numeric || dot < 0 ? '' : rest.slice(dot + 1);
  }
  return marks.join(' ');
}

/** The words of a URL: the path first, so that `site:example.org/docs` can ask for what it begins with. */
export function addressText(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return url;
  let path = parsed.pathname + parsed.search;
  if (path.includes('%')) {
    try {
      path = decodeURIComponent(path);
    } catch {
      // percent signs that are no UTF-8: the letters between them are still words
    }
  }
  return `${path} ${parsed.hostname}`;
}

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
const MOST_VARIANTS = 8;

const quote = (terms: readonly string[]) => `"${terms.join(' ').replaceAll('"', '')}"`;
const mark = (term: string) => `marks : "${term}"`;
const either = (parts: readonly string[]) => (parts.length === 1 ? parts[0]! : `(${parts.join(' OR ')})`);

/** What every page matches. */
export const EVERYTHING = mark(EVERY);

class Planner {
  readonly #languages: readonly string[];
  /** Column filter of plain words. */
  readonly #where: string;
  readonly terms = new Set<string>();
  readonly beginnings: string[] = [];
  worded = false;

  constructor(languages: readonly string[], where: string) {
    this.#languages = languages;
    this.#where = where;
  }

  /** FTS5 expression of a subtree; undefined when it holds no term at all. `shown`: its words are highlighted. */
  expression(query: Query, shown: boolean): string | undefined {
    switch (query.kind) {
      case 'words':
        return this.#words(query, shown);
      case 'site':
        return this.#site(query.host, query.path);
      case 'type':
        return either((typeNames[query.name] ?? [query.name.replace(/\/\*$/, '')]).map(name => mark(typeMark(name))));
      case 'language':
        return mark(languageMark(query.tag));
      case 'any': {
        const parts = query.parts.map(part => this.expression(part, shown)).filter(part => part !== undefined);
        return parts.length === 0 ? undefined : either(parts);
      }
      case 'not': {
        const inner = this.expression(query.part, false);
        return inner === undefined ? undefined : `(${mark(EVERY)} NOT ${inner})`;
      }
      case 'all':
        return this.#all(query.parts, shown);
      case 'changed':
        throw new SkeinError('bad-query', '“changed:” cannot stand inside OR or parentheses.');
    }
  }

  #all(parts: readonly Query[], shown: boolean): string | undefined {
    const wanted: string[] = [];
    const unwanted: string[] = [];
    for (const part of parts) {
      const negative = part.kind === 'not';
      const inner = this.expression(negative ? part.part : part, shown && !negative);
      if (inner !== undefined) (negative ? unwanted : wanted).push(inner);
    }
    if (wanted.length === 0 && unwanted.length === 0) return undefined;
    const all = wanted.length === 0 ? mark(EVERY) : wanted.join(' AND ');
    return unwanted.length === 0 ? (wanted.length === 1 ? all : `(${all})`) : `((${all}) NOT ${either(unwanted)})`;
  }

  #site(host: string, path: string): string {
    const segments = words(path, NO_RULES).map(word => word.term);
    const onHost = mark(siteMark(host));
    if (segments.length === 0) return onHost;
    const variants = this.#languages.map(language => quote(words(path, language).map(word => word.term)));
    return `(${onHost} AND ${either([...new Set(variants)].map(phrase => `address : ^ ${phrase}`))})`;
  }

  #words(query: WordsQuery, shown: boolean): string | undefined {
    const variants = new Map<string, string>();
    const dense = endsDense(query.text);
    for (const language of this.#languages) {
      const found = words(query.text, language).map(word => word.term);
      if (found.length === 0) continue;
      if (query.beginning) found[found.length - 1] = this.#last(query.text);
      const star = query.beginning || dense ? ' *' : '';
      variants.set(quote(found) + star, '');
      if (shown) this.#show(found, star !== '');
      if (query.beginning && found.length === 1)
        for (const stem of stemsOf(query.text, language)) variants.set(quote([stem]), stem);
      if (variants.size >= MOST_VARIANTS) break;
    }
    if (variants.size === 0) return undefined;
    if (shown) this.worded = true;
    if (shown) for (const stem of variants.values()) if (stem !== '') this.terms.add(stem);
    const expression = either([...variants.keys()]);
    return query.column === undefined ? this.#where + expression : `${query.column} : ${expression}`;
  }

  /** The beginning itself, folded but not stemmed. */
  #last(text: string): string {
    return words(text, NO_RULES).at(-1)!.term;
  }

  #show(found: readonly string[], open: boolean): void {
    for (const term of open ? found.slice(0, -1) : found) this.terms.add(term);
    if (open) this.beginnings.push(found.at(-1)!);
  }
}

/** Stems, shorter than the beginning itself, of the words it may be completed to. */
function stemsOf(beginning: string, language: string): Set<string> {
  const whole = termOf(beginning, NO_RULES);
  const stems = new Set<string>();
  for (const ending of endings) {
    const stem = termOf(beginning + ending, language);
    if (stem.length > 2 && stem.length < whole.length && whole.startsWith(stem)) stems.add(stem);
  }
  return stems;
}

/** Languages that the query itself asks for; empty = any. */
function languagesNamed(query: Query): string[] {
  if (query.kind === 'language') return [query.tag];
  return query.kind === 'all' ? query.parts.flatMap(languagesNamed) : [];
}

/** `changed:<7d` left out is `changed:>7d`. */
function changedOf(query: Query): ChangedQuery | undefined {
  if (query.kind === 'changed') return query;
  if (query.kind !== 'not' || query.part.kind !== 'changed') return undefined;
  return { ...query.part, within: !query.part.within };
}

export function highlightsOf(terms: ReadonlySet<string>, beginnings: readonly string[]): Highlights {
  return { terms, beginnings, initials: new Initials([...terms, ...beginnings]) };
}

function isLoose(part: Query): part is WordsQuery {
  return part.kind === 'words' && part.column === undefined && !part.phrase;
}

/** Telling words that a query must have for its small ones not to be looked for. */
const ENOUGH = 2;

/** "How do I create a table" asks for `create` and `table`. Where pages are in several languages English decides. */
function telling(parts: readonly Query[], spoken: readonly string[]): readonly Query[] {
  const language = spoken.length === 1 ? spoken[0]! || 'en' : 'en';
  const says = (part: Query) => !isLoose(part) || part.beginning || !isSmall(part.text, language);
  return parts.filter(part => isLoose(part) && says(part)).length >= ENOUGH ? parts.filter(says) : parts;
}

/** The plan of a query for an index that holds pages in `languages`. */
export function plan(query: Query, languages: readonly string[]): Plan {
  const named = languagesNamed(query);
  const spoken = named.length > 0 ? named : languages.length > 0 ? languages : [''];
  const planner = new Planner(spoken, '');
  const parts = query.kind === 'all' ? query.parts : [query];
  const changed = parts.map(changedOf).filter(part => part !== undefined);
  const all = parts.filter(part => changedOf(part) === undefined);
  const rest = telling(all, spoken);
  const match = planner.expression({ kind: 'all', parts: rest }, true);
  const { worded } = planner;
  if (match === undefined && rest.length > 0)
    throw new SkeinError('bad-query', 'There is no word to look for in this query.');
  const loose = rest.filter(isLoose).flatMap(part => {
    const found = planner.expression(part, false);
    return found === undefined ? [] : [{ text: part.beginning ? '' : part.text, match: found }];
  });
  const strict = planner.expression({ kind: 'all', parts: rest.filter(part => !isLoose(part)) }, false);
  const plain = all.filter(part => part.kind === 'words').map(part => part.text);
  const head = new Planner(spoken, '{title headings anchors} : ').expression({ kind: 'all', parts: rest }, false);
  return {
    match: match ?? EVERYTHING,
    head: head ?? EVERYTHING,
    worded,
    plain: plain.join(' '),
    changed,
    highlights: highlightsOf(planner.terms, planner.beginnings),
    loose,
    strict: strict ?? '',
  };
}
