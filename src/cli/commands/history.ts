/** `skein history URL`: every visit to a page as a timeline. */
import type { Command } from 'commander';
import { askWhole } from '../../engine/open-collection.ts';
import { historyQuestion, type TimelineEntry } from '../../questions/page/history.ts';
import { aboutUrl } from '../../questions/page/page.ts';
import { declare, values } from '../options/options.ts';
import { endAsking } from '../print/incomplete.ts';
import { printJson } from '../print/json.ts';
import { duration, fold, harmless, moment, paint, size } from '../print/terminal.ts';
import { stageInWords, wordsInShort } from './changes.ts';

export function addHistoryCommand(program: Command): void {
  const command = program
    .command('history')
    .argument('<url>', 'the page')
    .option('--json', 'print one JSON object a line')
    .addHelpText('after', '\nExample:\n  skein history https://example.org/');
  declare(command, ['data', 'engine']).action(async (url: string, given: Record<string, unknown>) => {
    const { data, engine } = await values(given, ['data', 'engine']);
    await using collection = await askWhole(data, engine);
    const { url: found, timeline } = await collection.ask(historyQuestion, aboutUrl(url));
    endAsking(collection);
    if (given['json']) for (const { means: _, ...entry } of timeline) printJson(entry);
    else print(found, timeline);
  });
}

const MARKS: Readonly<Record<string, readonly [sign: string, colour: 'green' | 'dim' | 'cyan' | 'red' | 'yellow']>> = {
  fetched: ['●', 'green'],
  same: ['○', 'dim'],
  moved: ['→', 'cyan'],
  gone: ['✕', 'red'],
  refused: ['–', 'yellow'],
  failed: ['!', 'red'],
};

/** Where the sentence of a visit begins. */
const INDENT = ' '.repeat(33);

function print(url: string, timeline: readonly TimelineEntry[]): void {
  console.log(paint('bold', harmless(url)));
  if (timeline.length === 0) console.log('This page was never visited.');
  let last: number | undefined;
  for (const entry of timeline) {
    const [sign, colour] = MARKS[entry.outcome] ?? ['?', 'dim'];
    const gap = last === undefined ? '' : `+${duration(entry.time - last)}`;
    last = entry.time;
    const words = [
      `${moment(entry.time)}  ${gap.padStart(8)}  ${paint(colour, sign)} ${sentenceOf(entry)}`,
      paint('dim', `${size(entry.bytes)}, ${entry.ms} ms, ${entry.outpost}`),
    ];
    console.log(fold(words.join('  '), INDENT));
  }
}

function sentenceOf(entry: TimelineEntry): string {
  const { outcome, stage, means, version, status, cause } = entry;
  const stored = version === null ? '' : `, stored as version ${version}`;
  const audited = cause === 'audit' ? ' (checked against the whole page)' : '';
  if (outcome === 'same') return `${means.startsWith('unchanged') ? means : `unchanged: ${means}`}${stored}${audited}`;
  if (outcome !== 'fetched') return `${outcome}: ${means}${status >= 400 ? ` (${status})` : ''}`;
  if (stage === 'first') return `first visit${stored}`;
  const much = wordsInShort(entry);
  return `${stage ? stageInWords(stage) : 'page'} changed${much && ` (${much} words)`}${stored}${audited}`;
}
