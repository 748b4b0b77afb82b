/** Pages in parts: by key, so that a part costs the same wherever it lies, and never counted. */
import { z } from 'zod';
import { meaningOf } from '../../home/why.ts';
import { globOf } from '../../ledger/pages.ts';
import type { Reader, Value } from '../reader.ts';
import { route } from './route.ts';
import { bytes, limit, list, means, next, outcome, time } from './shared.ts';

/** Rows looked at in one request when a filter matches few of them; the answer then says where to go on. */
const SCANNED = 60_000;

/** How a list is ordered: where its rows come from, and the key that it is paged by, which only ever falls or rises. */
const orders = {
  found: {
    from: 'pages p LEFT JOIN known k ON k.page = p.id',
    key: 'p.id',
    up: true,
    last: 'SELECT max(id) AS n FROM pages',
  },
  newest: {
    from: 'pages p LEFT JOIN known k ON k.page = p.id',
    key: 'p.id',
    up: false,
    last: 'SELECT max(id) AS n FROM pages',
  },
  visited: {
    from: 'visits v JOIN known k ON k.page = v.page AND k.time = v.time JOIN pages p ON p.id = v.page',
    key: 'v.id',
    up: false,
    last: 'SELECT max(id) AS n FROM visits',
  },
  changed: {
    from: 'visits v JOIN known k ON k.page = v.page AND k.changed_time = v.time AND k.seen_time IS NOT NULL JOIN pages p ON p.id = v.page',
    key: 'v.id',
    up: false,
    last: 'SELECT max(id) AS n FROM visits',
  },
} as const;

const pageLine = z
  .object({
    ...{ id: z.int(), url: z.string(), server: z.int(), depth: z.int().describe('links from a seed') },
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

const listInput = z.object({
  find: z.string().max(500).default('').describe('part of the URL; * stands for anything'),
  outcome: z.enum(['', ...outcome.options, 'waiting']).default(''),
  server: z.coerce.number().int().min(0).default(0).describe('id of a server; 0 = all'),
  order: z.enum(['found', 'newest', 'visited', 'changed']).default('found'),
  after: z.coerce.number().min(0).optional().describe('`next` of the answer before'),
  limit,
});

function listPages(reader: Reader, input: z.infer<typeof listInput>) {
  const { from, key, up, last } = orders[input.order];
  const end = reader.row<{ n: number | null }>(last)?.n ?? 0;
  const start = input.after ?? (up ? 0 : end + 1);
  const stop = up ? start + SCANNED : start - SCANNED;
  const where = [up ? `${key} > ? AND ${key} <= ?` : `${key} < ? AND ${key} >= ?`];
  const values: Value[] = [start, stop];
  if (input.find !== '') {
    where.push('p.url GLOB ?');
    values.push(globOf(input.find));
  }
  if (input.server !== 0) {
    where.push('p.server = ?');
    values.push(input.server);
  }
  if (input.outcome === 'waiting') where.push('k.page IS NULL AND p.refused IS NULL');
  else if (input.outcome === 'refused') where.push(`(k.outcome = 'refused' OR p.refused IS NOT NULL)`);
  else if (input.outcome !== '') {
    where.push('k.outcome = ?');
    values.push(input.outcome);
  }
  const rows = reader.rows<PageLine & { key: number }>(
    `SELECT ${key} AS key, p.id, p.url, p.depth, p.server, k.title, k.status, k.media_type AS type, k.bytes, k.time,
       CASE WHEN k.seen_time IS NULL THEN NULL ELSE k.changed_time END AS changed, k.due, coalesce(p.refused, k.reason) AS reason,
       coalesce(k.outcome, CASE WHEN p.refused IS NULL THEN 'waiting' ELSE 'refused' END) AS outcome
     FROM ${from} WHERE ${where.join(' AND ')} ORDER BY ${key} ${up ? 'ASC' : 'DESC'} LIMIT ?`,
    ...values,
    input.limit,
  );
  // Without a full page there may still be more beyond what was looked at.
  const more = rows.length === input.limit ? rows.at(-1)!.key : (up ? stop < end : stop > 1) ? stop : null;
  const pages = rows.map(({ key: _, ...row }) => ({ ...row, means: row.reason === null ? '' : meaningOf(row.reason) }));
  return { pages, next: more };
}

export const pageListRoute = route({
  method: 'get',
  path: '/pages',
  summary: 'A part of the pages, by URL, outcome or server. Ask again with `after` = `next` until that is null.',
  input: listInput,
  output: z.object({ pages: list(pageLine), next }).meta({ id: 'PageList' }),
  answer: (input, { reader }) => listPages(reader, input),
});
