/**
 * A query over several indexes, whose results are those of one index that has all their pages. The steps are those of
 * answer.ts. What a step needs to know is asked of all indexes first and summed: languages, words, how many pages have
 * each phrase; then each finds its best by scores that all of them share (scorer.ts), and the best of all are reordered,
 * folded and shown as rank.ts does it.
 */
import { SkeinError } from '../../base/errors.ts';
import { type LanguageCount, type Spoken, spokenBy } from '../ask/answer.ts';
import type { Vocabulary } from '../ask/asked.ts';
import { COMMON, SCORED, WINDOW } from '../ask/find.ts';
import { plan, type QueryPlan } from '../ask/match.ts';
import { LOOKED_AT } from '../ask/proximity.ts';
import { mayGoOn, parseQuery, type Query } from '../ask/query.ts';
import { FEW, folded, type Print, type Ranked, type Ranking, REORDERED, sorted } from '../ask/rank.ts';
import type { Hit, QueryOptions, Results } from '../document.ts';
import { primaryLanguage } from '../terms/stems.ts';
import type { WordList } from '../terms/word-list.ts';
import type { FindAsked, FoundPage, FoundPart, ToldPlan, WordsAsked } from './part.ts';
import { toldPlan } from './part.ts';
import type { Statistics } from './scorer.ts';
import { MANY_LONGER, WideDoubts, type WideWords } from './wide-doubts.ts';

/** What a hit is before who asks adds what depends on all of them. */
export type WideHit = Omit<Hit, 'score' | 'alike' | 'age'> & { readonly telling: string };

/** All indexes together, in the numbers that whoever joins them gives their pages. */
export interface WideIndex extends WideWords {
  languages(): Promise<readonly LanguageCount[]>;
  statistics(match: string): Promise<Statistics>;
  find(asked: FindAsked): Promise<FoundPart>;
  near(
    pages: readonly { readonly id: number; readonly language: string }[],
    plan: ToldPlan,
  ): Promise<ReadonlyMap<number, number>>;
  /** `searched`: the query whose first results they are, which count as shown to somebody; empty = others. */
  show(pages: readonly number[], plan: ToldPlan, now: number, searched: string): Promise<readonly WideHit[]>;
}

const LONGEST_TERM = 200;

interface WideAnswer {
  readonly plan: QueryPlan;
  readonly ranked: Ranked;
  readonly meant?: string | undefined;
}

/** Times that a plan is made anew because it asks for words that nobody was asked for yet. */
const MOST_PASSES = 6;
type WideOptions = Omit<QueryOptions, 'freshness'>;

/** Results, and the best pages whether they are among these or not, a thousand at most. */
interface WideResults {
  readonly results: Results;
  readonly pages: readonly number[];
}

export async function wideQuery(index: WideIndex, text: string, options: WideOptions): Promise<Results> {
  return (await wideResults(index, text, options)).results;
}

export async function wideResults(index: WideIndex, text: string, options: WideOptions): Promise<WideResults> {
  const started = performance.now();
  const now = options.now ?? Date.now();
  const query = text.trim().replace(/\s+/g, ' ');
  const asking = { unfold: options.unfold === true, now, language: primaryLanguage(options.language ?? '') };
  const { plan: made, ranked, meant } = await new WideAnswerer(index, asking).answer(query);
  if (meant !== undefined) {
    const { results, pages: best } = await wideResults(index, meant, options);
    return { results: { ...results, query, corrected: meant, took: performance.now() - started }, pages: best };
  }
  const offset = Math.min(Math.max(0, Math.trunc(options.offset ?? 0)), WINDOW);
  const limit = Math.min(Math.max(1, Math.trunc(options.limit ?? 10)), 100);
  const pages = ranked.pages.slice(offset, offset + limit);
  const shown = new Map(
    (await index.show(pages, toldPlan(made), now, offset === 0 ? query.slice(0, LONGEST_TERM) : '')).map(hit => [
      hit.page,
      hit,
    ]),
  );
  const hits = pages.flatMap((page, i): Hit[] => {
    const { telling: _, ...hit } = shown.get(page) ?? { page: 0, telling: '' };
    if (hit.page === 0) return []; // removed since it was ranked
    const { fetched } = hit as WideHit;
    const own = { score: ranked.scores[offset + i]!, alike: ranked.alike.get(page) ?? 0 };
    return [{ ...(hit as WideHit), ...own, age: Math.max(0, now - fetched) }];
  });
  const { total, exact, relaxed } = ranked;
  const results = {
    ...{ query, hits: toldApart(hits, page => shown.get(page)!.telling), total, exact, relaxed },
    ...{ cached: false, took: performance.now() - started },
  };
  return { results, pages: ranked.pages.slice(0, WINDOW) };
}

/** Results with equal titles show a heading, too. */
function toldApart(hits: readonly Hit[], tellingOf: (page: number) => string): Hit[] {
  const titleOf = ({ title }: Hit) => title.map(({ text }) => text).join('');
  const counts = new Map<string, number>();
  for (const hit of hits) counts.set(titleOf(hit), (counts.get(titleOf(hit)) ?? 0) + 1);
  return hits.map(hit => {
    const telling = counts.get(titleOf(hit)) === 1 ? '' : tellingOf(hit.page);
    return telling === '' ? hit : { ...hit, title: [...hit.title, { text: ` – ${telling}`, hit: false }] };
  });
}

class WideAnswerer {
  readonly #index: WideIndex;
  readonly #asking: Ranking;
  /** Words that somebody was asked for, and what is so. */
  readonly #terms = new Map<string, boolean>();
  readonly #words = new Map<string, boolean>();
  readonly #longer = new Map<string, readonly string[]>();

  constructor(index: WideIndex, asking: Ranking) {
    this.#index = index;
    this.#asking = asking;
  }

  async answer(key: string): Promise<WideAnswer> {
    const query = parseQuery(key);
    const languages = await this.#index.languages();
    const spoken = spokenBy(languages);
    let found = await this.#all(query, spoken);
    let typing = false;
    if (!found.ranked.named && mayGoOn(query)) {
      const typed = await this.#plan(query, true, spoken);
      if (typed.match !== found.plan.match) {
        const ranked = await this.#rank(typed);
        typing = ranked.total > found.ranked.total;
        if (typing) found = { plan: typed, ranked };
      }
    }
    if (
      found.ranked.total === 0 &&
      spoken.others.length > 0 &&
      !(await this.#doubts(spoken).isClearlyMisspelt(found.plan))
    )
      found = await this.#all(query, { ...spoken, languages: [...spoken.languages, ...spoken.others], others: [] });
    const { total, named } = found.ranked;
    const mistaken = total > 0 ? await this.#doubts(spoken).mistaken(found) : new Map<string, string>();
    if (mistaken.size > 0) return this.#all(query, { ...spoken, meant: mistaken }, typing);
    if (total >= FEW || (named && total > 0)) return found;
    const meant = total === 0 ? await this.#doubts(spoken).meant(key, found.plan) : undefined;
    if (meant !== undefined || found.plan.some === '') {
      const nothing = total === 0;
      return { plan: found.plan, ranked: { ...found.ranked, relaxed: nothing, loose: nothing }, meant };
    }
    return { plan: found.plan, ranked: await this.#some(found.plan, found.ranked) };
  }

  async #all(query: Query, spoken: Spoken, typing = false): Promise<WideAnswer> {
    const made = await this.#plan(query, typing, spoken);
    return { plan: made, ranked: await this.#rank(made) };
  }

  #doubts(spoken: Spoken): WideDoubts {
    return new WideDoubts(this.#index, spoken);
  }

  /** Made with what is known of words so far, until it asks for nothing more. */
  async #plan(query: Query, typing: boolean, spoken: Spoken): Promise<QueryPlan> {
    for (let pass = 0; pass < MOST_PASSES; pass++) {
      const missing = { terms: new Set<string>(), words: new Set<string>(), beginnings: new Set<string>() };
      const made = plan(query, this.#vocabulary(spoken, typing, missing));
      if (missing.terms.size + missing.words.size + missing.beginnings.size === 0) return made;
      const asked = { terms: [...missing.terms], words: [...missing.words], beginnings: [...missing.beginnings] };
      const told = await this.#index.words(asked);
      asked.terms.forEach((term, i) => void this.#terms.set(term, told.terms[i]!));
      asked.words.forEach((word, i) => void this.#words.set(word, told.words[i]!));
      asked.beginnings.forEach((word, i) => void this.#longer.set(word, told.longer[i]!));
    }
    throw new SkeinError('bad-query', 'There are too many words in this query.');
  }

  #vocabulary(spoken: Spoken, typing: boolean, missing: Record<keyof WordsAsked, Set<string>>): Vocabulary {
    const known = <T>(map: ReadonlyMap<string, T>, word: string, unknown: Set<string>) => {
      const found = map.get(word);
      if (found === undefined) unknown.add(word);
      return found;
    };
    const words: Pick<WordList, 'has' | 'longer' | 'isShort'> = {
      has: word => known(this.#words, word.toLowerCase(), missing.words) ?? false,
      longer: word => [...(known(this.#longer, word.toLowerCase(), missing.beginnings) ?? [])],
      isShort: longer => longer.length >= MANY_LONGER,
    };
    return { ...spoken, typing, words, has: term => known(this.#terms, term, missing.terms) ?? false };
  }

  async #rank(made: QueryPlan): Promise<Ranked> {
    return { ...(await this.#reorder(await this.#find(made), made)), relaxed: false, loose: false };
  }

  async #find(made: QueryPlan): Promise<FoundPart> {
    const statistics = await this.#index.statistics(made.worded ? made.match : '');
    return this.#index.find({ plan: toldPlan(made), asking: this.#asking, statistics });
  }

  /** Pages that have some of the words, those with all of them among them. */
  async #some(made: QueryPlan, all: Ranked): Promise<Ranked> {
    const match = await this.#loosen(made);
    const some = await this.#find({ ...made, match, head: match });
    const ranked = await this.#reorder(some, made);
    if (all.total === 0) return { ...ranked, relaxed: true, loose: true };
    return { ...ranked, total: all.total, exact: all.exact, relaxed: false, loose: true };
  }

  /** Any of the plain words instead of all; words that nearly every page has say nothing and are left out. */
  async #loosen(made: QueryPlan): Promise<string> {
    const matches = made.loose.map(({ match }) => match);
    const { counts, pages } = await this.#index.counts(matches, SCORED);
    const common = Math.min(SCORED, Math.max(WINDOW, COMMON * pages));
    const telling = matches.filter((_, i) => counts[i]! < common);
    const any = `(${(telling.length > 0 ? telling : matches).join(' OR ')})`;
    return made.strict === '' ? any : `${made.strict} AND ${any}`;
  }

  async #reorder(found: FoundPart, made: QueryPlan): Promise<Omit<Ranked, 'relaxed' | 'loose'>> {
    const top = found.rows.slice(0, REORDERED);
    const prints = new Map(top.flatMap(({ id, print }) => (print ? [[id, print] as const] : [])));
    const named = new Set(top.filter(row => row.named).map(({ id }) => id));
    const byNames = sorted(top.map(({ id, score, factor = 1 }) => ({ id, score: score * factor })));
    const together = made.loose.length > 1 && !named.has(byNames[0]?.id ?? 0);
    const reordered = together ? await this.#together(byNames, made, prints) : byNames;
    const { best, alike } = this.#asking.unfold
      ? { best: reordered, alike: new Map<number, number>() }
      : folded(reordered, prints);
    const rows: readonly FoundPage[] = [...best, ...found.rows.slice(top.length)];
    const { total, exact } = found;
    return {
      pages: rows.map(row => row.id),
      scores: rows.map(row => row.score),
      named: rows.length > 0 && named.has(rows[0]!.id),
      ...{ alike, total, exact },
    };
  }

  /** The best few, by how near each other the words stand in them. */
  async #together(
    rows: readonly { id: number; score: number }[],
    made: QueryPlan,
    prints: ReadonlyMap<number, Print>,
  ): Promise<{ id: number; score: number }[]> {
    const few = rows.slice(0, LOOKED_AT);
    const pages = few.map(({ id }) => ({ id, language: prints.get(id)?.language ?? '' }));
    const factors = await this.#index.near(pages, toldPlan(made));
    const near = few.map(({ id, score }) => ({ id, score: score * (factors.get(id) ?? 1) }));
    return sorted([...near, ...rows.slice(LOOKED_AT)]);
  }
}
