/**
 * Words and records that several answers of the API share. Every answer has a schema beside what makes it; the published
 * description and the types of the user interface come from these, and a test holds real answers against them.
 *
 * Unless a field says otherwise: `time` and fields that name a moment are milliseconds since 1970, durations are
 * milliseconds, sizes bytes, shares from 0 to 1.
 */
import { z } from 'zod';

/** Parameters. */
export const id = z.coerce.number().int().min(1);
export const limit = z.coerce.number().int().min(1).max(200).default(50);

export const time = z.number().describe('milliseconds since 1970');
export const duration = z.number().describe('milliseconds');
export const bytes = z.number().describe('bytes');
export const share = z.number().describe('from 0 to 1');
export const outcome = z.enum(['fetched', 'same', 'moved', 'gone', 'refused', 'failed']);
export const means = z.string().describe('the reason in words');
export const next = z
  .union([z.number(), z.string()])
  .nullable()
  .describe('ask again with this; a text where the collection has several partitions; null = that was all');
/** The same as a parameter. */
export const after = z
  .string()
  .regex(/^(?:\d+|p[\dx,]*)$/, 'this is no place in a list')
  .max(12_000)
  .optional()
  .describe('`next` of the answer before');
export const stage = z.string().nullable().describe('of the detector, that decided');
export const amount = z
  .number()
  .nullable()
  .describe('share of the words of both versions that differ, 0 to 1; null = not counted');
export const list = <T extends z.ZodType>(of: T) => z.array(of).readonly();
/** What comes from another machine, beyond any number that is needed. */
export const few = <T extends z.ZodType>(of: T) => z.array(of).max(500_000).readonly();
export const missing = z.string().describe('about peers of a cluster that do not answer; empty = all do');

export const account = z
  .object({ visits: z.int(), spent: bytes, avoided: bytes })
  .meta({ id: 'Account', description: 'Bytes on the wire that were spent, and that a full fetch would have cost.' });

export const machine = z
  .object({
    name: z.string(),
    remote: z.boolean().describe('false = a thread of home itself'),
    state: z.enum(['working', 'idle', 'full', 'away', 'quarantined', 'gone']),
    errands: z.int(),
    pages: z.int().describe('under way'),
    room: z.int().describe('pages that it takes on at once; of paced servers, requests a second'),
    rate: z.number().nullable().describe('visits a second; null = see `outposts` beside'),
    visits: z.int().nullable().describe('since it joined'),
    bytes: z.number().nullable().describe('sent home since it joined'),
    way: z.string().describe('how its parcels come home: `straight`, or `through` the machine above it'),
    trouble: z.string().describe('a sentence when something is wrong'),
    heard: time,
    get outposts() {
      return list(machine);
    },
  })
  .meta({ id: 'Machine' });

export const homeState = z
  .object({
    ...{ time, started: time, command: z.string(), state: z.enum(['working', 'paused', 'stopping', 'ended']) },
    pages: z.int().describe('bodies that came in this run'),
    outcomes: z.record(outcome, z.int()).describe('visits of this run'),
    errors: z.int().describe('visits that failed, or were not tried because their server cannot be reached'),
    rate: z.number().describe('visits a second'),
    ...{ bytesDown: bytes, bytesUp: bytes },
    queue: z.int().describe('pages that wait for their turn'),
    underWay: z.int().describe('pages'),
    atWork: list(z.string()).describe('origins that are being visited now, at most 500'),
    ...{ servers: z.int(), known: z.int().describe('URLs'), memory: bytes },
    settings: z.object({
      pace: z.number().describe('seconds between requests to one server'),
      limit: z.int().nullable().describe('pages of this run'),
      budget: z.string().describe('a day; empty = this command has none'),
      ...{ scope: z.string(), keep: z.string(), excluded: list(z.string()) },
    }),
    machines: list(machine),
  })
  .meta({ id: 'HomeState', description: 'A running home, as it says itself.' });

export const rates = z
  .record(z.string(), z.object({ visits: z.number(), bytes: z.number() }))
  .describe('by outpost, a second');

export const problem = z
  .object({ code: z.string(), error: z.string().describe('one sentence'), hint: z.string().optional() })
  .meta({ id: 'Problem', description: 'What went wrong.' });
