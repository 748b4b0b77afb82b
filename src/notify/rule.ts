/**
 * Rules: which changes matter to somebody, and the way to tell. People write them with `skein notify add` or into the file;
 * either way they are checked here, before anything is kept.
 */
import { compile } from 'css-select';
import { z } from 'zod';
import { SkeinError } from '../base/errors.ts';

export const kinds = ['changed', 'new', 'gone', 'moved', 'back'] as const;

const selector = z.string().min(1).max(1000).refine(compiles, 'is not a CSS selector');
const expression = z.string().min(1).max(1000).refine(isExpression, 'is not a regular expression');

const channel = z.union([
  z.strictObject({
    kind: z.literal('webhook'),
    url: z.url({ protocol: /^https?$/ }).max(2000),
    /** Signs what is sent; absent = it is not signed. */
    secret: z.string().min(8).max(200).optional(),
    /** Its name may lead to a private address; one that is written as an address may anyway. */
    allowPrivate: z.boolean().optional(),
  }),
  z.strictObject({ kind: z.literal('command'), command: z.string().min(1).max(4000) }),
  z.strictObject({
    kind: z.literal('mail'),
    to: z.array(z.email()).min(1).max(50),
    from: z.email(),
    /** smtp://user:password@host:587 or smtps://… */
    server: z.url({ protocol: /^smtps?$/ }).max(1000),
  }),
  z.strictObject({ kind: z.literal('feed'), file: z.string().min(1).max(4000).optional() }),
]);

const ruleSchema = z.strictObject({
  /** Unique; names its folder, too. */
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,60}$/, 'must consist of letters, digits and hyphens'),
  /** Part of the URL, * stands for anything; absent = every page. */
  url: z.string().min(1).max(2000).optional(),
  kinds: z.array(z.enum(kinds)).min(1).default(['changed', 'gone', 'moved', 'back']),
  /** Only these parts of a page count. */
  include: z.array(selector).max(50).default([]),
  /** These do not. */
  ignore: z.array(selector).max(50).default([]),
  /** What matches is cut out of the text before it is compared. */
  ignoreText: z.array(expression).max(50).default([]),
  /** At least one of these words must have come or gone. */
  only: z.array(z.string().min(1).max(200)).max(200).default([]),
  /** Words that must differ at least. */
  leastWords: z.number().int().min(0).max(1e9).default(1),
  /** Share of the words that must differ at least, 0 to 1. */
  leastShare: z.number().min(0).max(1).default(0),
  /** Milliseconds between two messages at least; changes meanwhile are told together. 0 = each by itself. */
  atMost: z
    .number()
    .min(0)
    .max(366 * 86_400_000)
    .default(0),
  channel,
});

export type Rule = z.infer<typeof ruleSchema>;
export type Channel = Rule['channel'];

/** The rule, or one sentence about what is wrong with it. */
export function ruleOf(given: unknown): Rule {
  const read = ruleSchema.safeParse(given);
  if (read.success) return read.data;
  const { path, message } = read.error.issues[0]!;
  throw new SkeinError('bad-option', `The rule cannot be used: ${path.join('.') || 'it'} ${message}.`);
}

function compiles(text: string): boolean {
  try {
    compile(text);
    return true;
  } catch {
    return false; // that is the answer
  }
}

function isExpression(text: string): boolean {
  try {
    new RegExp(text, 'gu');
    return true;
  } catch {
    return false; // that is the answer
  }
}
