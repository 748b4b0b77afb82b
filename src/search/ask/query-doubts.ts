/**
 * Which words of a query seem misspelt, and what they nearly are. Cautious where pages were found: only what no page writes
 * so, or hardly one does while many have its neighbour. What is written in one and stands apart in a name is of these, too.
 */
import { NO_RULES } from '../terms/stems.ts';
import { isListed, type WordList } from '../terms/word-list.ts';
import { termOf } from '../terms/words.ts';
import { formsOf, HEAD, quote, type Vocabulary } from './asked.ts';
import type { QueryPlan } from './match.ts';
import { FEW, type Ranked, type Ranker } from './rank.ts';
import { asName, commonest, FEW_BEGUN, FEW_PAGES, halvesOf, SHORT_QUERY, type Spelling, TIMES } from './spelling.ts';

type Languages = Pick<Vocabulary, 'languages' | 'others'>;

/** Pages that are counted to compare two ways of writing a word. */
const COUNTED = 100;

export class QueryDoubts {
  readonly #ranker: Ranker;
  readonly #words: WordList;
  readonly #spelling: Spelling;
  readonly #spoken: Languages;

  constructor(...[ranker, words, spelling, spoken]: [Ranker, WordList, Spelling, Languages]) {
    this.#ranker = ranker;
    this.#words = words;
    this.#spelling = spelling;
    this.#spoken = spoken;
  }

  /** Words that were found and seem misspelt all the same, with what they nearly are. */
  mistaken({ plan: { loose }, ranked }: { plan: QueryPlan; ranked: Ranked }): Map<string, string> {
    const meant = new Map<string, string>();
    for (const { text } of loose.length > SHORT_QUERY ? [] : loose) {
      const near = this.#nearly(text, !ranked.named && ranked.total < FEW);
      if (near !== undefined) meant.set(text, near);
    }
    return meant;
  }

  /**
   * What a word nearly is that hardly a page has: no page writes it so, another form of it was found; or, where `few` pages
   * were, hardly one does, and none in its name, and it has made the same mistake. Undefined = it seems to be right.
   */
  #nearly(text: string, few: boolean): string | undefined {
    const pages = isListed(text) ? this.#doubtful(text, few) : undefined;
    if (pages === undefined) return undefined;
    const apart = this.#apart(text);
    if (apart !== undefined) return apart;
    const near = this.#spelling.correct(text);
    // `bufferedr` is the beginning of a rare word, not the common one before its last letter.
    if (near === undefined || (pages > 0 && near.startsWith(text.slice(0, -1).toLowerCase()))) return undefined;
    return this.#ranker.pagesWith(near, this.#spoken) >= TIMES * pages ? near : undefined;
  }

  /** A word that no page writes is nearly one that many pages do. */
  isClearlyMisspelt({ loose }: QueryPlan): boolean {
    return loose.some(({ text }) => {
      const near = this.#nearly(text, false);
      return near !== undefined && this.#ranker.pagesWith(near, this.#spoken) >= TIMES;
    });
  }

  /** The pages that have a word which seems misspelt. */
  #doubtful(text: string, few: boolean): number | undefined {
    if (!this.#words.has(text)) {
      const longer = this.#words.longer(text);
      if (longer.length === 0) return 0;
      const beginning = `${quote([termOf(text, NO_RULES)])} *`;
      const pages = this.#words.isShort(longer) ? 0 : this.#ranker.finder.countAll(beginning, FEW_BEGUN + 1);
      if (pages > 0 && pages <= FEW_BEGUN) return pages;
    }
    const pages = few ? this.#pagesOf(text) : 0;
    return pages === 0 || pages > FEW_PAGES ? undefined : pages;
  }

  /** Written in two, as a name of some page has it. */
  #apart(text: string): string | undefined {
    const ways = halvesOf(text);
    return commonest(
      ways,
      ways.map(way => this.#ranker.finder.countAll(asName(way, this.#spoken), COUNTED)),
    );
  }

  /** How many pages have the word, where that is few and none has it in its name; else 0. */
  #pagesOf(word: string): number {
    const { finder } = this.#ranker;
    const forms = formsOf(word, this.#spoken);
    return finder.isKnown(HEAD + forms) ? 0 : finder.countAll(forms, FEW_PAGES + 1);
  }

  /** The query with other words for those that hardly a page has; undefined = there are none, or none that come near. */
  meant(key: string, asked: QueryPlan): string | undefined {
    let corrected = key;
    const unknown = new Set(this.#ranker.unknown(asked));
    for (const { text } of asked.loose) {
      const meant = unknown.has(text) ? (this.#apart(text) ?? this.#spelling.correct(text)) : this.#nearly(text, true);
      if (meant !== undefined) corrected = corrected.replace(text, () => meant);
    }
    return corrected === key ? undefined : corrected;
  }
}
