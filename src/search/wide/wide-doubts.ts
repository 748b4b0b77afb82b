/** Which words of a query seem misspelt, asked of several indexes: doubts.ts says which, and why. */
import type { Spoken } from '../ask/answer.ts';
import { formsOf, HEAD, quote } from '../ask/asked.ts';
import type { QueryPlan } from '../ask/match.ts';
import { FEW, type Ranked } from '../ask/rank.ts';
import {
  asName,
  commonest,
  comparedTo,
  FEW_BEGUN,
  FEW_PAGES,
  halvesOf,
  likeliest,
  type Nearest,
  SHORT_QUERY,
  TIMES,
} from '../ask/spelling.ts';
import { NO_RULES } from '../terms/stems.ts';
import { isListed } from '../terms/word-list.ts';
import { termOf } from '../terms/words.ts';
import type { CountsTold, WordsAsked, WordsTold } from './part.ts';

/** As many longer words as an index gives. */
export const MANY_LONGER = 20;
/** Pages up to which a word is counted where words are compared, and a way to write one. */
const COUNTED = 1000;
const COUNTED_APART = 100;

/** What all indexes together know of words. */
export interface WideWords {
  words(asked: WordsAsked): Promise<WordsTold>;
  counts(expressions: readonly string[], most: number): Promise<CountsTold>;
  nearest(words: readonly string[]): Promise<readonly Nearest[]>;
}

export class WideDoubts {
  readonly #index: WideWords;
  readonly #spoken: Spoken;

  constructor(index: WideWords, spoken: Spoken) {
    this.#index = index;
    this.#spoken = spoken;
  }

  async mistaken({ plan: { loose }, ranked }: { plan: QueryPlan; ranked: Ranked }): Promise<Map<string, string>> {
    const meant = new Map<string, string>();
    for (const { text } of loose.length > SHORT_QUERY ? [] : loose) {
      const near = await this.#nearly(text, !ranked.named && ranked.total < FEW);
      if (near !== undefined) meant.set(text, near);
    }
    return meant;
  }

  async isClearlyMisspelt({ loose }: QueryPlan): Promise<boolean> {
    for (const { text } of loose) {
      const near = await this.#nearly(text, false);
      if (near !== undefined && (await this.#pagesWith(near)) >= TIMES) return true;
    }
    return false;
  }

  /** The query with other words for those that hardly a page has; undefined = there are none, or none that come near. */
  async meant(key: string, { loose }: QueryPlan): Promise<string | undefined> {
    const counts = await this.#count(
      loose.map(({ match }) => match),
      1,
    );
    let corrected = key;
    for (const [i, { text }] of loose.entries()) {
      const meant =
        counts[i] === 0 ? ((await this.#apart(text)) ?? (await this.#correct(text))) : await this.#nearly(text, true);
      if (meant !== undefined) corrected = corrected.replace(text, () => meant);
    }
    return corrected === key ? undefined : corrected;
  }

  async #nearly(text: string, few: boolean): Promise<string | undefined> {
    const pages = isListed(text) ? await this.#doubtful(text, few) : undefined;
    if (pages === undefined) return undefined;
    const apart = await this.#apart(text);
    if (apart !== undefined) return apart;
    const near = await this.#correct(text);
    if (near === undefined || (pages > 0 && near.startsWith(text.slice(0, -1).toLowerCase()))) return undefined;
    return (await this.#pagesWith(near)) >= TIMES * pages ? near : undefined;
  }

  async #doubtful(text: string, few: boolean): Promise<number | undefined> {
    const { words, longer } = await this.#index.words({ terms: [], words: [text], beginnings: [text] });
    if (!words[0]) {
      const found = longer[0]!.length;
      if (found === 0) return 0;
      const beginning = `${quote([termOf(text, NO_RULES)])} *`;
      const pages = found >= MANY_LONGER ? 0 : (await this.#count([beginning], FEW_BEGUN + 1))[0]!;
      if (pages > 0 && pages <= FEW_BEGUN) return pages;
    }
    const pages = few ? await this.#pagesOf(text) : 0;
    return pages === 0 || pages > FEW_PAGES ? undefined : pages;
  }

  async #pagesOf(word: string): Promise<number> {
    const forms = formsOf(word, this.#spoken);
    const [named] = await this.#count([HEAD + forms], 1);
    return named! > 0 ? 0 : (await this.#count([forms], FEW_PAGES + 1))[0]!;
  }

  async #apart(text: string): Promise<string | undefined> {
    const ways = halvesOf(text);
    if (ways.length === 0) return undefined;
    const pages = await this.#count(
      ways.map(way => asName(way, this.#spoken)),
      COUNTED_APART,
    );
    return commonest(ways, pages);
  }

  async #correct(word: string): Promise<string | undefined> {
    const [nearest] = await this.#index.nearest([word]);
    const compared = comparedTo(word, nearest!.words);
    const counts = await this.#count(
      compared.map(each => formsOf(each, this.#spoken)),
      COUNTED,
    );
    return likeliest(word, new Map(compared.map((each, i) => [each, counts[i]!])));
  }

  async #pagesWith(word: string): Promise<number> {
    return (await this.#count([formsOf(word, this.#spoken)], COUNTED))[0]!;
  }

  /** How many pages match, `most` at most, whichever index they are in. */
  async #count(expressions: readonly string[], most: number): Promise<number[]> {
    const { counts } = await this.#index.counts(expressions, most);
    return counts.map(count => Math.min(most, count));
  }
}
