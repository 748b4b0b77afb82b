/** The endpoints of version 1 that are about the collection and the run; table.ts has all of them. */

import { z } from 'zod';
import { SkeinError } from '../../base/errors.ts';
import { findHome } from '../../home/door.ts';
import { orderSchema } from '../../home/orders.ts';
import { openedQuestion } from '../../questions/search/parts.ts';
import { searchCollection } from '../../questions/search/searching.ts';
import type { QueryOptions } from '../../search/index.ts';
import type { Reader } from '../reader.ts';
import { urlOf } from '../whole/answering.ts';
import { accountRoute } from './account.ts';
import { changeRoutes } from './changes.ts';
import { overviewRoute } from './overview.ts';
import { pageRoutes } from './page.ts';
import { pageCountRoute, pageListRoute } from './page-list.ts';
import { peersRoute } from './peers.ts';
import { type Route, route } from './route.ts';
import { serverRoutes } from './servers.ts';
import { duration, homeState, id, list, rates, share, time } from './shared.ts';
import { now } from './tick.ts';

const fragments = list(z.object({ text: z.string(), hit: z.boolean().describe('one of the words asked for') }));

const hit = z
  .object({
    ...{ page: z.int(), url: z.string(), title: fragments, snippet: fragments.describe('empty for noarchive') },
    ...{ language: z.string(), mediaType: z.string(), fetched: time, changed: time, age: duration },
    changedProbability: share.optional().describe('that it has changed since it was seen'),
    hidden: z.enum(['record', 'media']).optional().describe('no link leads to it: it came through the site'),
    copy: z.boolean().describe('a stored copy may be shown'),
    score: z.number(),
    alike: z.int().describe('results left out because they nearly equal this one'),
  })
  .meta({ id: 'Hit' });

const results = z
  .object({
    ...{ query: z.string(), hits: list(hit), total: z.int().describe('pages that match') },
    exact: z.boolean().describe('false = more than `total`, of which a part was ranked'),
    relaxed: z.boolean().describe('no page has all words; these have some'),
    corrected: z
      .string()
      .optional()
      .describe('the query of these results, where a word of the one asked seems misspelt'),
    ...{ cached: z.boolean(), took: duration },
    missing: z.string().describe('of a cluster: who did not answer, in a sentence; empty = this is the whole'),
  })
  .meta({ id: 'Results' });

const obeyed = z
  .object({ done: z.string().describe('one sentence: what is different now'), state: homeState })
  .meta({ id: 'Obeyed' });

export type ShownHit = z.infer<typeof hit>;
export type ShownResults = z.infer<typeof results>;
export type ObeyedOrder = z.infer<typeof obeyed>;

async function search(
  reader: Reader,
  { q, ...options }: { q: string } & Pick<QueryOptions, 'offset' | 'limit' | 'unfold' | 'language'>,
) {
  const collection = await reader.asked();
  const alone = collection.here.length === reader.parts.length;
  if (alone && !reader.indexed)
    throw new SkeinError('not-found', 'No page is indexed yet.', 'The index fills while a crawl runs.');
  const found = await searchCollection(collection, q, options);
  return { ...found, missing: collection.incomplete };
}

async function steer(reader: Reader, order: z.infer<typeof orderSchema>) {
  const home = findHome(reader.directory);
  if (!home) throw new SkeinError('refused', 'No run to steer.', 'Start "skein crawl" or "skein watch".');
  return home.order(order);
}

const nowRoutes = [
  overviewRoute,
  route({
    method: 'get',
    path: '/now',
    summary: 'The numbers of this second, half an hour of history, and the latest visits.',
    input: z.object({}),
    output: now,
    answer: (_, { live, role }) => ({
      ...live.now,
      ...{ steers: role !== 'read', role, history: live.history, visits: live.recent(), trouble: live.trouble },
    }),
  }),
  route({
    method: 'get',
    path: '/machines',
    summary: 'Home and its outposts as a tree; a machine that has vanished stays for ten minutes.',
    input: z.object({}),
    output: z.object({ home: homeState.nullable(), outposts: rates }).meta({ id: 'Machines' }),
    answer: (_, { live }) => ({ home: live.now.home, outposts: live.now.outposts }),
  }),
];

const otherRoutes = [
  peersRoute,
  route({
    method: 'get',
    path: '/search',
    summary: 'Full-text search; docs/guides/search.md has the query language.',
    input: z.object({
      q: z.string().min(1).max(1000),
      offset: z.coerce.number().int().min(0).max(1000).default(0),
      limit: z.coerce.number().int().min(1).max(50).default(10),
      unfold: z.enum(['0', '1']).default('0').describe('1: also what nearly equals a better result'),
      language: z.string().max(35).default('').describe('of who asks, BCP 47: pages in it come first'),
    }),
    output: results,
    answer: ({ unfold, ...input }, { reader }) => search(reader, { ...input, unfold: unfold === '1' }),
  }),
  route({
    method: 'post',
    path: '/search/opened',
    summary: 'Someone opened a result: the page counts for more in the schedule.',
    input: z.object({ page: id }),
    output: z.object({ page: z.int() }).meta({ id: 'Opened' }),
    changes: true,
    async answer({ page }, { reader }) {
      const url = await urlOf(reader, page);
      const collection = await reader.asked();
      if (reader.indexed || collection.here.length < reader.parts.length)
        await collection.ask(openedQuestion, { page, url });
      return { page };
    },
  }),
  accountRoute,
  route({
    method: 'post',
    path: '/steer',
    summary: 'Gives one order to the running home. Answers with one sentence and the state that came of it.',
    input: z.object({ order: orderSchema }),
    output: obeyed,
    changes: true,
    answer: ({ order }, { reader }) => steer(reader, order),
  }),
];

export const mainRoutes: readonly Route[] = [
  ...nowRoutes,
  ...serverRoutes,
  pageListRoute,
  pageCountRoute,
  ...pageRoutes,
  ...changeRoutes,
  ...otherRoutes,
];
