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
import { isListed, WordList } from '../terms/word-list.ts';
import { formsOf, type Vocabulary } from './asked.ts';
import { HEAD, plan, type QueryPlan } from './match.ts';
import { mayGoOn, parseQuery, type Query } from './query.ts';
import { FEW, type Ranked, Ranker, type Ranking } from './rank.ts';
import { FEW_PAGES, SHORT_QUERY, Spelling, TIMES } from './spelling.ts';

/** Share of the pages from which a query's words are read by the rules of their language. */
const MAIN = 0.01;

interface FoundAnswer {
  readonly plan: QueryPlan;
  readonly ranked: Ranked;
  /** The query that seems to be meant, where this one finds nothing. */
  readonly meant?: string | undefined;
}

/** Languages that a good part of the pages is in, and the others; those with most pages first. */
export type Spoken = Pick<Vocabulary, 'languages' | 'others' | 'meant'>;

export interface LanguageCount {
  readonly language: string;
  readonly pages: number;
}

/** Those with most pages come first in `rows`. */
export function spokenBy(rows: readonly LanguageCount[]): Spoken {
  const least = MAIN * rows.reduce((sum, { pages }) => sum + pages, 0);
  const names = (main: boolean) => rows.filter(({ pages }) => pages >= least === main).map(row => row.language);
  return { languages: rows.length > 0 ? names(true) : ['en'], others: names(false) };
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
    const differs = `${spoken.languages};${spoken.others}` !== `${this.#spoken.languages};${this.#spoken.others}`;
    this.#spoken = spoken;
    return differs;
  }

  answer(key: string, asking: Ranking): FoundAnswer {
    const query = parseQuery(key);
    let found = this.#all(query, asking, this.#spoken);
    if (!found.ranked.named && mayGoOn(query)) {
      const typed = this.#plan(query, true, this.#spoken);
      if (typed.match !== found.plan.match) {
        const ranked = this.ranker.all(typed, asking);
        if (ranked.total > found.ranked.total) found = { plan: typed, ranked };
      }
    }
    const { languages, others } = this.#spoken;
    if (found.ranked.total === 0 && others.length > 0)
      found = this.#all(query, asking, { languages: [...languages, ...others], others: [] });
    const { total, named } = found.ranked;
    const mistaken = total > 0 ? this.#mistaken(found) : new Map<string, string>();
    if (mistaken.size > 0) return this.#all(query, asking, { ...this.#spoken, meant: mistaken });
    if (total >= FEW || (named && total > 0)) return found;
    const meant = total === 0 ? this.#meant(key, found.plan) : undefined;
    if (meant !== undefined || found.plan.some === '') {
      const nothing = total === 0;
      return { plan: found.plan, ranked: { ...found.ranked, relaxed: nothing, loose: nothing }, meant };
    }
    return { plan: found.plan, ranked: this.ranker.some(found.plan, asking, found.ranked) };
  }

  #all(query: Query, asking: Ranking, spoken: Spoken): FoundAnswer {
    const made = this.#plan(query, false, spoken);
    return { plan: made, ranked: this.ranker.all(made, asking) };
  }

  #plan(query: Query, typing: boolean, spoken: Spoken): QueryPlan {
    return plan(query, { ...spoken, typing, words: this.#words, has: term => this.ranker.has(term) });
  }

  /**
   * Words that were found and seem misspelt all the same, with what they nearly are: no page writes them so, another form
   * of them was found; or hardly a page does, and none in its name, and it has made the same mistake.
   */
  #mistaken({ plan: { loose }, ranked }: FoundAnswer): Map<string, string> {
    const meant = new Map<string, string>();
    for (const { text } of loose.length > SHORT_QUERY ? [] : loose) {
      const foreign = isListed(text) && !this.#words.has(text) && this.#words.longer(text).length === 0;
      const few = !foreign && !ranked.named && ranked.total < FEW;
      const pages = few && isListed(text) ? this.#pagesOf(text) : 0;
      if (!foreign && (pages === 0 || pages > FEW_PAGES)) continue;
      const near = this.#spelling.correct(text);
      if (near !== undefined && this.ranker.pagesWith(near, this.#spoken) >= TIMES * pages) meant.set(text, near);
    }
    return meant;
  }

  /** How many pages have the word, where that is few and none has it in its name; else 0. */
  #pagesOf(word: string): number {
    const { finder } = this.ranker;
    const forms = formsOf(word, this.#spoken);
    return finder.isKnown(HEAD + forms) ? 0 : finder.countAll(forms, FEW_PAGES + 1);
  }

  /** The query with other words for those that no page has; undefined = there are none, or none that come near. */
  #meant(key: string, asked: QueryPlan): string | undefined {
    let corrected = key;
    for (const word of this.ranker.unknown(asked)) {
      const meant = this.#spelling.correct(word);
      if (meant !== undefined) corrected = corrected.replace(word, () => meant);
    }
    return corrected === key ? undefined : corrected;
  }
}
