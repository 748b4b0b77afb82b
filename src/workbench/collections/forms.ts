/** What the workbench tells of its collections, and takes as orders about them. */
import { z } from 'zod';
import { list, time } from '../api/shared.ts';

/** Names become directories: letters, digits, dots, hyphens and underscores, no dot at the beginning. */
export const collectionName = z
  .string()
  .regex(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,59}$/, 'A name has up to 60 letters, digits, dots, hyphens and underscores.');

export const runCommand = z.enum(['crawl', 'refresh', 'watch']);

const seed = z.url({ protocol: /^https?$/, error: 'Seeds are URLs such as https://example.org/.' }).max(2000);

/** Options that a run may be started with; what is absent is as the config file or the collection says. */
export const runOptions = z.object({
  seeds: z.array(seed).max(1000).optional(),
  scope: z.array(z.string().min(1).max(500)).max(100).optional(),
  pace: z.number().min(0).max(86_400).optional().describe('seconds between two requests to a server'),
  maxPages: z.int().min(1).max(1e9).optional(),
  budget: z
    .string()
    .regex(/^[\d.]{1,15}(?:%|[kMGT]?B)?$/, 'A budget is a number of pages, bytes or a share: 500, 50MB, 10%.')
    .optional()
    .describe('of refresh and watch, a day'),
});

const finished = z.object({
  command: runCommand,
  started: time,
  ended: time,
  ok: z.boolean(),
  said: z.string().describe('the last lines of a run that failed'),
});

const collectionLine = z
  .object({
    name: z.string(),
    state: z.enum(['idle', 'running', 'stopping', 'elsewhere']).describe('`elsewhere`: started by somebody else'),
    command: z.string().describe('of the run that goes on; empty = none'),
    since: time.nullable(),
    pages: z.int().nullable().describe('null = not begun'),
    shown: z.boolean().describe('the other views show this one'),
    last: finished.nullable().describe('the last run that was started here and ended'),
    options: runOptions,
    everyHours: z.number().nullable().describe('it is refreshed so often; null = only by hand'),
    next: time.nullable().describe('when the schedule refreshes it'),
  })
  .meta({ id: 'CollectionLine' });

export const collectionList = z
  .object({
    managed: z.boolean().describe('false = this workbench shows one collection'),
    admin: z.boolean().describe('the caller may start, stop and schedule runs'),
    collections: list(collectionLine),
  })
  .meta({ id: 'CollectionList' });

export type RunCommand = z.infer<typeof runCommand>;
export type CollectionRunOptions = z.infer<typeof runOptions>;
export type FinishedRun = z.infer<typeof finished>;
export type CollectionLine = z.infer<typeof collectionLine>;
export type CollectionList = z.infer<typeof collectionList>;
