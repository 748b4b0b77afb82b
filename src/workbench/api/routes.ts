/** Every endpoint of version 1, in the order in which the documentation lists them. */
import { z } from 'zod';
import { SkeinError } from '../../base/errors.ts';
import { orderSchema } from '../../home/control.ts';
import { findHome } from '../../home/door.ts';
import { changeProbability } from '../../home/why.ts';
import type { Reader } from '../reader.ts';
import { changeRoutes } from './changes.ts';
import { id, pageRoutes } from './pages.ts';
import { type Route, route } from './route.ts';
import { serverRoutes } from './servers.ts';

const DAY = 86_400_000;

function account(reader: Reader, days: number) {
  const first = Math.floor(Date.now() / DAY) - days + 1;
  const freshness = reader.ledger.setting<Record<string, number>>('freshness') ?? {};
  return {
    days: reader
      .rows<{ day: number }>(
        `SELECT day, sum(visits) AS visits, sum(spent) AS spent, sum(avoided) AS avoided FROM account
         WHERE day >= ? GROUP BY day ORDER BY day`,
        first,
      )
      .map(row => ({ ...row, freshness: freshness[String(row.day)] ?? null })),
    causes: reader.rows(
      `SELECT cause, sum(visits) AS visits, sum(spent) AS spent, sum(avoided) AS avoided FROM account
       WHERE day >= ? GROUP BY cause ORDER BY spent DESC`,
      first,
    ),
  };
}

function search(reader: Reader, input: { q: string; offset: number; limit: number }) {
  const index = reader.search();
  if (!index) throw new SkeinError('not-found', 'Nothing is indexed yet.', 'The index fills while a crawl runs.');
  const { q, ...options } = input;
  return index.query(q, { ...options, changedProbability: changeProbability(reader.ledger, Date.now()) });
}

async function steer(reader: Reader, order: z.infer<typeof orderSchema>) {
  const home = findHome(reader.directory);
  if (!home)
    throw new SkeinError('refused', 'Nothing runs that could be steered.', 'Start "skein crawl" or "skein watch".');
  return home.order(order);
}

const nowRoutes = [
  route({
    method: 'get',
    path: '/now',
    summary: 'The numbers of this second, half an hour of history, and the latest visits.',
    input: z.object({}),
    answer: (_, { live, steers }) => ({
      ...live.now,
      ...{ steers, history: live.history, visits: live.recent(), trouble: live.trouble },
    }),
  }),
  route({
    method: 'get',
    path: '/machines',
    summary: 'Home and its outposts as a tree; a machine that has vanished stays for ten minutes.',
    input: z.object({}),
    answer: (_, { live }) => ({ home: live.now.home, outposts: live.now.outposts }),
  }),
];

const otherRoutes = [
  route({
    method: 'get',
    path: '/search',
    summary: 'Full-text search; docs/guides/search.md has the query language.',
    input: z.object({
      q: z.string().min(1).max(1000),
      offset: z.coerce.number().int().min(0).max(1000).default(0),
      limit: z.coerce.number().int().min(1).max(50).default(10),
    }),
    answer: (input, { reader }) => search(reader, input),
  }),
  route({
    method: 'post',
    path: '/search/opened',
    summary: 'Someone opened a result: the page counts for more in the schedule.',
    input: z.object({ page: id }),
    changes: true,
    answer: ({ page }, { reader }) => {
      reader.search()?.opened(page);
      return { page };
    },
  }),
  route({
    method: 'get',
    path: '/account',
    summary: 'Bytes spent and avoided, by day and by cause.',
    input: z.object({ days: z.coerce.number().int().min(1).max(400).default(30) }),
    answer: ({ days }, { reader }) => account(reader, days),
  }),
  route({
    method: 'post',
    path: '/steer',
    summary: 'Gives one order to the running home. Answers with one sentence and the state that came of it.',
    input: z.object({ order: orderSchema }),
    changes: true,
    answer: ({ order }, { reader }) => steer(reader, order),
  }),
];

export const routes: readonly Route[] = [...nowRoutes, ...serverRoutes, ...pageRoutes, ...changeRoutes, ...otherRoutes];
