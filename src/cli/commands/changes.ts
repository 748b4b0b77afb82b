/**
 * `skein changes`: what changed, when, how much, and which stage of the detector saw it. An edit of navigation, header
 * or footer is told once for its server when many pages have it, and not at all when few have.
 */
import type { Command } from 'commander';
import { originOf } from '../../base/url.ts';
import { type Change, changesIn } from '../../home/changes.ts';
import { type TemplateEdit, templateEdits } from '../../home/template-edits.ts';
import { limitOf } from '../limit.ts';
import { openLedger } from '../look.ts';
import { declare, values } from '../options.ts';
import { harmless, moment, paint, table } from '../terminal.ts';
import { parseWhen } from '../when.ts';

export function addChangesCommand(program: Command): void {
  const command = program
    .command('changes')
    .argument('[pattern]', 'part of the URL, e.g. example.org/docs/*')
    .option('--since <when>', '7d, 12h or a date (default 7d)')
    .option('--new', 'also pages that were seen for the first time')
    .option('--template', 'every page of which only navigation, header or footer changed, too')
    .option('--limit <n>', 'how many, newest first (default 100; with --json all)')
    .option('--json', 'print one JSON object a line')
    .addHelpText(
      'after',
      '\nExamples:\n  skein changes --since 2d\n  skein changes example.org/news --since 2026-03-01',
    );
  declare(command, ['data']).action(async (pattern: string | undefined, given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    const limit = limitOf(given, 100);
    const since = parseWhen(String(given['since'] ?? '7d'), Date.now());
    const ledger = openLedger(data);
    const [first, every, json] = [given['new'] === true, given['template'] === true, given['json'] === true];
    const pages = changesIn(ledger, { since, limit, first, template: every || json, ...(pattern && { pattern }) });
    const servers = every ? [] : templateEdits(ledger, since, pattern);
    ledger.close();
    if (!json) return print(pages, servers);
    // A machine folds by itself: it gets the pages of an edit that is told.
    const told = new Set(servers.map(({ origin }) => origin));
    for (const change of pages) {
      if (change.kind !== 'template' || every || told.has(originOf(change.url))) console.log(JSON.stringify(change));
    }
  });
}

/** How much, in words: per cent of the blocks, or nothing where nothing was compared. */
export function amountInWords(amount: number | null): string {
  if (amount === null) return '';
  const percent = amount * 100;
  return percent > 0 && percent < 1 ? '<1 %' : `${Math.round(percent)} %`;
}

const colours = {
  changed: 'yellow',
  new: 'green',
  gone: 'red',
  moved: 'cyan',
  back: 'green',
  template: 'dim',
} as const satisfies Record<Change['kind'], string>;

function print(pages: readonly Change[], servers: readonly TemplateEdit[]): void {
  if (pages.length + servers.length === 0) {
    console.log('Nothing changed in that time, as far as was looked.');
    return;
  }
  const edits = servers.map(({ time, origin, amount, pages: count }) => [
    ...[moment(time), paint(colours.template, 'template'), amountInWords(amount), ''],
    ...[harmless(origin), `navigation, header or footer of ${count} pages`],
  ]);
  const rows = pages.map(({ time, kind, amount, stage, url, title, shownBy }) => [
    moment(time),
    paint(colours[kind], kind),
    amountInWords(amount),
    kind === 'changed' || kind === 'back' ? (stage ?? '') : '',
    harmless(url),
    shownBy ? harmless(`on ${shownBy.join(', ')}`) : harmless(title ?? '').slice(0, 60),
  ]);
  console.log(table(['seen', 'what', 'how much', 'stage', 'url', ''], [...edits, ...rows]));
}
