/** What changed across the collection, newest first, and how much of it by day and server. */

import { z } from 'zod';
import { DAY, HOUR } from '../../base/clock.ts';
import { changesIn } from '../../home/answers/changes.ts';
import { MOST_DAYS } from '../day-counts.ts';
import type { Reader } from '../reader.ts';
import { route } from './route.ts';
import { amount, limit, list, means, next, stage, time } from './shared.ts';

/** Visits looked at in one request; the answer says where to go on. */
const SCANNED = 50_000;

const listInput = z.object({
  before: z.coerce.number().int().optional().describe('`next` of the answer before'),
  server: z.coerce.number().int().default(0),
  day: z.coerce.number().int().default(0).describe('days since 1970; 0 = all'),
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

const changedDayList = z
  .object({
    days: list(changedDay),
    visits: z.int().describe('that were looked through'),
    same: z.int().describe('of them, found nothing new'),
    whole: z.boolean().describe('false = there were too many visits to count them all'),
  })
  .meta({ id: 'ChangedDayList' });

export type Change = z.infer<typeof change>;
export type ChangedDay = z.infer<typeof changedDay>;
export type ChangedDayList = z.infer<typeof changedDayList>;

function listChanges({ ledger }: Reader, input: z.infer<typeof listInput>) {
  const times = input.day === 0 ? {} : { since: input.day * DAY, until: (input.day + 1) * DAY };
  const first = times.since === undefined ? 1 : ledger.visits.since(times.since);
  // Visits that came from afar stand up to an hour late.
  const last = times.until === undefined ? ledger.visits.newest() + 1 : ledger.visits.since(times.until + 2 * HOUR);
  const before = Math.min(input.before ?? last, last);
  const from = Math.max(first, before - SCANNED);
  const { server, limit } = input;
  const noise = input.noise === '1';
  const changes = changesIn(ledger, { ...times, from, before, server, limit, quiet: !noise, template: noise });
  const next = changes.length === limit ? changes.at(-1)!.id : from > first ? from : null;
  return { changes, next };
}

export const changeRoutes = [
  route({
    method: 'get',
    path: '/changes',
    summary: 'Pages that changed, went, moved or came back, newest first; noise is hidden unless asked for.',
    input: listInput,
    output: z.object({ changes: list(change), next }).meta({ id: 'ChangeList' }),
    answer: (input, { reader }) => listChanges(reader, input),
  }),
  route({
    method: 'get',
    path: '/changes/days',
    summary: 'Number of changes by day and server; `whole` is false when there were too many visits to count them all.',
    input: z.object({ days: z.coerce.number().int().min(1).max(MOST_DAYS).default(14) }),
    output: changedDayList,
    answer: ({ days }, { reader }) => reader.dayCounts.of(days),
  }),
];
