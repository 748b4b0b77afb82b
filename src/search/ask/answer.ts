/**
 * How a query is answered, step by step, each only where the one before did not do:
 *
 * 1. pages that have all the words;
 * 2. where the best of these does not carry them in its title, the last word may not be typed to its end;
 * 3. where there is none, words may be of a language that few pages are in, or misspelt; where there are few, one may be
 *    a mistake that these few have made, too;
 * 4. where there are few, pages with some of the words are looked at, too.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { WordList } from '../terms/word-list.ts';
import type { Vocabulary } from './asked.ts';
import { plan, type QueryPlan } from './match.ts';
import { mayGoOn, parseQuery, type Query } from './query.ts';
import { QueryDoubts } from './query-doubts.ts';
import { FEW, type Ranked, Ranker, type Ranking } from './rank.ts';
import { Spelling } from './spelling.ts';

/** Share of the pages from which a query's words are read by the rules of their language. */
const MAIN = 0.01;
/** Share of the pages from which their language is the one that a query is taken to be in. */
const MOST = 0.5;

interface FoundAnswer {
  readonly plan: QueryPlan;
  readonly ranked: Ranked;
  /** The query that seems to be meant, where this one finds nothing. */
  readonly meant?: string | undefined;
}

/** Languages that a good part of the pages is in, and the others; those with most pages first. */
export type Spoken = Pick<Vocabulary, 'languages' | 'others' | 'main' | 'meant'>;

export interface LanguageCount {
  readonly language: string;
  readonly pages: number;
}

/** Those with most pages come first in `rows`. */
export function spokenBy(rows: readonly LanguageCount[]): Spoken {
  const all = rows.reduce((sum, { pages }) => sum + pages, 0);
  const least = MAIN * all;
  const names = (main: boolean) => rows.filter(({ pages }) => pages >= least === main).map(row => row.language);
  const main = rows.find(({ pages }) => pages > MOST * all)?.language ?? '';
  return { languages: rows.length > 0 ? names(true) : ['en'], others: names(false), main };
}

export class Answerer {
  readonly ranker: Ranker;
  readonly #languages: StatementSync;
  readonly #spelling: Spelling;
  readonly #words: WordList;
  #spoken: Spoken = { languages: ['en'], others: [] };

  constructor(database: DatabaseSync) {
    this.ranker = new Ranker(database);
    this.#languages = database.prepare('SELECT language, pages FROM languages WHERE pages > 0 ORDER BY pages DESC');
    this.#words = new WordList(database);
    this.#spelling = new Spelling(database, word => this.ranker.pagesWith(word, this.#spoken));
  }

  get words(): WordList {
    return this.#words;
  }

  get spelling(): Spelling {
    return this.#spelling;
  }

  /** What the pages are in, and how many of them. */
  languages(): LanguageCount[] {
    return this.#languages.all() as unknown as LanguageCount[];
  }

  /** Looks up what the pages are in; true when that is not what it was. */
  listen(): boolean {
    const spoken = spokenBy(this.languages());
    const told = ({ languages, others, main }: Spoken) => `${languages};${others};${main}`;
    const differs = told(spoken) !== told(this.#spoken);
    this.#spoken = spoken;
    return differs;
  }

  answer(key: string, asking: Ranking): FoundAnswer {
    const query = parseQuery(key);
    let found = this.#all(query, asking, this.#spoken);
    let typing = false;
    if (!found.ranked.named && mayGoOn(query)) {
      const typed = this.#plan(query, true, this.#spoken);
      if (typed.match !== found.plan.match) {
        const ranked = this.ranker.all(typed, asking);
        typing = ranked.total > found.ranked.total;
        if (typing) found = { plan: typed, ranked };
      }
    }
    const { languages, others } = this.#spoken;
    // A misspelt word is a word to the rules of some language or other: `comit` would be the French for `com`.
    if (found.ranked.total === 0 && others.length > 0 && !this.#doubts().isClearlyMisspelt(found.plan))
      found = this.#all(query, asking, { ...this.#spoken, languages: [...languages, ...others], others: [] });
    const { total, named } = found.ranked;
    const mistaken = total > 0 ? this.#doubts().mistaken(found) : new Map<string, string>();
    if (mistaken.size > 0) return this.#all(query, asking, { ...this.#spoken, meant: mistaken }, typing);
    if (total >= FEW || (named && total > 0)) return found;
    const meant = total === 0 ? this.#doubts().meant(key, found.plan) : undefined;
    if (meant !== undefined || found.plan.some === '') {
      const nothing = total === 0;
      return { plan: found.plan, ranked: { ...found.ranked, relaxed: nothing, loose: nothing }, meant };
    }
    return { plan: found.plan, ranked: this.ranker.some(found.plan, asking, found.ranked) };
  }

  #all(query: Query, asking: Ranking, spoken: Spoken, typing = false): FoundAnswer {
    const made = this.#plan(query, typing, spoken);
    return { plan: made, ranked: this.ranker.all(made, asking) };
  }

  #plan(query: Query, typing: boolean, spoken: Spoken): QueryPlan {
    return plan(query, { ...spoken, typing, words: this.#words, has: term => this.ranker.has(term) });
  }

  #doubts(): QueryDoubts {
    return new QueryDoubts(this.ranker, this.#words, this.#spelling, this.#spoken);
  }
}
