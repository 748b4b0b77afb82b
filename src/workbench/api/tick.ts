/** What live numbers look like, once a second and in the answer to /now. */
import { z } from 'zod';
import { workbenchRoles } from '../access.ts';
import { bytes, duration, homeState, list, means, outcome, rates, share, stage, time } from './shared.ts';

const sample = z
  .object({
    time,
    visits: z.number().describe('a second, as the next three'),
    changed: z.number(),
    errors: z.number(),
    bytes: z.number().describe('on the wire, both ways'),
    queue: z.int().nullable().describe('pages waiting; null = no home runs'),
  })
  .meta({ id: 'Sample' });

const shownVisit = z
  .object({
    ...{ id: z.int(), page: z.int(), time, url: z.string(), outcome, reason: z.string(), means, stage },
    status: z.int().describe('of HTTP; 0 = there was none'),
    seen: z.boolean().describe('the page was there once: `gone` is otherwise `not found`'),
    ...{ bytes, ms: duration, outpost: z.string() },
  })
  .meta({ id: 'ShownVisit' });

const collection = z
  .object({
    ...{ known: z.int().describe('URLs'), visited: z.int().describe('pages'), servers: z.int() },
    due: z.int().describe('pages, counted up to 100000'),
    dueCapped: z.boolean().describe('there are more'),
    freshness: share.describe('of the collection that is expected to be as last seen'),
    freshnessAim: share.describe('what the budget aims at'),
    ...{ spentToday: bytes, avoidedToday: bytes, archiveBytes: bytes },
    time: time.describe('when these were counted, milliseconds since 1970'),
  })
  .meta({ id: 'Collection', description: 'Sums over the collection, renewed every ten seconds or more.' });

const ticked = {
  sample,
  visits: list(shownVisit).describe('newest first, at most 25'),
  left: z.int().describe('visits of this second that are not among `visits`'),
  home: homeState.nullable().describe('null = none runs, or it does not answer'),
  collection,
  outposts: rates,
};

export const tick = z.object(ticked).meta({ id: 'Tick' });

export const now = z
  .object({
    ...ticked,
    steers: z.boolean().describe('the caller may give orders'),
    role: z.enum(workbenchRoles).describe('of the caller'),
    history: list(sample).describe('of half an hour, oldest first'),
    trouble: z.string().describe('why the last look failed; empty = it did not'),
  })
  .meta({ id: 'Now' });

export type Sample = z.infer<typeof sample>;
export type ShownVisit = z.infer<typeof shownVisit>;
export type CollectionTick = z.infer<typeof collection>;
export type Tick = z.infer<typeof tick>;
