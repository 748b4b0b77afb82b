/** What changed across the collection, newest first, and how much of it by day and server. */

import { z } from 'zod';
import { DAY, HOUR } from '../../base/clock.ts';
import { changesIn } from '../../home/answers/changes.ts';
import type { ListingPart } from '../../ledger/queries/listings.ts';
import { daySums, MOST_DAYS, mergedDays } from '../day-counts.ts';
import type { Keyed } from '../paging.ts';
import type { ReadPartition } from '../reader.ts';
import { listRoute, sumRoute } from './route.ts';
import { after, amount, few, limit, list, means, missing, next, stage, time } from './shared.ts';

/** Visits looked at in one request; the answer says where to go on. */
const SCANNED = 50_000;

const listInput = z.object({
  before: after,
  server: z.coerce.number().int().min(0).default(0),
  day: z.coerce.number().int().default(0).describe('days since 1970 (UTC); 0 = all'),
  since: z.coerce.number().int().min(0).optional().describe('milliseconds since 1970; for days of another time zone'),
  until: z.coerce.number().int().min(0).optional().describe('likewise; not included'),
  find: z.string().max(500).default('').describe('part of the URL; * stands for anything'),
  noise: z.enum(['0', '1']).default('0').describe('1: also changes of bytes or markup that no reader would see'),
  limit,
});

const change = z
  .object({
    ...{ id: z.int().describe('of the visit that saw it'), page: z.int(), time, url: z.string(), server: z.int() },
    title: z.string().nullable(),
    kind: z.enum(['changed', 'new', 'gone', 'moved', 'back', 'template']),
    ...{ reason: z.string(), means, stage, amount },
    removed: z.number().nullable().describe('words that went; null = not counted'),
    added: z.number().nullable().describe('words that came'),
    shownBy: list(z.string()).optional().describe('of an image: some pages that show it'),
  })
  .meta({ id: 'Change' });

const changedDay = z
  .object({
    ...{ day: z.int().describe('since 1970'), server: z.int(), origin: z.string() },
    ...{ changed: z.int(), gone: z.int(), moved: z.int() },
  })
  .meta({ id: 'ChangedDay' });

const dayCounts = {
  visits: z.int().describe('that were looked through'),
  same: z.int().describe('of them, found nothing new'),
  whole: z.boolean().describe('false = there were too many visits to count them all'),
};

/** What some partitions tell. */
const changedPart = z.object({ days: few(changedDay), ...dayCounts });

const changedDayList = z.object({ days: list(changedDay), ...dayCounts, missing }).meta({ id: 'ChangedDayList' });

export type ShownChange = z.infer<typeof change>;
export type ChangedDay = z.infer<typeof changedDay>;
export type ChangedDayList = z.infer<typeof changedDayList>;

type ChangeListInput = z.infer<typeof listInput>;

function changesOf(
  part: ReadPartition,
  input: ChangeListInput,
  after: number | undefined,
): ListingPart<Keyed<ShownChange>> {
  const { ledger } = part;
  const times = timesOf(input);
  const first = times.since === undefined ? 1 : ledger.visits.since(times.since);
  // Visits that came from afar stand up to an hour late.
  const last = times.until === undefined ? ledger.visits.newest() + 1 : ledger.visits.since(times.until + 2 * HOUR);
  const before = Math.min(after ?? last, last);
  const from = Math.max(first, before - SCANNED);
  const { server, limit, find } = input;
  const noise = input.noise === '1';
  const wanted = { ...times, from, before, server, limit, pattern: find, quiet: !noise, template: noise };
  const found = changesIn(ledger, wanted);
  const next = found.length === limit ? found.at(-1)!.id : from > first ? from : null;
  const told = (change: (typeof found)[number]): ShownChange => ({
    ...change,
    ...{ id: part.told(change.id), page: part.told(change.page), server: part.told(change.server) },
  });
  return { rows: found.map(change => ({ key: change.id, row: told(change) })), next };
}

function timesOf({ day, since, until }: ChangeListInput): { since?: number; until?: number } {
  if (day !== 0) return { since: day * DAY, until: (day + 1) * DAY };
  return { ...(since !== undefined && { since }), ...(until !== undefined && { until }) };
}

export const changeRoutes = [
  listRoute({
    method: 'get',
    path: '/changes',
    summary: 'Pages that changed, went, moved or came back, newest first; noise is hidden unless asked for.',
    input: listInput,
    output: z.object({ changes: list(change), next }).meta({ id: 'ChangeList' }),
    list: {
      row: change,
      server: ({ server }) => server,
      after: ({ before }) => before,
      limit: ({ limit }) => limit,
      compare: () => (one, two) => two.time - one.time || two.id - one.id,
      rows: (part, input, before) => changesOf(part, { ...input, server: part.local(input.server) }, before),
      told: (changes, next) => ({ changes, next }),
    },
  }),
  sumRoute({
    method: 'get',
    path: '/changes/days',
    summary: 'Number of changes by day and server; `whole` is false when there were too many visits to count them all.',
    input: z.object({
      days: z.coerce.number().int().min(1).max(MOST_DAYS).default(14),
      zone: z.string().max(100).default('UTC').describe('time zone whose days are meant, as Europe/Berlin'),
    }),
    output: changedDayList,
    sum: {
      part: changedPart,
      of: (parts, { days, zone }) => daySums(parts, days, zone),
      told: (parts, _input, _context, silent) => ({ ...mergedDays(parts), missing: silent }),
    },
  }),
];
