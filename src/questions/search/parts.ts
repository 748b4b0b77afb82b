/**
 * The questions that a search over several partitions consists of (src/search/wide/wide-search.ts). Pages are named by their
 * public numbers (numbers.ts).
 */
import { freshnessNow } from '../../home/answers/why.ts';
import { inferredOf } from '../../home/copies/copies.ts';
import { pagesBehind } from '../../home/indexing/index-lag.ts';
import type { LanguageCount } from '../../search/ask/answer.ts';
import type { Nearest } from '../../search/ask/spelling.ts';
import type { SpreadRow } from '../../search/index.ts';
import { joinedCounts, joinedFound, joinedLanguages, joinedNearest, joinedWords } from '../../search/wide/join.ts';
import type {
  CountsTold,
  FindAsked,
  FoundPart,
  SearchPart,
  ToldPlan,
  WordsAsked,
  WordsTold,
} from '../../search/wide/part.ts';
import { phrasesOf } from '../../search/wide/phrases.ts';
import { type Statistics, summedStatistics } from '../../search/wide/scorer.ts';
import type { WideHit } from '../../search/wide/wide-search.ts';
import { localNumber, toldNumber } from '../numbers.ts';
import type { PartitionReader } from '../partition-reader.ts';
import type { Question } from '../question.ts';
import type { NoArgs } from '../whole/status.ts';
import { indexOf } from './index-of.ts';

/** The first so many results count as shown to somebody. */
const SHOWN = 3;

async function partOf(reader: PartitionReader): Promise<SearchPart> {
  return (await indexOf(reader)).search.part;
}

/** Asked first: it brings an index up to date that no process feeds. */
export const languagesQuestion: Question<NoArgs, readonly LanguageCount[], readonly LanguageCount[]> = {
  name: 'search-languages',
  ask: async (reader, _, onProgress) => (await indexOf(reader, onProgress)).search.part.languages(),
  merge: (_, parts) => joinedLanguages(parts),
};

export const wordsQuestion: Question<WordsAsked, WordsTold, WordsTold> = {
  name: 'search-words',
  ask: async (reader, asked) => (await partOf(reader)).words(asked),
  merge: (_, parts) => joinedWords(parts),
};

interface CountsAsked {
  readonly expressions: readonly string[];
  readonly most: number;
}

export const countsQuestion: Question<CountsAsked, CountsTold, CountsTold> = {
  name: 'search-counts',
  ask: async (reader, { expressions, most }) => (await partOf(reader)).counts(expressions, most),
  merge: (_, parts) => joinedCounts(parts),
};

export const nearestQuestion: Question<{ readonly words: readonly string[] }, readonly Nearest[], readonly Nearest[]> =
  {
    name: 'search-nearest',
    ask: async (reader, { words }) => (await partOf(reader)).nearest(words),
    merge: (_, parts) => joinedNearest(parts),
  };

export const statisticsQuestion: Question<{ readonly match: string }, Statistics, Statistics> = {
  name: 'search-statistics',
  ask: async (reader, { match }) => (await partOf(reader)).statistics(match),
  merge: ({ match }, parts) => summedStatistics(parts, phrasesOf(match).length),
};

export const findQuestion: Question<FindAsked, FoundPart, FoundPart> = {
  name: 'search-find',
  async ask(reader, asked) {
    const { rows, ...found } = (await partOf(reader)).find(asked);
    return { ...found, rows: rows.map(row => ({ ...row, id: toldNumber(row.id, reader) })) };
  },
  merge: (_, parts) => joinedFound(parts),
};

/** The ids of those public numbers that belong to one partition. */
function ownOf(pages: readonly number[], { id, partitions }: PartitionReader): number[] {
  return pages
    .map(page => localNumber(page, partitions))
    .flatMap(({ local, partition }) => (partition === id ? [local] : []));
}

interface NearAsked {
  readonly pages: readonly { readonly id: number; readonly language: string }[];
  readonly plan: ToldPlan;
}

type NearTold = readonly (readonly [page: number, factor: number])[];

export const nearQuestion: Question<NearAsked, NearTold, NearTold> = {
  name: 'search-near',
  async ask(reader, { pages, plan }) {
    const part = await partOf(reader);
    const own = pages.filter(({ id }) => localNumber(id, reader.partitions).partition === reader.id);
    const local = own.map(({ id, language }) => ({ id: localNumber(id, reader.partitions).local, language }));
    const factors = part.near(local, plan);
    return own.map(({ id }, i) => [id, factors[i]!] as const);
  },
  merge: (_, parts) => parts.flat(),
};

interface ShowAsked {
  readonly pages: readonly number[];
  readonly plan: Pick<ToldPlan, 'terms' | 'beginnings'>;
  readonly now: number;
  /** The query whose first results these are; empty = later results. */
  readonly searched: string;
}

export const showHitsQuestion: Question<ShowAsked, readonly WideHit[], readonly WideHit[]> = {
  name: 'search-show',
  async ask(reader, { pages, plan, now, searched }) {
    const { search } = await indexOf(reader);
    const freshness = freshnessNow(reader.ledger, now);
    const isFirst = ownOf(pages.slice(0, 1), reader).length > 0;
    if (searched !== '') search.interest.shown(ownOf(pages.slice(0, SHOWN), reader), isFirst ? searched : '');
    return search.part.show(ownOf(pages, reader), plan).map(hit => {
      const { seen: fetched, changedProbability } = freshness(hit.page) ?? {
        seen: hit.fetched,
        changedProbability: undefined,
      };
      const hidden = reader.ledger.links.hidden.of(hit.page);
      return {
        ...{ ...hit, page: toldNumber(hit.page, reader), fetched, changedProbability },
        ...(hidden && { hidden }),
      };
    });
  },
  merge: (_, parts) => parts.flat(),
};

/** What the results of a query have in common is counted over these. */
export const spreadQuestion: Question<
  { readonly pages: readonly number[] },
  readonly SpreadRow[],
  readonly SpreadRow[]
> = {
  name: 'search-spread',
  ask: async (reader, { pages }) => (await indexOf(reader)).search.spreadOf(ownOf(pages, reader)),
  merge: (_, parts) => parts.flat(),
};

/** Those of the pages that the index knows as they were fetched, while readers get an inferred copy. */
export const inferredQuestion: Question<{ readonly pages: readonly number[] }, readonly number[], readonly number[]> = {
  name: 'search-inferred',
  ask(reader, { pages }) {
    const { ledger } = reader;
    const isInferred = (page: number): boolean => {
      const known = ledger.pages.known(page);
      return known !== undefined && inferredOf(ledger, known) !== null;
    };
    return ownOf(pages, reader)
      .filter(isInferred)
      .map(page => toldNumber(page, reader));
  },
  merge: (_, parts) => parts.flat(),
};

export interface IndexLag {
  /** Pages that have changed since they were indexed. */
  readonly behind: number;
  /** A running Skein adds them. */
  readonly fed: boolean;
}

export const lagQuestion: Question<NoArgs, IndexLag, IndexLag> = {
  name: 'search-lag',
  async ask(reader) {
    const { search, fed } = await indexOf(reader);
    return { behind: pagesBehind(reader.ledger, search.updates.cursor()), fed };
  },
  merge: (_, parts) => ({
    behind: parts.reduce((sum, { behind }) => sum + behind, 0),
    fed: parts.some(({ fed }) => fed),
  }),
};

/** Somebody opened a result: it counts as interest in the page. */
export const openedQuestion: Question<{ readonly page: number; readonly url: string }, boolean, boolean> = {
  name: 'search-opened',
  about: ({ url }) => [url],
  async ask(reader, { page }) {
    const [local] = ownOf([page], reader);
    if (local !== undefined) (await indexOf(reader)).search.interest.opened(local);
    return local !== undefined;
  },
  merge: (_, parts) => parts.some(Boolean),
};
