/** Servers: what each allows and has asked for, its robots rules, and what it cost. */

import { z } from 'zod';
import { DAY } from '../../base/clock.ts';
import { SkeinError } from '../../base/errors.ts';
import { robotsInForce } from '../../home/answers/robots.ts';
import type { ListingPart, ServerOrder } from '../../ledger/queries/listings.ts';
import type { Keyed } from '../paging.ts';
import type { Reader, ReadPartition } from '../reader.ts';
import { listRoute, route } from './route.ts';
import { account, after, duration, id, limit, list, next, time } from './shared.ts';

const standing = {
  id: z.int(),
  origin: z.string(),
  address: z.string(),
  crawlDelay: duration.describe('that robots.txt asks for, milliseconds'),
  notBefore: time.describe('no request before this moment, milliseconds since 1970'),
  latency: duration.describe('that an answer takes, smoothed, milliseconds'),
  failures: z.int().describe('of the whole server, in a row'),
  seeded: z.boolean().describe('a seed is on it'),
  paused: z.boolean(),
  pace: z.number().nullable().describe('milliseconds between requests; null = that of the crawl'),
};

const serverLine = z
  .object({
    ...standing,
    robots: z.int().describe('status of its robots.txt; 0 = unreachable, -1 = not read yet'),
    ...account.shape,
  })
  .meta({ id: 'ServerLine', description: 'A server, with its account of the last seven days.' });

const server = z
  .object({
    ...standing,
    robots: z
      .object({
        ...{ status: z.int(), body: z.string(), time, unreachableSince: time.describe('0 = it can be read') },
        state: z.enum(['rules', 'none', 'unreachable', 'given-up']).describe('why the rules hold'),
        rules: list(z.string()).describe('lines that count for us'),
      })
      .nullable()
      .describe('as last read; null = not read yet'),
    sitemaps: list(z.string()),
    refused: z.record(z.string(), z.int()).describe('URLs that were only counted, by reason'),
    audits: z.number().describe('304 answers that were checked with a full GET'),
    lies: z.number().describe('those found wrong'),
    notices: z.number().describe('notices whose pages were visited since'),
    trueNotices: z.number(),
    account: list(z.object({ day: z.int().describe('since 1970'), cause: z.string(), ...account.shape })),
    recentErrors: list(z.object({ id: z.int(), page: z.int(), time, reason: z.string(), url: z.string() })),
  })
  .meta({ id: 'Server', description: 'One server, with its account of the last fourteen days.' });

export type ServerLine = z.infer<typeof serverLine>;
export type ServerDetail = z.infer<typeof server>;

type ListInput = z.infer<typeof listInput>;

const listInput = z.object({
  find: z.string().max(500).default('').describe('part of the origin'),
  state: z.enum(['', 'paused', 'waiting', 'failing']).default(''),
  order: z.enum(['found', 'origin', 'visits', 'spent', 'latency', 'failures']).default('found'),
  after,
  limit,
});

/** One whose robots.txt cannot be read fails, too. */
const troubleOf = ({ failures, robots }: ServerLine) => failures + Number(robots === 0);

const orders: Readonly<Record<ServerOrder, (one: ServerLine, two: ServerLine) => number>> = {
  found: (one, two) => one.id - two.id,
  origin: (one, two) => (one.origin < two.origin ? -1 : 1),
  visits: (one, two) => two.visits - one.visits,
  spent: (one, two) => two.spent - one.spent,
  latency: (one, two) => two.latency - one.latency,
  failures: (one, two) => troubleOf(two) - troubleOf(one),
};

function serversOf(
  part: ReadPartition,
  input: ListInput,
  place: number | undefined,
  reader: Reader,
): ListingPart<Keyed<ServerLine>> {
  const now = Date.now();
  const since = Math.floor(now / DAY) - 6;
  const found = part.ledger.queries.listings.servers({ ...input, after: place ?? 0, now, since });
  const left = new Map<number, number>();
  for (const { server, avoided } of reader.notDue(since)) left.set(server, (left.get(server) ?? 0) + avoided);
  const rows = found.rows.map((row, at) => {
    const told = part.told(row.id);
    return {
      key: input.order === 'found' ? row.id : (place ?? 0) + at + 1,
      row: { ...row, id: told, avoided: row.avoided + (left.get(told) ?? 0) },
    };
  });
  return { rows, next: found.next };
}

/** From the day `first` on, also what was avoided by not asking. */
function accountOf(reader: Reader, told: number, first: number): ServerDetail['account'] {
  const { part, local } = reader.placeOf(told)!;
  const rows = part.ledger.servers.account.ofServer(local, first);
  const left = reader.notDue(first).filter(row => row.server === told);
  const all = [...rows, ...left.map(({ day, avoided, cause }) => ({ day, cause, visits: 0, spent: 0, avoided }))];
  return all.sort((a, b) => a.day - b.day || (a.cause < b.cause ? -1 : 1));
}

/** Failures that are shown of one server. */
const MOST_ERRORS = 20;

function oneServer(reader: Reader, told: number): ServerDetail {
  const { part, local } = reader.placeOf(told) ?? {};
  const found = part?.ledger.servers.read(local!);
  if (!part || !found) throw new SkeinError('not-found', 'There is no such server.');
  const { origin, address, crawlDelay, notBefore, latency, failures, seeded, paused } = found;
  const { robots, sitemaps, refused, audits, lies } = found;
  const errors = part.ledger.queries.listings.errorsOf(found.id, MOST_ERRORS);
  return {
    ...{
      id: told,
      origin,
      address,
      crawlDelay,
      notBefore,
      latency,
      failures,
      seeded,
      paused,
      pace: found.pace ?? null,
    },
    ...{ sitemaps, refused, audits, lies },
    robots: robots ? { ...robots, ...robotsInForce(origin, robots, Date.now()) } : null,
    ...{ notices: found.pings, trueNotices: found.truePings },
    account: accountOf(reader, told, Math.floor(Date.now() / DAY) - 13),
    recentErrors: errors.map(error => ({ ...error, id: part.told(error.id), page: part.told(error.page) })),
  };
}

export const serverRoutes = [
  listRoute({
    method: 'get',
    path: '/servers',
    summary: 'A part of the servers with pace, back-off, failures, and bytes of the last seven days.',
    input: listInput,
    output: z.object({ servers: list(serverLine), next }).meta({ id: 'ServerList' }),
    list: {
      row: serverLine,
      after: ({ after }) => after,
      limit: ({ limit }) => limit,
      compare: ({ order }) => orders[order],
      rows: serversOf,
      told: (servers, next) => ({ servers, next }),
    },
  }),
  route({
    method: 'get',
    path: '/servers/{id}',
    summary: 'One server: robots.txt as last fetched, what it was refused for, its account by day, its latest errors.',
    input: z.object({ id }),
    output: server,
    about: ({ id }) => id,
    answer: (input, { reader }) => oneServer(reader, input.id),
  }),
];
