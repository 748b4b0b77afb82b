/** Pages in parts: by key, so that a part costs the same wherever it lies, and never counted. */
import { z } from 'zod';
import { meaningOf } from '../../home/answers/why.ts';
import type { KeyedPage } from '../../ledger/queries/listings.ts';
import { sumOf } from '../../questions/question.ts';
import type { Reader, ReadPartition } from '../reader.ts';
import { listRoute, partsAbout, route } from './route.ts';
import { after, bytes, limit, list, means, next, outcome, time } from './shared.ts';

const pageLine = z
  .object({
    ...{ id: z.int(), url: z.string(), server: z.int(), depth: z.int().describe('links from a seed') },
    found: time,
    outcome: z.enum([...outcome.options, 'waiting']).describe('of the last visit'),
    ...{ reason: z.string().nullable(), means, title: z.string().nullable(), status: z.int().nullable() },
    type: z.string().nullable().describe('media type'),
    bytes: bytes.nullable().describe('of its body'),
    time: time.nullable().describe('of the last visit'),
    changed: time.nullable().describe('when a change was last seen'),
    due: time.nullable(),
  })
  .meta({ id: 'PageLine' });

export type PageLine = z.infer<typeof pageLine>;

type PageListInput = z.infer<typeof listInput>;

const filterInput = z.object({
  find: z.string().max(500).default('').describe('part of the URL; * stands for anything'),
  outcome: z.enum(['', ...outcome.options, 'waiting']).default(''),
  server: z.coerce.number().int().min(0).default(0).describe('id of a server; 0 = all'),
  type: z.string().max(100).default('').describe('beginning of the media type, as text/html or image/'),
  status: z
    .string()
    .regex(/^(?:[1-5][0-9x]{2})?$/, 'write a status such as 404 or 4xx')
    .default('')
    .describe('of HTTP, as 404 or 4xx'),
});

const listInput = filterInput.extend({
  order: z.enum(['found', 'newest', 'visited', 'changed']).default('found'),
  after,
  limit,
});

/** In one order for all partitions; within one, rows come by the keys that the ledger pages by. */
const orders: Readonly<Record<PageListInput['order'], (one: PageLine, two: PageLine) => number>> = {
  found: (one, two) => one.found - two.found || one.id - two.id,
  newest: (one, two) => two.found - one.found || two.id - one.id,
  visited: (one, two) => (two.time ?? 0) - (one.time ?? 0) || two.id - one.id,
  changed: (one, two) => (two.changed ?? 0) - (one.changed ?? 0) || two.id - one.id,
};

/** `4xx` is all from 400 to 499. */
function statusesOf(text: string): readonly [number, number] | undefined {
  return text === '' ? undefined : [Number(text.replaceAll('x', '0')), Number(text.replaceAll('x', '9'))];
}

function lineOf(part: ReadPartition, { key: _, ...row }: KeyedPage): PageLine {
  const means = row.reason === null ? '' : meaningOf(row.reason);
  return { ...row, id: part.told(row.id), server: part.told(row.server), means };
}

function countPages(reader: Reader, { status, ...input }: z.infer<typeof filterInput>) {
  const counts = partsAbout(reader, input.server).map(part =>
    part.ledger.queries.listings.count({ ...input, status: statusesOf(status), server: part.local(input.server) }),
  );
  return { pages: sumOf(counts.map(({ pages }) => pages)), whole: counts.every(({ whole }) => whole) };
}

export const pageListRoute = listRoute({
  method: 'get',
  path: '/pages',
  summary: 'A part of the pages, by URL, outcome or server. Ask again with `after` = `next` until that is null.',
  input: listInput,
  output: z.object({ pages: list(pageLine), next }).meta({ id: 'PageList' }),
  list: {
    row: pageLine,
    server: ({ server }) => server,
    after: ({ after }) => after,
    limit: ({ limit }) => limit,
    compare: ({ order }) => orders[order],
    rows(part, { status, server, ...input }, after) {
      const statuses = statusesOf(status);
      const found = part.ledger.queries.listings.pages({
        ...input,
        status: statuses,
        server: part.local(server),
        after,
      });
      return { rows: found.rows.map(row => ({ key: row.key, row: lineOf(part, row) })), next: found.next };
    },
    told: (pages, next) => ({ pages, next }),
  },
});

export const pageCountRoute = route({
  method: 'get',
  path: '/count',
  summary: 'How many pages there are by URL, outcome, type, status or server, among the newest 200,000.',
  input: filterInput,
  output: z
    .object({ pages: z.int(), whole: z.boolean().describe('false = older pages were not looked at') })
    .meta({ id: 'PageCount' }),
  answer: (input, { reader }) => countPages(reader, input),
});
