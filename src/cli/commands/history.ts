/** `skein history URL`: every visit to a page as a timeline. */
import type { Command } from 'commander';
import { openLedger } from '../../engine/open-ledger.ts';
import { meaningOf } from '../../errand/reasons.ts';
import { findPage } from '../../home/answers/lookup.ts';
import type { VisitRow } from '../../ledger/visits.ts';
import { declare, values } from '../options/options.ts';
import { printJson } from '../print/json.ts';
import { duration, fold, harmless, moment, paint, size } from '../print/terminal.ts';
import { wordsInShort } from './changes.ts';

export function addHistoryCommand(program: Command): void {
  const command = program
    .command('history')
    .argument('<url>', 'the page')
    .option('--json', 'print one JSON object a line')
    .addHelpText('after', '\nExample:\n  skein history https://example.org/');
  declare(command, ['data']).action(async (url: string, given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    const ledger = openLedger(data);
    const { page } = findPage(ledger, url);
    const timeline = timelineOf(ledger.visits.of(page.id));
    ledger.close();
    if (given['json']) for (const { means: _, ...entry } of timeline) printJson(entry);
    else print(page.url, timeline);
  });
}

export interface TimelineEntry {
  readonly time: number;
  readonly outcome: string;
  readonly reason: string;
  readonly means: string;
  readonly status: number;
  readonly stage: string | null;
  readonly amount: number | null;
  /** Words that went and came. */
  readonly removed: number | null;
  readonly added: number | null;
  /** On the wire, both ways. */
  readonly bytes: number;
  readonly cause: string;
  readonly ms: number;
  readonly outpost: string;
  /** Number of the version that this visit stored; null = none. */
  readonly version: number | null;
}

function timelineOf(visits: readonly VisitRow[]): TimelineEntry[] {
  let versions = 0;
  return visits.map(visit => ({
    time: visit.time,
    outcome: visit.outcome,
    reason: visit.reason,
    means: meaningOf(visit.reason),
    status: visit.status,
    stage: visit.stage,
    amount: visit.amount,
    removed: visit.removed,
    added: visit.added,
    bytes: visit.up + visit.down,
    cause: visit.cause,
    ms: visit.ms,
    outpost: visit.outpost,
    version: visit.segment === null ? null : ++versions,
  }));
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
  if (timeline.length === 0) console.log('It was never visited.');
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
  if (outcome === 'same' && stage === 'template') return `the same but for an edit that many pages share${stored}`;
  if (outcome === 'same' && stage === 'noise') return `the same but for noise${stored}`;
  if (outcome === 'same' && stage === 'stamp') return `the same but for a date or another stamp${stored}`;
  if (outcome === 'same') return `the same: ${means}${audited}`;
  if (outcome !== 'fetched') return `${outcome}: ${means}${status >= 400 ? ` (${status})` : ''}`;
  if (stage === 'first') return `seen for the first time${stored}`;
  const much = wordsInShort(entry);
  return `changed${much && ` by ${much} words`}, seen by ${stage ?? 'nobody'}${stored}${audited}`;
}
