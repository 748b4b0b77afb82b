/** What changed across the collection, newest first, and how much of it by day and server. */
import { z } from 'zod';
import { meaningOf } from '../../home/why.ts';
import type { Reader } from '../reader.ts';
import { limit } from './pages.ts';
import { route } from './route.ts';

const DAY = 86_400_000;
/** Visits looked at in one request; the answer says where to go on. */
const SCANNED = 100_000;
/** Visits that a summary by day covers at most. */
const SUMMED = 300_000;

const listInput = z.object({
  before: z.coerce.number().int().optional().describe('`next` of the answer before'),
  server: z.coerce.number().int().default(0),
  day: z.coerce.number().int().default(0).describe('days since 1970; 0 = all'),
  noise: z.enum(['0', '1']).default('0').describe('1: also changes of bytes or markup that no reader would see'),
  limit,
});

/** A change of one of these is one that a reader sees; `amount` 0 means that no block differs. */
const VISIBLE = `NOT (v.outcome = 'fetched' AND v.amount IS NOT NULL AND v.amount = 0)`;
/** What may be news; whether it is, the visit before tells. */
const NEWS = `((v.outcome = 'fetched' AND v.stage IS NOT 'first') OR v.outcome IN ('gone', 'moved'))`;
const EARLIER = `(SELECT b.outcome FROM visits b WHERE b.page = v.page AND b.id < v.id
  AND b.outcome NOT IN ('failed', 'refused') ORDER BY b.id DESC LIMIT 1)`;

interface ChangeRow {
  readonly id: number;
  readonly outcome: string;
  readonly reason: string;
  readonly earlier: string | null;
}

function listChanges(reader: Reader, input: z.infer<typeof listInput>) {
  const last = input.day === 0 ? Number.MAX_SAFE_INTEGER : reader.visitAt((input.day + 1) * DAY);
  const first = input.day === 0 ? 1 : reader.visitAt(input.day * DAY);
  const newest = reader.row<{ n: number | null }>('SELECT max(id) AS n FROM visits')?.n ?? 0;
  const before = Math.min(input.before ?? Number.MAX_SAFE_INTEGER, last, newest + 1);
  const stop = Math.max(first, before - SCANNED);
  const rows = reader.rows<ChangeRow>(
    `SELECT * FROM (
       SELECT v.id, v.page, v.time, v.outcome, v.reason, v.stage, v.amount, p.url, p.server, p.role, k.title,
         ${EARLIER} AS earlier
       FROM visits v JOIN pages p ON p.id = v.page LEFT JOIN known k ON k.page = v.page
       WHERE v.id < ? AND v.id >= ? AND ${NEWS} AND p.role <> 1 ${input.noise === '1' ? '' : `AND ${VISIBLE}`}
         AND (? = 0 OR p.server = ?))
     WHERE (outcome = 'fetched' AND earlier IS NOT NULL) OR earlier IN ('fetched', 'same') ORDER BY id DESC LIMIT ?`,
    before,
    stop,
    input.server,
    input.server,
    input.limit,
  );
  const changes = rows.map(row => ({
    ...row,
    kind: row.outcome !== 'fetched' ? row.outcome : row.earlier === 'gone' ? 'back' : 'changed',
    means: meaningOf(row.reason),
  }));
  const next = rows.length === input.limit ? rows.at(-1)!.id : stop > first ? stop : null;
  return { changes, next };
}

/** Counted again only when something was visited since. */
const kept = new WeakMap<Reader, { newest: number; days: number; answer: unknown }>();

function byDay(reader: Reader, days: number) {
  const newest = reader.row<{ n: number | null }>('SELECT max(id) AS n FROM visits')?.n ?? 0;
  const before = kept.get(reader);
  if (before?.newest === newest && before.days === days) return before.answer;
  const today = Math.floor(Date.now() / DAY);
  const wanted = reader.visitAt((today - days + 1) * DAY);
  const from = Math.max(wanted, newest - SUMMED);
  const rows = reader.rows(
    `SELECT cast(v.time / ${DAY} AS INTEGER) AS day, p.server, s.origin,
       sum(v.outcome = 'fetched') AS changed, sum(v.outcome = 'gone') AS gone, sum(v.outcome = 'moved') AS moved
     FROM visits v JOIN pages p ON p.id = v.page JOIN servers s ON s.id = p.server
     WHERE v.id >= ? AND ${NEWS} AND ${VISIBLE} AND p.role <> 1 AND ${EARLIER} IS NOT NULL
       AND (v.outcome = 'fetched' OR ${EARLIER} IN ('fetched', 'same'))
     GROUP BY day, p.server ORDER BY day DESC, changed DESC LIMIT 2000`,
    from,
  );
  const looked = reader.row<{ n: number; same: number | null }>(
    `SELECT count(*) AS n, sum(outcome = 'same') AS same FROM visits WHERE id >= ?`,
    from,
  );
  const answer = { days: rows, visits: looked?.n ?? 0, same: looked?.same ?? 0, whole: from === wanted };
  kept.set(reader, { newest, days, answer });
  return answer;
}

export const changeRoutes = [
  route({
    method: 'get',
    path: '/changes',
    summary: 'Pages that changed, went, moved or came back, newest first; noise is hidden unless asked for.',
    input: listInput,
    answer: (input, { reader }) => listChanges(reader, input),
  }),
  route({
    method: 'get',
    path: '/changes/days',
    summary: 'Number of changes by day and server; `whole` is false when there were too many visits to count them all.',
    input: z.object({ days: z.coerce.number().int().min(1).max(60).default(14) }),
    answer: ({ days }, { reader }) => byDay(reader, days),
  }),
];
