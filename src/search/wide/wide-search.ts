/**
 * A query over several indexes, whose results are those of one index that has all their pages. The steps are those of
 * answer.ts. What a step needs to know is asked of all indexes first and summed: languages, words, how many pages have
 * each phrase; then each finds its best by scores that all of them share (scorer.ts), and the best of all are reordered,
 * folded and shown as rank.ts does it.
 */
import { SkeinError } from '../../base/errors.ts';
import { type LanguageCount, type Spoken, spokenBy } from '../ask/answer.ts';
import { formsOf, type Vocabulary } from '../ask/asked.ts';
import { COMMON, SCORED, WINDOW } from '../ask/find.ts';
import { HEAD, plan, type QueryPlan } from '../ask/match.ts';
import { LOOKED_AT } from '../ask/proximity.ts';
import { mayGoOn, parseQuery, type Query } from '../ask/query.ts';
import { ALL, FEW, folded, type Print, type Ranked, type Ranking, REORDERED, sorted } from '../ask/rank.ts';
import { comparedTo, FEW_PAGES, likeliest, type Nearest, SHORT_QUERY, TIMES } from '../ask/spelling.ts';
import type { Hit, QueryOptions, Results } from '../document.ts';
import { primaryLanguage } from '../terms/stems.ts';
import { isListed, type WordList } from '../terms/word-list.ts';
import type { CountsTold, FindAsked, FoundPage, FoundPart, ToldPlan, WordsAsked, WordsTold } from './part.ts';
import { toldPlan } from './part.ts';
import type { Statistics } from './scorer.ts';

/** What a hit is before who asks adds what depends on all of them. */
export type WideHit = Omit<Hit, 'score' | 'alike' | 'age'> & { readonly telling: string };

/** All indexes together, in the numbers that whoever joins them gives their pages. */
export interface WideIndex {
  languages(): Promise<readonly LanguageCount[]>;
  words(asked: WordsAsked): Promise<WordsTold>;
  counts(expressions: readonly string[], most: number): Promise<CountsTold>;
  nearest(words: readonly string[]): Promise<readonly Nearest[]>;
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
/** Pages up to which a word is counted where words are compared. */
const COUNTED = 1000;

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
    if (!found.ranked.named && mayGoOn(query)) {
      const typed = await this.#plan(query, true, spoken);
      if (typed.match !== found.plan.match) {
        const ranked = await this.#rank(typed);
        if (ranked.total > found.ranked.total) found = { plan: typed, ranked };
      }
    }
    if (found.ranked.total === 0 && spoken.others.length > 0)
      found = await this.#all(query, { languages: [...spoken.languages, ...spoken.others], others: [] });
    const { total, named } = found.ranked;
    const mistaken = total > 0 ? await this.#mistaken(found, spoken) : new Map<string, string>();
    if (mistaken.size > 0) return this.#all(query, { ...spoken, meant: mistaken });
    if (total >= FEW || (named && total > 0)) return found;
    const meant = total === 0 ? await this.#meant(key, found.plan, spoken) : undefined;
    if (meant !== undefined || found.plan.some === '') {
      const nothing = total === 0;
      return { plan: found.plan, ranked: { ...found.ranked, relaxed: nothing, loose: nothing }, meant };
    }
    return { plan: found.plan, ranked: await this.#some(found.plan, found.ranked) };
  }

  async #all(query: Query, spoken: Spoken): Promise<WideAnswer> {
    const made = await this.#plan(query, false, spoken);
    return { plan: made, ranked: await this.#rank(made) };
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
    const whole = new Set(all.pages);
    const rows = some.rows.map(row => (whole.has(row.id) ? { ...row, score: row.score * ALL } : row));
    const ranked = await this.#reorder({ ...some, rows: sorted(rows) }, made);
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

  /** Words that were found and seem misspelt all the same, with what they nearly are (answer.ts says which). */
  async #mistaken({ plan: { loose }, ranked }: WideAnswer, spoken: Spoken): Promise<Map<string, string>> {
    const words = loose.length > SHORT_QUERY ? [] : loose.flatMap(({ text }) => (isListed(text) ? text : []));
    const few = !ranked.named && ranked.total < FEW;
    const { words: known, longer } = await this.#index.words({ terms: [], words, beginnings: words });
    const foreign = words.filter((_, i) => !known[i] && longer[i]!.length === 0);
    const pages = new Map(foreign.map(word => [word, 0]));
    if (few)
      for (const [word, count] of await this.#rare(
        words.filter(each => !pages.has(each)),
        spoken,
      ))
        pages.set(word, count);
    const nearest = await this.#index.nearest([...pages.keys()]);
    const meant = new Map<string, string>();
    for (const [i, [word, count]] of [...pages].entries()) {
      const near = await this.#likeliest(word, nearest[i]!.words, spoken);
      if (near === undefined) continue;
      const { counts } = await this.#index.counts([formsOf(near, spoken)], COUNTED);
      if (Math.min(COUNTED, counts[0]!) >= TIMES * count) meant.set(word, near);
    }
    return meant;
  }

  /** Words that few pages have, and none in its name, with how many. */
  async #rare(words: readonly string[], spoken: Spoken): Promise<Map<string, number>> {
    const forms = words.map(word => formsOf(word, spoken));
    const { counts } = await this.#index.counts(forms, FEW_PAGES + 1);
    const inNames = forms.map(form => HEAD + form);
    const { counts: named } = await this.#index.counts(inNames, 1);
    const isRare = (i: number) => counts[i]! > 0 && counts[i]! <= FEW_PAGES && named[i] === 0;
    return new Map(words.flatMap((word, i) => (isRare(i) ? [[word, counts[i]!] as const] : [])));
  }

  /** The query with other words for those that no page has; undefined = there are none, or none that come near. */
  async #meant(key: string, made: QueryPlan, spoken: Spoken): Promise<string | undefined> {
    const { counts } = await this.#index.counts(
      made.loose.map(({ match }) => match),
      1,
    );
    const unknown = made.loose.filter((_, i) => counts[i] === 0).map(({ text }) => text);
    const nearest = await this.#index.nearest(unknown);
    let corrected = key;
    for (const [i, word] of unknown.entries()) {
      const meant = await this.#likeliest(word, nearest[i]!.words, spoken);
      if (meant !== undefined) corrected = corrected.replace(word, () => meant);
    }
    return corrected === key ? undefined : corrected;
  }

  async #likeliest(word: string, near: readonly string[], spoken: Spoken): Promise<string | undefined> {
    const compared = comparedTo(word, near);
    const { counts } = await this.#index.counts(
      compared.map(each => formsOf(each, spoken)),
      COUNTED,
    );
    return likeliest(word, new Map(compared.map((each, i) => [each, Math.min(COUNTED, counts[i]!)])));
  }
}

/** As many longer words as an index gives. */
const MANY_LONGER = 20;
