/**
 * One index as a part of several that are asked together (wide-search.ts). Takes and gives plain records, which may come
 * from and go to other machines; pages are named by their ids in this index alone.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Answerer, LanguageCount } from '../ask/answer.ts';
import type { KeptHit } from '../ask/cache.ts';
import type { FoundRow } from '../ask/find.ts';
import { type Highlights, highlightsOf, type QueryPlan } from '../ask/match.ts';
import { type Print, type Ranking, REORDERED, sorted, spanOf } from '../ask/rank.ts';
import type { Nearest } from '../ask/spelling.ts';
import { phrasesOf } from './phrases.ts';
import { Scorer, type Statistics } from './scorer.ts';

/** A plan without what JSON cannot carry. */
export interface ToldPlan extends Omit<QueryPlan, 'highlights'> {
  readonly terms: readonly string[];
  readonly beginnings: readonly string[];
}

export function toldPlan({ highlights, ...plan }: QueryPlan): ToldPlan {
  return { ...plan, terms: [...highlights.terms], beginnings: highlights.beginnings };
}

function planOf({ terms, beginnings, ...plan }: ToldPlan): QueryPlan {
  return { ...plan, highlights: highlightsOf(new Set(terms), beginnings) };
}

/** What must be known of words to make a plan. */
export interface WordsAsked {
  /** Does some page have the term; is the word one that pages had; which words begin so. */
  readonly terms: readonly string[];
  readonly words: readonly string[];
  readonly beginnings: readonly string[];
}

export interface WordsTold {
  readonly terms: readonly boolean[];
  readonly words: readonly boolean[];
  readonly longer: readonly (readonly string[])[];
}

export interface CountsTold {
  readonly counts: readonly number[];
  /** All there are. */
  readonly pages: number;
}

export interface FindAsked {
  readonly plan: ToldPlan;
  readonly asking: Ranking;
  /** Of the phrases of the plan's expression, over all indexes. */
  readonly statistics: Statistics;
}

export interface FoundPage extends FoundRow {
  /** Of the best few by their text: what else they are worth, and whether the title has all the words. */
  readonly factor?: number;
  readonly named?: boolean;
  readonly print?: Print;
}

export interface FoundPart {
  /** Best first. */
  readonly rows: readonly FoundPage[];
  readonly total: number;
  readonly exact: boolean;
}

/** A result to be shown. */
interface ShownPage extends Omit<KeptHit, 'score' | 'alike'> {
  /** A heading that tells it from others of the same title; empty = there is none. */
  readonly telling: string;
}

interface PartOf {
  readonly database: DatabaseSync;
  readonly answerer: Answerer;
  readonly shown: (page: number, highlights: Highlights) => Omit<KeptHit, 'score' | 'alike'> | undefined;
  readonly headings: (page: number) => readonly string[];
}

export class SearchPart {
  readonly #scorer: Scorer;
  readonly #of: PartOf;

  constructor(of: PartOf) {
    this.#of = of;
    this.#scorer = new Scorer(of.database);
  }

  languages(): LanguageCount[] {
    return this.#of.answerer.languages().map(({ language, pages }) => ({ language, pages }));
  }

  words({ terms, words, beginnings }: WordsAsked): WordsTold {
    const { ranker, words: list } = this.#of.answerer;
    return {
      terms: terms.map(term => ranker.has(term)),
      words: words.map(word => list.has(word)),
      longer: beginnings.map(word => list.longer(word)),
    };
  }

  /** How many pages match each expression, `most` at most. */
  counts(expressions: readonly string[], most: number): CountsTold {
    const { finder } = this.#of.answerer.ranker;
    return { counts: expressions.map(match => finder.countAll(match, most)), pages: this.#scorer.statistics([]).pages };
  }

  nearest(words: readonly string[]): Nearest[] {
    return words.map(word => this.#of.answerer.spelling.nearest(word));
  }

  statistics(match: string): Statistics {
    return this.#scorer.statistics(phrasesOf(match));
  }

  find({ plan: told, asking, statistics }: FindAsked): FoundPart {
    const plan = planOf(told);
    const { ranker } = this.#of.answerer;
    const { rows: found, total, exact } = ranker.finder.find(plan, spanOf(plan, asking.now));
    const rows = plan.worded ? this.#rescored(found, plan.match, statistics) : [...found];
    const top = rows.slice(0, REORDERED);
    const { factors, prints, named } = ranker.factors(top, plan, asking);
    const weighed = top.map(({ id, score }): FoundPage => {
      const factor = plan.worded ? (factors.get(id) ?? 1) : 1;
      const print = prints.get(id);
      return { id, score, factor, named: named.has(id), ...(print && { print }) };
    });
    return { rows: [...weighed, ...rows.slice(top.length)], total, exact };
  }

  #rescored(rows: readonly FoundRow[], match: string, whole: Statistics): FoundRow[] {
    const ids = rows.map(({ id }) => id);
    const scores = this.#scorer.scores(ids, phrasesOf(match), whole);
    return sorted(ids.map(id => ({ id, score: scores.get(id)! })));
  }

  /** How near each other the words stand in each page. */
  near(pages: readonly { readonly id: number; readonly language: string }[], plan: ToldPlan): number[] {
    const made = planOf(plan);
    return pages.map(({ id, language }) => this.#of.answerer.ranker.proximity(id, language, made));
  }

  /** Results as they are shown; those that went meanwhile are left out. */
  show(pages: readonly number[], highlighted: Pick<ToldPlan, 'terms' | 'beginnings'>): ShownPage[] {
    const highlights = highlightsOf(new Set(highlighted.terms), highlighted.beginnings);
    return pages.flatMap(page => {
      const hit = this.#of.shown(page, highlights);
      return hit ? [{ ...hit, telling: tellingOf(hit, this.#of.headings(page)) }] : [];
    });
  }
}

/** A heading that its title does not say; empty = there is none. */
export function tellingOf({ title }: Pick<KeptHit, 'title'>, headings: readonly string[]): string {
  const whole = title.map(({ text }) => text).join('');
  return headings.find(heading => heading.length > 2 && !whole.includes(heading)) ?? '';
}
