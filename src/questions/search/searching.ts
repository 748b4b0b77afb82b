/** Searches a collection: a single partition by its own index, several together. */
import { freshnessNow } from '../../home/answers/why.ts';
import type { QueryOptions, Results, SpreadRow } from '../../search/index.ts';
import { type WideIndex, wideQuery, wideResults } from '../../search/wide/wide-search.ts';
import type { OpenCollection } from '../collection.ts';
import type { PartitionReader } from '../partition-reader.ts';
import { type IndexProgress, indexOf } from './index-of.ts';
import {
  countsQuestion,
  findQuestion,
  languagesQuestion,
  nearestQuestion,
  nearQuestion,
  showHitsQuestion,
  spreadQuestion,
  statisticsQuestion,
  wordsQuestion,
} from './parts.ts';

/** `freshness` comes from the schedule unless it is given; each of several partitions tells that of its own pages. */
type SearchWanted = QueryOptions;

/** `onProgress`: pages read so far, where the index must first be brought up to date. */
export async function searchCollection(
  collection: OpenCollection,
  text: string,
  wanted: SearchWanted,
  onProgress?: IndexProgress,
): Promise<Results> {
  const only = collection.partitions === 1 ? collection.here[0] : undefined;
  if (only) return searchOne(only, text, wanted, onProgress);
  return wideQuery(together(collection, onProgress), text, wanted);
}

interface SearchedWide {
  readonly results: Results;
  /** The best matches, a thousand at most, over which common properties are counted. */
  readonly spread: readonly SpreadRow[];
}

/** For showing how results divide; this does not count as interest in a page. */
export async function searchWithSpread(
  collection: OpenCollection,
  text: string,
  wanted: SearchWanted,
): Promise<SearchedWide> {
  const only = collection.partitions === 1 ? collection.here[0] : undefined;
  if (only) {
    const { search } = await indexOf(only);
    return { results: marked(only, search.query(text, wanted)), spread: search.spread(text, wanted) };
  }
  const { results, pages } = await wideResults(together(collection), text, wanted);
  return { results, spread: await collection.ask(spreadQuestion, { pages }) };
}

async function searchOne(
  reader: PartitionReader,
  text: string,
  wanted: SearchWanted,
  onProgress?: IndexProgress,
): Promise<Results> {
  const { search } = await indexOf(reader, onProgress);
  const freshness = wanted.freshness ?? freshnessNow(reader.ledger, wanted.now ?? Date.now());
  return marked(reader, search.query(text, { ...wanted, freshness }));
}

/** Marks pages to which no link leads. */
function marked({ ledger }: PartitionReader, results: Results): Results {
  const hits = results.hits.map(hit => {
    const hidden = ledger.links.hidden.of(hit.page);
    return hidden ? { ...hit, hidden } : hit;
  });
  return { ...results, hits };
}

function together(collection: OpenCollection, onProgress?: IndexProgress): WideIndex {
  return {
    languages: () => collection.ask(languagesQuestion, {}, onProgress),
    words: asked => collection.ask(wordsQuestion, asked),
    counts: (expressions, most) => collection.ask(countsQuestion, { expressions, most }),
    nearest: words => collection.ask(nearestQuestion, { words }),
    statistics: match => collection.ask(statisticsQuestion, { match }),
    find: asked => collection.ask(findQuestion, asked),
    near: async (pages, plan) => new Map(await collection.ask(nearQuestion, { pages, plan })),
    show: (pages, { terms, beginnings }, now, searched) =>
      collection.ask(showHitsQuestion, { pages, plan: { terms, beginnings }, now, searched }),
  };
}
