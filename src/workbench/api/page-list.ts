/** Pages in parts: by key, so that a part costs the same wherever it lies, and never counted. */
import { z } from 'zod';
import { meaningOf } from '../../home/answers/why.ts';
import type { Reader } from '../reader.ts';
import { route } from './route.ts';
import { bytes, limit, list, means, next, outcome, time } from './shared.ts';

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

function listPages({ ledger }: Reader, input: z.infer<typeof listInput>) {
  const { rows, next } = ledger.listings.pages(input);
  return { pages: rows.map(row => ({ ...row, means: row.reason === null ? '' : meaningOf(row.reason) })), next };
}

export const pageListRoute = route({
  method: 'get',
  path: '/pages',
  summary: 'A part of the pages, by URL, outcome or server. Ask again with `after` = `next` until that is null.',
  input: listInput,
  output: z.object({ pages: list(pageLine), next }).meta({ id: 'PageList' }),
  answer: (input, { reader }) => listPages(reader, input),
});
