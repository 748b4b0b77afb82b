/**
 * A query's tree as FTS5 and SQL can run it. The only place that writes an FTS5 expression: every term is put in
 * quotes and holds no quote, so nothing a person types can reach FTS5's grammar.
 *
 * A page's terms are stemmed in its own language and a query names none, so each word becomes its terms in the
 * languages that the pages are in, joined by OR; most words have one or two.
 */
import { SkeinError } from '../../base/errors.ts';
import { languageAsked } from '../terms/language.ts';
import { NO_RULES } from '../terms/stems.ts';
import { endsDense, Initials, words } from '../terms/words.ts';
import { type AskedWord, ask, either, HEAD, type LooseWord, languagesFor, quote, type Vocabulary } from './asked.ts';
import type { ChangedQuery, Query, WordsQuery } from './query.ts';

export interface QueryPlan {
  /** FTS5 expression over the columns of `terms`: what has all the words. */
  readonly match: string;
  /** The same, its plain words looked for only where they weigh most: title, headings, anchors, address. */
  readonly head: string;
  /** What has some of the plain words; empty = there are not several. */
  readonly some: string;
  /** True when the expression holds words, so that BM25 has something to say. */
  readonly worded: boolean;
  readonly changed: readonly ChangedQuery[];
  /** What a snippet highlights. */
  readonly highlights: Highlights;
  /** The words at the top of the query as typed, in order; then those in quotation marks. */
  readonly words: readonly AskedWord[];
  /** Of what was typed without white space, what has signs in it. */
  readonly names: readonly string[];
  /** The language that the query seems to be in, and what pages in others keep of their worth. */
  readonly language: { readonly name: string; readonly others: number };
  /** FTS5 expression: what has one of them with its signs, where some page has; empty = none. */
  readonly signed: string;
  /** The plain words at the top of the query: what may be left out, or was misspelt, when nothing has them all. */
  readonly loose: readonly LooseWord[];
  /** Everything but those words; empty = nothing. */
  readonly strict: string;
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
export const siteMark = (host: string) => `\ue000s${host.replaceAll('.', '\ue001').replaceAll(/[:[\]]/g, '\ue002')}`;
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

const mark = (term: string) => `marks : "${term}"`;

/** What every page matches. */
export const EVERYTHING = mark(EVERY);

class MatchPlanner {
  readonly #vocabulary: Vocabulary;
  readonly terms = new Set<string>();
  readonly beginnings: string[] = [];
  worded = false;

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
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
    const variants = languagesFor(path, this.#vocabulary).map(language =>
      quote(words(path, language).map(word => word.term)),
    );
    return `(${onHost} AND ${either([...new Set(variants)].map(phrase => `address : ^ ${phrase}`))})`;
  }

  /** Words inside groups, in quotation marks, or of one column. */
  #words(query: WordsQuery, shown: boolean): string | undefined {
    const expression = query.phrase ? this.#phrase(query.text, shown) : this.#parts(query, shown);
    if (expression === undefined) return undefined;
    if (shown) this.worded = true;
    return query.column === undefined ? expression : `${query.column} : ${expression}`;
  }

  #phrase(text: string, shown: boolean): string | undefined {
    const variants = new Set<string>();
    const star = endsDense(text) ? ' *' : '';
    for (const language of languagesFor(text, this.#vocabulary)) {
      const found = words(text, language).map(word => word.term);
      if (found.length === 0) continue;
      variants.add(quote(found) + star);
      if (shown) this.#show(found, star !== '');
    }
    return variants.size === 0 ? undefined : either([...variants]);
  }

  #parts(query: WordsQuery, shown: boolean): string | undefined {
    const { loose, terms, beginnings } = ask([query], this.#vocabulary);
    if (shown) for (const term of terms) this.terms.add(term);
    if (shown) this.beginnings.push(...beginnings);
    const parts = loose.map(({ match }) => match);
    return parts.length === 0 ? undefined : parts.length === 1 ? parts[0] : `(${parts.join(' AND ')})`;
  }

  #show(found: readonly string[], open: boolean): void {
    for (const term of open ? found.slice(0, -1) : found) this.terms.add(term);
    if (open) this.beginnings.push(found.at(-1)!);
  }
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

/** The plan of a query. */
export function plan(query: Query, known: Vocabulary): QueryPlan {
  const named = languagesNamed(query);
  const vocabulary = named.length > 0 ? { ...known, languages: named, others: [] } : known;
  const planner = new MatchPlanner(vocabulary);
  const parts = query.kind === 'all' ? query.parts : [query];
  const changed = parts.map(changedOf).filter(part => part !== undefined);
  const rest = parts.filter(part => changedOf(part) === undefined);
  const asked = ask(rest.filter(isLoose), vocabulary);
  const strict = planner.expression({ kind: 'all', parts: rest.filter(part => !isLoose(part)) }, true);
  const loose = asked.loose.map(({ match }) => match);
  if (strict === undefined && loose.length === 0 && rest.length > 0)
    throw new SkeinError('bad-query', 'This query has no search term.');
  const join = (words: string) => [strict, words].filter(part => part !== undefined && part !== '').join(' AND ');
  const quoted = rest.filter(part => part.kind === 'words' && part.phrase && part.column === undefined);
  const all = loose.length === 0 ? '' : `(${loose.join(' AND ')})`;
  return {
    match: join(all) || EVERYTHING,
    head: join(all === '' ? '' : `${HEAD}${all}`) || EVERYTHING,
    some: loose.length < 2 ? '' : join(`(${loose.join(' OR ')})`),
    worded: planner.worded || loose.length > 0,
    words: [...asked.words, ...quoted.flatMap(part => wordsIn((part as WordsQuery).text))],
    changed,
    highlights: highlightsOf(new Set([...asked.terms, ...planner.terms]), [...asked.beginnings, ...planner.beginnings]),
    loose: asked.loose,
    names: rest
      .filter(isLoose)
      .map(({ text }) => text)
      .filter(text => /[^\p{L}\p{N}]/u.test(text)),
    language: languageOfQuery(asked.words, known),
    signed: asked.signs.length === 0 ? '' : either(asked.signs.map(term => quote([term]))),
    strict: strict ?? '',
  };
}

/** What pages keep that are not in the language that the small words of the query are in, or else in that of most pages. */
const OTHER_THAN_ASKED = 0.7;
const OTHER_THAN_MOST = 0.85;

function languageOfQuery(words: readonly AskedWord[], { languages, others, main = '' }: Vocabulary) {
  const typed = words.map(({ text }) => text);
  const name = languageAsked(typed, [...languages, ...others], main);
  if (name !== undefined) return { name, others: OTHER_THAN_ASKED };
  // Letters beyond ASCII are of a language that has them.
  return { name: typed.every(text => /^[\0-\x7f]*$/.test(text)) ? main : '', others: OTHER_THAN_MOST };
}

const wordsIn = (text: string) =>
  words(text, NO_RULES).map(({ start, end }) => ({ text: text.slice(start, end), small: false }));
