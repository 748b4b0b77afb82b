/** What the API says of rules, of what they told, of sites that tell us, and of a site that runs here. */
import { z } from 'zod';
import { kinds } from '../../notify/rule.ts';
import { list, share, time } from './shared.ts';

const texts = z.array(z.string().min(1).max(1000)).max(50).default([]);

/** What people may say of a rule here. Commands are for those at the machine. */
const filters = {
  url: z.string().max(2000).default('').describe('part of the URL; * stands for anything; empty = every page'),
  kinds: z.array(z.enum(kinds)).max(5).default([]).describe('empty = all but new ones'),
  include: texts.describe('CSS selectors: only these parts count'),
  ignore: texts.describe('CSS selectors: these do not'),
  ignoreText: texts.describe('regular expressions'),
  only: texts.describe('one of these words must have come or gone'),
  leastWords: z.number().int().min(0).max(1e9).default(1),
  leastShare: z.number().min(0).max(1).default(0),
  atMost: z
    .number()
    .min(0)
    .max(366 * 86_400_000)
    .default(0)
    .describe('milliseconds between two messages at least'),
};

const toldChange = z.object({
  ...{ url: z.string(), title: z.string(), kind: z.string(), time: z.string().describe('ISO 8601') },
  ...{ why: z.string(), added: z.int(), removed: z.int(), diff: z.string() },
});

export const ruleLine = z
  .object({
    name: z.string(),
    ...filters,
    channel: z.string().describe('how it tells, without what is secret'),
    waiting: z.int().describe('changes that wait to be told'),
    messages: z.int().describe('sent so far'),
    sent: time.nullable(),
    trouble: z.string().describe('why the last message was not taken; empty = it was'),
    latest: list(z.object({ id: z.string(), changes: list(toldChange) })).describe('newest first'),
  })
  .meta({ id: 'Rule' });

export const tried = z
  .object({ ...toldChange.shape, counts: z.boolean().describe('somebody would have been told') })
  .meta({ id: 'TriedChange' });

export const subscription = z
  .object({
    ...{
      server: z.string(),
      kind: z.string(),
      url: z.string(),
      where: z.string(),
      state: z.string(),
      trouble: z.string(),
    },
    ...{ heard: time.nullable(), next: time.nullable(), lease: time.nullable(), notices: z.int() },
    ...{ judged: z.number(), confirmed: z.number(), precision: share, recall: share },
  })
  .meta({ id: 'Subscription' });

const trouble = z.string().describe('empty = none');

export const siteStatus = z
  .object({
    ...{ public: z.string(), ready: z.boolean(), pages: z.int(), cursor: z.string() },
    changed: time.nullable().describe('when a page last changed'),
    ...{ versions: z.int(), versionBytes: z.number(), terms: z.int().describe('search terms that home told of') },
    sources: list(z.object({ name: z.string(), pages: z.int(), time: time.nullable(), problem: trouble })),
    subscribers: list(z.object({ url: z.string(), expires: time, behind: z.int(), problem: trouble })),
    told: list(z.object({ kind: z.string(), url: z.string(), behind: z.int(), problem: trouble })),
  })
  .meta({ id: 'SiteStatus' });

export type SiteLine = z.infer<typeof siteStatus>;
export type RuleLine = z.infer<typeof ruleLine>;
export type TriedChange = z.infer<typeof tried>;
export type SubscriptionLine = z.infer<typeof subscription>;

export const ruleInput = z.object({ name: z.string().max(61).default('trial'), ...filters });
