/**
 * Every order that a person may give a running home, as it comes through the door and as the workbench documents it.
 * Loaded with the first order: what it is written with takes longer to load than home itself.
 */
import { z } from 'zod';

const url = z.string().min(1).max(4000);
const seconds = z.number().min(0).max(86_400);

export const orderSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('add'), urls: z.array(url).min(1).max(10_000) }),
  z.object({ kind: z.literal('pause') }),
  z.object({ kind: z.literal('resume') }),
  z.object({ kind: z.literal('stop') }),
  z.object({ kind: z.literal('pace'), seconds }),
  z.object({ kind: z.literal('limit'), pages: z.number().int().min(1).nullable() }),
  z.object({ kind: z.literal('budget'), amount: z.string().min(1).max(50) }),
  z.object({ kind: z.literal('filters'), scope: z.string().max(10_000), keep: z.string().max(2000) }),
  z.object({
    kind: z.literal('server'),
    origin: url,
    action: z.enum(['pause', 'resume', 'exclude', 'include', 'pace']),
    /** For `pace`; null = the crawl's own. */
    seconds: seconds.nullable().optional(),
  }),
  z.object({ kind: z.literal('retry'), url }),
  z.object({ kind: z.literal('ping'), url }),
  z.object({ kind: z.literal('unmask'), url }),
]);

export type Order = z.infer<typeof orderSchema>;
