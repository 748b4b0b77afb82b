/** The form of arguments and parts that cross machines: kinds, lengths and bounds. A test holds real answers against them. */
import { z } from 'zod';
import { pageOrderNames } from '../../ledger/queries/page-list.ts';
import { AT_ONCE } from '../listing.ts';

export const MOST_ROWS = AT_ONCE;
export const MOST_VERSIONS = 2;
/** Of one page. */
const MOST_VISITS = 100_000;
const MOST_LINKS = 200_000;
/** Characters: of a URL, of a sentence or title, and of a body in base64. */
const LONGEST_URL = 8192;
const LONGEST_TEXT = 20_000;
const LONGEST_BODY = 400_000_000;

export const url = z.string().max(LONGEST_URL);
export const text = z.string().max(LONGEST_TEXT);
export const word = z.string().max(1000);
/** Counts, bytes, times, shares. */
export const figure = z.number();
export const count = z.int().min(0);
const maybeFigure = figure.nullable();
export const list = <T extends z.ZodType>(of: T, most: number) => z.array(of).max(most);
const scalar = z.union([z.string().max(LONGEST_TEXT), z.number(), z.boolean(), z.null()]);
const named = (most: number) =>
  z.record(word, scalar).refine(record => Object.keys(record).length <= most, 'too many names');

export const noArgs = z.object({});
export const aboutPage = z.object({ urls: list(url, 2).min(1), now: figure });

export const status = z.object({
  ...{ known: count, stored: count, waiting: z.int(), retries: count, servers: count },
  ...{ archiveBytes: figure, diskBytes: figure, weekBytes: figure, wireBytes: figure, lastVisit: maybeFigure },
  notCopied: maybeFigure,
  outcomes: list(z.object({ outcome: word, reason: word, pages: z.int() }), 1000),
  refused: z.record(word, z.int()).refine(record => Object.keys(record).length <= 1000, 'too many reasons'),
  largest: list(z.object({ origin: url, pages: z.int(), notBefore: figure }), 100),
});

const outcomes = ['fetched', 'same', 'moved', 'gone', 'refused', 'failed'] as const;

export const pagesWanted = z.object({
  pattern: url.optional(),
  outcome: z.enum([...outcomes, 'waiting']).optional(),
  type: word.optional(),
  order: z.enum(pageOrderNames as [string, ...string[]]),
  outOfScope: z.boolean(),
  limit: count,
});
export const listedPage = z.object({ key: z.union([url, z.number(), z.null()]), id: count, page: named(40) });

const mask = z.object({ evidence: word, told: text, because: text });

export const shown = z.object({
  ...{ url, state: text, details: named(100), facts: named(100) },
  masks: list(mask, 10_000),
  visits: list(named(20), MOST_VISITS),
});

export const why = z.object({
  ...{ url, state: text, rule: word, policy: word, notices: figure, searches: figure, masks: list(mask, 10_000) },
  explanation: z
    .object({
      ...{ history: word, rate: maybeFigure, changedByNow: figure, importance: figure, due: figure, sentence: text },
      confidence: z.object({ low: maybeFigure, high: maybeFigure, word }),
      ...{ value: maybeFigure, theta: maybeFigure },
    })
    .optional(),
  server: z
    .object({
      ...{ origin: url, paused: z.boolean(), notBefore: figure, validatorsTrusted: z.boolean(), audits: figure },
      ...{ lies: figure, notices: figure, trueNotices: figure, multiplier: figure },
    })
    .optional(),
  machine: z.object({
    placement: z.object({ machine: word, reason: word, because: text }).optional(),
    last: word,
  }),
});

const visit = z.object({
  ...{ time: figure, outcome: word, reason: word, means: text, status: z.int(), stage: word.nullable() },
  ...{ amount: maybeFigure, removed: maybeFigure, added: maybeFigure, bytes: figure, cause: word, ms: figure },
  ...{ outpost: word, version: z.int().nullable() },
});
export const history = z.object({ url, timeline: list(visit, MOST_VISITS) });

const link = z.object({ url, anchor: text, nofollow: z.boolean() });
export const links = list(link, MOST_LINKS);
export const linksOut = z.object({ url, links });

export const copyWanted = aboutPage.extend({ which: z.enum(['newest', 'current']) });
export const versionsWanted = aboutPage.extend({ versions: list(z.int().min(1), MOST_VERSIONS) });
export const copy = z.object({
  ...{ url, time: figure, status: z.int() },
  headers: list(z.tuple([word, z.string().max(1_000_000)]), 10_000),
  ...{ head: z.string().max(LONGEST_BODY), body: z.string().max(LONGEST_BODY) },
  problem: z.enum(['bad-coding', 'bomb', 'too-large', 'cut-short']).optional(),
});
export const copyTold = z.object({
  ...{ url, copy: copy.nullable(), whyNot: text },
  inferred: z.object({ time: figure, pages: count }).optional(),
});

const flag = z.boolean().optional();
export const changesWanted = z.object({
  ...{ since: figure.optional(), until: figure.optional(), from: count.optional(), before: count.optional() },
  ...{ pattern: url.optional(), first: flag, quiet: flag, template: flag, limit: count },
});
export const change = z.object({
  ...{ id: count, page: count, time: figure, url, server: count, title: text.nullable() },
  kind: z.enum(['changed', 'new', 'gone', 'moved', 'back', 'template']),
  ...{ reason: word, means: text, stage: word.nullable(), levels: list(z.int(), 10_000).optional() },
  ...{ amount: maybeFigure, removed: maybeFigure, added: maybeFigure, shownBy: list(url, 100).optional() },
});
export const editsWanted = z.object({ since: figure, pattern: url.optional() });
export const templateEdits = list(
  z.object({ origin: url, time: figure, pages: count, removed: maybeFigure, added: maybeFigure }),
  100_000,
);

export const accountWanted = z.object({ first: z.int(), lookedAt: count.max(1_000_000) });
const sums = { visits: z.int(), spent: figure, avoided: figure };
const way = { up: figure, down: figure };
const line = z.object({ ...way, servers: z.object(way), outposts: z.object(way), elsewhere: z.object(way) });
export const accountPart = z.object({
  causes: list(z.object({ cause: word, ...sums }), 1000),
  days: list(z.object({ day: word, ...sums, changed: z.int(), freshness: maybeFigure }), 100_000),
  servers: list(z.object({ origin: url, ...sums }), 1_000_000),
  stages: list(z.object({ stage: word, pages: z.int(), changed: z.int(), down: figure }), 1000),
  ...{ line, stored: z.int() },
});

export const modelFigures = z.object({
  thresholds: z.object({ low: figure, high: figure }).nullable(),
  groups: list(z.object({ probability: figure, pages: count }), 1_000_000),
  sizes: z.object({ pages: count, bytes: figure, wire: figure }),
  ...{ line: figure, links: figure, linked: figure, repeated: figure },
});

export const verified = z.object({
  ...{ records: count, segments: count, bytes: figure, digests: count, copies: count, writtenOff: count, lost: count },
  ...{ ledgerDamaged: z.boolean(), problems: list(text, 10_000) },
});
