/** Servers: what each allows and has asked for, its robots rules, and what it cost. */
import { z } from 'zod';
import { SkeinError } from '../../base/errors.ts';
import { globOf } from '../../ledger/pages.ts';
import type { Reader } from '../reader.ts';
import { id, limit } from './pages.ts';
import { route } from './route.ts';

const DAY = 86_400_000;

interface ServerRow {
  readonly id: number;
  readonly origin: string;
}

const listInput = z.object({
  find: z.string().max(500).default('').describe('part of the origin'),
  state: z.enum(['', 'paused', 'waiting', 'failing']).default(''),
  after: z.coerce.number().min(0).default(0).describe('`next` of the answer before'),
  limit,
});

const states = {
  '': '1',
  paused: 'paused = 1',
  waiting: 'not_before > ?1',
  failing: 'failures > 0',
} as const;

function listServers(reader: Reader, input: z.infer<typeof listInput>) {
  const now = Date.now();
  const rows = reader.rows<ServerRow>(
    `SELECT s.id, s.origin, s.address, s.robots_status AS robots, s.crawl_delay AS crawlDelay, s.not_before AS notBefore,
       s.latency, s.failures, s.seeded, s.paused, s.pace, a.visits, a.spent, a.avoided
     FROM servers s LEFT JOIN (SELECT server, sum(visits) AS visits, sum(spent) AS spent, sum(avoided) AS avoided
       FROM account WHERE day >= ?2 GROUP BY server) a ON a.server = s.id
     WHERE s.id > ?3 AND s.origin GLOB ?4 AND ?1 > 0 AND ${states[input.state]} ORDER BY s.id LIMIT ?5`,
    now,
    Math.floor(now / DAY) - 6,
    input.after,
    globOf(input.find),
    input.limit,
  );
  return { servers: rows, next: rows.length === input.limit ? rows.at(-1)!.id : null };
}

/** Pages of one server that are counted. */
const MOST_COUNTED = 200_000;

function oneServer(reader: Reader, wanted: number) {
  const server = reader.ledger.servers.read(wanted);
  if (!server) throw new SkeinError('not-found', 'There is no such server.');
  const { soft404: _print, ...rest } = server;
  return {
    ...rest,
    account: reader.rows(
      `SELECT day, cause, visits, spent, avoided FROM account WHERE server = ? AND day >= ? ORDER BY day, cause`,
      wanted,
      Math.floor(Date.now() / DAY) - 13,
    ),
    recentErrors: reader.rows(
      `SELECT v.id, v.page, v.time, v.reason, p.url FROM
         (SELECT * FROM visits WHERE id > (SELECT max(id) FROM visits) - ${MOST_COUNTED} AND outcome = 'failed') v
       JOIN pages p ON p.id = v.page AND p.server = ? ORDER BY v.id DESC LIMIT 20`,
      wanted,
    ),
  };
}

export const serverRoutes = [
  route({
    method: 'get',
    path: '/servers',
    summary: 'A part of the servers with pace, back-off, failures, and bytes of the last seven days.',
    input: listInput,
    answer: (input, { reader }) => listServers(reader, input),
  }),
  route({
    method: 'get',
    path: '/servers/{id}',
    summary: 'One server: robots.txt as last fetched, what it was refused for, its account by day, its latest errors.',
    input: z.object({ id }),
    answer: (input, { reader }) => oneServer(reader, input.id),
  }),
];
