/** Rules about which changes somebody is told of, what they told or would have; who tells us, and what a site here tells. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { subscriptionsOf } from '../../home/answers/subscriptions.ts';
import { Desk } from '../../notify/desk.ts';
import { notifyDirectory } from '../../notify/place.ts';
import { type Channel, type Rule, ruleOf } from '../../notify/rule.ts';
import { addRule, readRules, removeRule } from '../../notify/rules-file.ts';
import { tryRule } from '../../notify/try-rule.ts';
import type { Reader } from '../reader.ts';
import { route } from './route.ts';
import { type RuleLine, ruleInput, ruleLine, type SiteLine, siteStatus, subscription, tried } from './rule-forms.ts';
import { list } from './shared.ts';

/** Messages of one rule that are told, and characters of a difference. */
const MOST_MESSAGES = 20;
const MOST_DIFFERENCE = 600;

/** Addresses and commands may hold passwords. */
function channelInWords(channel: Channel): string {
  if (channel.kind === 'webhook') return `webhook to ${new URL(channel.url).host}`;
  if (channel.kind === 'mail') return `mail to ${channel.to.join(', ')}`;
  return channel.kind === 'feed' ? 'feed' : 'a command';
}

function lineOf({ directory }: Reader, { channel, ...rule }: Rule): RuleLine {
  const folder = join(notifyDirectory(directory), rule.name);
  const desk = existsSync(folder) ? new Desk(folder) : undefined;
  const { messages = 0, sent = 0, trouble = '' } = desk?.state ?? {};
  const latest = (desk?.sent() ?? []).slice(0, MOST_MESSAGES).map(({ id, changes }) => ({
    id,
    changes: changes.map(change => ({ ...change, diff: change.diff.slice(0, MOST_DIFFERENCE) })),
  }));
  return {
    ...{ ...rule, url: rule.url ?? '', channel: channelInWords(channel), waiting: desk?.waiting().length ?? 0 },
    ...{ messages, sent: sent || null, trouble, latest },
  };
}

function made({ url, kinds: chosen, ...rest }: z.infer<typeof ruleInput>, channel: Channel): Rule {
  return ruleOf({ ...rest, ...(url !== '' && { url }), ...(chosen.length > 0 && { kinds: chosen }), channel });
}

async function tryOut(reader: Reader, input: z.infer<typeof ruleInput>) {
  const found = await tryRule(reader.directory, made({ ...input, name: 'trial' }, { kind: 'feed' }));
  const changes = found.map(({ change, weighed }) => {
    const { url, title, kind, time: seen, added, removed, diff } = change;
    return {
      ...{ url, title, kind, time: seen, added, removed, diff: diff.slice(0, MOST_DIFFERENCE) },
      ...{ counts: weighed.counts, why: weighed.why },
    };
  });
  return { changes: changes.reverse() };
}

/** As the process that runs it says. */
async function siteHere({ site }: Reader): Promise<SiteLine | null> {
  const { ask } = await import('../../site/journal/lock.ts');
  const { status } = await ask(site);
  if (typeof status !== 'object' || status === null) return null;
  const said = status as SiteLine;
  const sources = said.sources.map(source => ({ ...source, time: source.time || null }));
  return { ...said, changed: said.changed || null, sources };
}

export const ruleRoutes = [
  route({
    method: 'get',
    path: '/rules',
    summary: 'Rules about which changes somebody is told of, what waits, and the latest messages.',
    input: z.object({}),
    output: z.object({ rules: list(ruleLine) }).meta({ id: 'RuleList' }),
    answer: (_, { reader }) => ({ rules: readRules(reader.directory).map(rule => lineOf(reader, rule)) }),
  }),
  route({
    method: 'post',
    path: '/rules/try',
    summary: 'What a rule would have told of the last 20 changes that it is about; nothing is sent.',
    input: ruleInput,
    output: z.object({ changes: list(tried) }).meta({ id: 'TriedList' }),
    changes: true,
    answer: (input, { reader }) => tryOut(reader, input),
  }),
  route({
    method: 'post',
    path: '/rules',
    summary: 'Adds a rule that writes a feed, or tells a webhook.',
    input: ruleInput.extend({ webhook: z.string().max(2000).default('').describe('empty = a feed') }),
    output: ruleLine,
    changes: true,
    role: 'admin',
    answer({ webhook, ...input }, { reader }) {
      const rule = made(input, webhook === '' ? { kind: 'feed' } : { kind: 'webhook', url: webhook });
      addRule(reader.directory, rule);
      return lineOf(reader, rule);
    },
  }),
  route({
    method: 'post',
    path: '/rules/{name}/remove',
    summary: 'Removes a rule; what waits to be told by it is dropped.',
    input: z.object({ name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,60}$/, 'there is no such rule') }),
    output: z.object({ name: z.string() }).meta({ id: 'RemovedRule' }),
    changes: true,
    role: 'admin',
    answer({ name }, { reader }) {
      removeRule(reader.directory, name);
      return { name };
    },
  }),
  route({
    method: 'get',
    path: '/subscriptions',
    summary: 'Sites that tell what changed: how, how true that has been, and what each said last.',
    input: z.object({}),
    output: z.object({ subscriptions: list(subscription) }).meta({ id: 'SubscriptionList' }),
    answer: (_, { reader }) => ({ subscriptions: reader.parts.flatMap(({ ledger }) => subscriptionsOf(ledger)) }),
  }),
  route({
    method: 'get',
    path: '/site',
    summary: 'A `skein site` that runs on this machine: what it tells, and to whom.',
    input: z.object({}),
    output: z.object({ site: siteStatus.nullable().describe('null = none runs') }).meta({ id: 'RunningSite' }),
    answer: async (_, { reader }) => ({ site: await siteHere(reader) }),
  }),
];
