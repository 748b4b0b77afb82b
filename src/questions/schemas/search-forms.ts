/** The form of what crosses machines in a search: every field of questions and results must be named here. */
import { z } from 'zod';
import { WINDOW } from '../../search/ask/find.ts';
import type { Print } from '../../search/ask/rank.ts';
import type { ToldPlan } from '../../search/wide/part.ts';
import { count, figure, list, text, url, word } from './forms.ts';

/** Words and phrases of one query; an expression of all of them. */
const MOST_WORDS = 10_000;
const expression = z.string().max(200_000);
const words = list(word, MOST_WORDS);

export const languages = list(z.object({ language: word, pages: count }), 10_000);

export const wordsAsked = z.object({ terms: words, words, beginnings: words });
export const wordsTold = z.object({
  terms: list(z.boolean(), MOST_WORDS),
  words: list(z.boolean(), MOST_WORDS),
  longer: list(list(word, 100), MOST_WORDS),
});

export const countsAsked = z.object({ expressions: list(expression, MOST_WORDS), most: count });
export const countsTold = z.object({ counts: list(count, MOST_WORDS), pages: count });

export const nearestAsked = z.object({ words });
export const nearestTold = list(z.object({ words: list(word, 100_000), mistakes: count }), MOST_WORDS);

export const statisticsAsked = z.object({ match: expression });
export const statistics = z.object({ pages: count, length: figure, frequencies: list(count, MOST_WORDS) });

const highlighted = { terms: words, beginnings: words };
const plan = z.object({
  ...{ match: expression, head: expression, some: expression, strict: expression, signed: expression },
  ...{ worded: z.boolean(), names: words, language: z.object({ name: word, others: figure }) },
  changed: list(z.object({ kind: z.literal('changed'), within: z.boolean(), age: figure }), 100),
  words: list(z.object({ text: word, small: z.boolean() }), MOST_WORDS),
  loose: list(z.object({ text: word, match: expression, terms: words, beginnings: words }), MOST_WORDS),
  ...highlighted,
}) satisfies z.ZodType<ToldPlan>;

export const findAsked = z.object({
  ...{ plan, statistics },
  asking: z.object({ now: figure, language: word, unfold: z.boolean() }),
});
const print = z.object({
  ...{ title: text, language: word, content: figure, high: figure, low: figure, version: url, release: figure },
}) satisfies z.ZodType<Print>;
const row = z.object({
  ...{ id: count, score: figure },
  ...{ factor: figure.optional(), named: z.boolean().optional(), print: print.optional() },
});
export const foundPart = z.object({ rows: list(row, WINDOW), total: count, exact: z.boolean() });

export const nearAsked = z.object({ pages: list(z.object({ id: count, language: word }), 100), plan });
export const nearTold = list(z.tuple([count, figure]), 100);

const fragments = list(z.object({ text, hit: z.boolean() }), 1000);
export const showAsked = z.object({
  ...{ pages: list(count, 100), plan: z.object(highlighted), now: figure, searched: z.string().max(200) },
});
export const shownHits = list(
  z.object({
    ...{ page: count, url, title: fragments, snippet: fragments, language: word, mediaType: word, fetched: figure },
    ...{ changed: figure, changedProbability: figure.optional(), copy: z.boolean(), telling: text },
    hidden: z.enum(['record', 'media']).optional(),
  }),
  100,
);

export const spreadAsked = z.object({ pages: list(count, WINDOW) });
export const spread = list(z.object({ url, language: word, mediaType: word, changed: figure }), WINDOW);

export const inferredAsked = z.object({ pages: list(count, 100) });
export const inferredTold = list(count, 100);

export const lag = z.object({ behind: count, fed: z.boolean() });
export const openedAsked = z.object({ page: count, url });
