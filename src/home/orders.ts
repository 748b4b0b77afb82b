/**
 * Every order that a person may give a running home, as it comes through the door and as the workbench documents it.
 * Loaded with the first order: what it is written with takes longer to load than home itself. Whoever gives a wrong value
 * gets one sentence that says what is wrong and what to write.
 */
import { z } from 'zod';
import { SkeinError } from '../base/errors.ts';

const LONGEST_PACE = 86_400;

const url = z.string('Write a URL.').min(1, 'Write a URL.').max(4000, 'A URL has at most 4,000 characters.');
const PACE = 'The pace is a number of seconds from 0 to 86,400, such as 2.5.';
const seconds = z.number(PACE).min(0, PACE).max(LONGEST_PACE, PACE);
const LIMIT = 'The limit is a whole number of pages from 1, or none.';
const BUDGET = 'Write a budget such as 10%, 500 pages or 50MB.';
const text = (most: number, name: string) => z.string(`${name} must be text.`).max(most, `${name} is too long.`);

export const orderSchema = z.discriminatedUnion(
  'kind',
  [
    z.object({
      kind: z.literal('add'),
      urls: z
        .array(url, 'Write the seeds, one a line.')
        .min(1, 'Write at least one seed.')
        .max(10_000, 'At most 10,000 seeds at once.'),
    }),
    z.object({ kind: z.literal('pause') }),
    z.object({ kind: z.literal('resume') }),
    z.object({ kind: z.literal('stop') }),
    z.object({ kind: z.literal('pace'), seconds }),
    z.object({ kind: z.literal('limit'), pages: z.number(LIMIT).int(LIMIT).min(1, LIMIT).nullable() }),
    z.object({ kind: z.literal('budget'), amount: z.string(BUDGET).min(1, BUDGET).max(50, BUDGET) }),
    z.object({ kind: z.literal('filters'), scope: text(10_000, 'The scope'), keep: text(2000, 'What is kept') }),
    z.object({
      kind: z.literal('server'),
      origin: url,
      action: z.enum(
        ['pause', 'resume', 'exclude', 'include', 'pace'],
        'A server can be paused, resumed, excluded, included, or given a pace.',
      ),
      /** For `pace`; null = the crawl's own. */
      seconds: seconds.nullable().optional(),
    }),
    z.object({ kind: z.literal('retry'), url }),
    z.object({ kind: z.literal('ping'), url }),
    z.object({ kind: z.literal('unmask'), url }),
  ],
  'There is no such order.',
);

export type SteerOrder = z.infer<typeof orderSchema>;

/** An order that came from outside; throws one sentence where it is none. */
export function readOrder(value: unknown): SteerOrder {
  const read = orderSchema.safeParse(value);
  if (read.success) return read.data;
  throw new SkeinError('bad-option', read.error.issues[0]!.message);
}
