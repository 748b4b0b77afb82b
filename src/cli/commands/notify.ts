/** `skein notify`: rules about which changes somebody is told of, and how. */
import { join } from 'node:path';
import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.ts';
import { requireCollection } from '../../engine/open-ledger.ts';
import { Desk } from '../../notify/desk.ts';
import type { ChangeCandidate } from '../../notify/find.ts';
import { Notifier } from '../../notify/notifier.ts';
import { notifyDirectory } from '../../notify/place.ts';
import { type Channel, type Rule, ruleOf } from '../../notify/rule.ts';
import { addRule, readRules, removeRule, ruleNamed } from '../../notify/rules-file.ts';
import { TRIED, tryRule } from '../../notify/try-rule.ts';
import { channelOf, conditionsOf, HeldNotifier, keepConfiguredRules } from '../options/notify-rules.ts';
import { declare, values } from '../options/options.ts';
import { printJson } from '../print/json.ts';
import { harmless, moment, paint, plural, table } from '../print/terminal.ts';

type NotifyOptions = Record<string, unknown>;

export function addNotifyCommand(program: Command): void {
  const notify = program
    .command('notify')
    .addHelpText(
      'after',
      '\nExamples:\n  skein notify add prices --url */shop/* --webhook https://example.org/hook\n  skein notify list',
    );
  addAdd(notify);
  addList(notify);
  addTry(notify);
  addRun(notify);
  const remove = notify
    .command('remove')
    .argument('<name>', 'the rule')
    .description('remove a rule with its unsent messages')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  skein notify remove prices');
  declare(remove, ['data']).action(async (name: string, given: NotifyOptions) => {
    const { data } = await values(given, ['data']);
    requireCollection(data);
    removeRule(data, name);
    if (given['json']) printJson({ name });
    else console.log(`Removed the rule ${name}.`);
  });
}

function addAdd(notify: Command): void {
  const add = notify
    .command('add')
    .argument('<name>', 'name of the rule: letters, digits, hyphens')
    .description('add a rule for changes from now on')
    .option('--url <pattern>', 'pages whose URL contains this; * matches anything (default: all)')
    .option('--kinds <kinds>', 'changed, new, gone, moved, back (default: all but new)')
    .option('--include <css...>', 'only these parts of a page count')
    .option('--ignore <css...>', 'not these parts')
    .option('--ignore-text <regex...>', 'text to ignore')
    .option('--only <words...>', 'one of these words must have been added or removed')
    .option('--least-words <n>', 'least number of changed words (default 1)')
    .option('--least-share <percent>', 'least share of changed words, such as 5%')
    .option('--at-most <time>', 'at most one message in 10m, 6h or 1d, with all changes of that time')
    .option('--webhook <url>', 'send a POST request with JSON to this URL')
    .option('--allow-private', 'the webhook may be at a private address')
    .option('--secret <text>', 'key that signs webhook requests; better: SKEIN_SECRET')
    .option('--command <line>', 'run this command with JSON on its standard input')
    .option('--mail <addresses...>', 'send mail; needs --smtp and --from')
    .option('--smtp <url>', 'smtp://user:password@host:587; better: SKEIN_SMTP')
    .option('--from <address>', 'sender of mail')
    .option('--feed [file]', 'write an Atom feed (RSS if the file ends in .rss)')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `
Examples:
  skein notify add prices --url shop.example/* --include .price \\
    --webhook https://example.org/hook
  skein notify add docs --ignore nav --least-words 5 --at-most 1d \\
    --mail me@example.org --from skein@example.org --smtp smtp://localhost
  skein notify add all --feed changes.atom

A refresh or watch sends messages as it goes; "skein notify run" sends them now.`,
    );
  declare(add, ['data']).action(async (name: string, given: NotifyOptions) => {
    const { data } = await values(given, ['data']);
    requireCollection(data);
    const rule = ruleOf({ name, ...conditionsOf(given), channel: channelOf(given) });
    addRule(data, rule);
    using notifier = new HeldNotifier(data);
    await notifier.pass(); // from now on
    if (given['json']) printJson(shownRule(rule));
    else console.log(`Added the rule ${name}. "skein notify try ${name}" shows what it would have sent.`);
  });
}

function addList(notify: Command): void {
  const list = notify
    .command('list')
    .description('list the rules with messages sent and waiting')
    .option('--json', 'print one JSON object a line')
    .addHelpText('after', '\nExample:\n  skein notify list');
  declare(list, ['data']).action(async (given: NotifyOptions) => {
    const { data } = await values(given, ['data']);
    requireCollection(data);
    await keepConfiguredRules(given, data);
    const rows = readRules(data).map(rule => {
      const desk = new Desk(join(notifyDirectory(data), rule.name));
      return { rule, state: desk.state, waiting: desk.waiting().length };
    });
    if (given['json']) {
      for (const { rule, state, waiting } of rows) {
        const { sent, messages, failures, trouble } = state;
        printJson({ ...shownRule(rule), waiting, messages, sent: timeOf(sent), failures, trouble });
      }
      return;
    }
    if (rows.length === 0) return console.log('No rules yet. "skein notify add --help" shows how to add one.');
    const cells = rows.map(({ rule, state, waiting }) => [
      ...[rule.name, rule.url ?? 'all pages', wayOf(rule.channel), String(state.messages), String(waiting)],
      state.sent === 0 ? 'never' : moment(state.sent),
      harmless(state.trouble),
    ]);
    console.log(table(['rule', 'pages', 'channel', 'messages', 'waiting', 'last', 'trouble'], cells));
  });
}

function addTry(notify: Command): void {
  const trial = notify
    .command('try')
    .argument('<name>', 'the rule')
    .description(`show what it would have sent for the last ${TRIED} changes; sends nothing`)
    .option('--json', 'print one JSON object a line')
    .addHelpText('after', '\nExample:\n  skein notify try prices');
  declare(trial, ['data']).action(async (name: string, given: NotifyOptions) => {
    const { data } = await values(given, ['data']);
    requireCollection(data);
    await keepConfiguredRules(given, data);
    const rule = ruleNamed(data, name);
    const found = await tryRule(data, rule);
    for (const { change, weighed } of found) {
      if (given['json']) printJson({ ...change, counts: weighed.counts });
      else printTried(change, weighed);
    }
    if (given['json']) return;
    const counting = found.filter(({ weighed }) => weighed.counts).length;
    console.log(`${plural(counting, 'message')} of ${plural(found.length, 'change')}.`);
  });
}

function printTried({ url, time, diff }: ChangeCandidate['change'], { counts, why }: ChangeCandidate['weighed']): void {
  const verdict = counts ? paint('green', 'tells') : paint('dim', 'silent');
  console.log(`${verdict}  ${harmless(url)}, ${moment(Date.parse(time))}: ${harmless(why)}`);
  if (counts && diff) console.log(`       ${harmless(diff.split('\n')[0]!).slice(0, 300)}`);
}

function addRun(notify: Command): void {
  const run = notify
    .command('run')
    .description('look for changes and send messages now; failed messages are retried when due')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  skein notify run');
  declare(run, ['data']).action(async (given: NotifyOptions) => {
    const { data } = await values(given, ['data']);
    requireCollection(data);
    await keepConfiguredRules(given, data);
    if (readRules(data).length === 0) throw new SkeinError('not-found', 'No rules yet.', 'See "skein notify add".');
    const notifier = new Notifier(data);
    try {
      const told = await notifier.pass();
      if (given['json']) printJson(told);
      else {
        const { found, sent, failed } = told;
        console.log(`${plural(found, 'change')} found, ${plural(sent, 'message')} sent, ${failed} failed.`);
      }
      if (told.failed > 0) process.exitCode = 1;
    } finally {
      notifier.close();
    }
  });
}

const timeOf = (time: number) => (time === 0 ? null : new Date(time).toISOString());

/** Passwords and secrets stay in the file. */
function shownRule({ channel, ...rule }: Rule): object {
  return { ...rule, channel: wayOf(channel) };
}

function wayOf(channel: Channel): string {
  if (channel.kind === 'webhook') return `webhook ${new URL(channel.url).host}`;
  if (channel.kind === 'mail') return `mail to ${channel.to.join(', ')}`;
  return channel.kind === 'command' ? 'command' : `feed ${channel.file ?? ''}`.trim();
}
