/** `skein changes`: what changed, when, how much, and which stage of the detector saw it. */
import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { openLedger } from '../compose.ts';
import { declare, values } from '../options.ts';
import { harmless, moment, paint, table } from '../terminal.ts';
import { parseWhen } from '../when.ts';

/** Pages that show a changed image, named for each. */
const SHOWN_BY = 3;

export function addChangesCommand(program: Command): void {
  const command = program
    .command('changes')
    .description('what changed, when, how much, and how it was noticed')
    .argument('[pattern]', 'part of the URL, e.g. example.org/docs/*')
    .option('--since <when>', '7d, 12h or a date (default 7d)')
    .option('--new', 'also pages that were seen for the first time')
    .option('--limit <n>', 'how many, newest first (default 100)')
    .option('--json', 'print one JSON object a line')
    .addHelpText(
      'after',
      '\nExamples:\n  skein changes --since 2d\n  skein changes example.org/news --since 2026-03-01',
    );
  declare(command, ['data']).action(async (pattern: string | undefined, given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    const limit = Number(given['limit'] ?? 100);
    if (!Number.isInteger(limit) || limit < 1)
      throw new SkeinError('bad-option', '--limit takes a whole number from 1.');
    const since = parseWhen(String(given['since'] ?? '7d'), Date.now());
    const ledger = openLedger(data);
    const changes = changesSince(ledger, { since, pattern, limit, first: given['new'] === true });
    ledger.close();
    if (given['json']) for (const change of changes) console.log(JSON.stringify(change));
    else print(changes);
  });
}

export interface Change {
  readonly time: number;
  readonly url: string;
  /** back: a page that had been gone. */
  readonly kind: 'changed' | 'new' | 'gone' | 'moved' | 'back';
  /** Share of its blocks that differ, 0–1; of an image, of its looks. Null where nothing was compared. */
  readonly amount: number | null;
  readonly stage: string | null;
  readonly reason: string;
  readonly title: string | null;
  /** Of an image: pages that show it. */
  readonly shownBy?: readonly string[];
}

export interface ChangesWanted {
  readonly since: number;
  readonly pattern: string | undefined;
  readonly limit: number;
  /** Also first visits. */
  readonly first: boolean;
}

export function changesSince(ledger: Ledger, wanted: ChangesWanted): Change[] {
  const glob = wanted.pattern === undefined ? '*' : `*${wanted.pattern.replace(/[[?]/g, '[$&]')}*`;
  // What the visit before said makes the difference between "gone" and "still gone".
  const rows = ledger.database
    .prepare(
      `SELECT * FROM (
         SELECT v.id, v.time, v.page, v.outcome, v.reason, v.stage, v.amount, p.url, p.role, k.title,
           (SELECT b.outcome FROM visits b WHERE b.page = v.page AND b.id < v.id
            AND b.outcome NOT IN ('failed', 'refused') ORDER BY b.id DESC LIMIT 1) AS earlier
         FROM visits v JOIN pages p ON p.id = v.page LEFT JOIN known k ON k.page = v.page
         WHERE v.id >= ? AND v.time >= ? AND v.outcome IN ('fetched', 'same', 'gone', 'moved') AND p.role <> 1 AND p.url GLOB ?)
       WHERE (outcome = 'fetched' AND (earlier IS NOT NULL OR ?))
          OR (outcome = 'same' AND earlier = 'gone')
          OR (outcome IN ('gone', 'moved') AND earlier IN ('fetched', 'same'))
       ORDER BY id DESC LIMIT ?`,
    )
    .all(ledger.visits.since(wanted.since), wanted.since, glob, wanted.first ? 1 : 0, wanted.limit) as unknown as Row[];
  return rows.map(row => ({
    time: row.time,
    url: row.url,
    kind: kindOf(row),
    amount: row.amount,
    stage: row.stage,
    reason: row.reason,
    title: row.title,
    ...(row.role === 2 && { shownBy: shownBy(ledger, row.page) }),
  }));
}

interface Row {
  readonly time: number;
  readonly page: number;
  readonly outcome: string;
  readonly reason: string;
  readonly stage: string | null;
  readonly amount: number | null;
  readonly url: string;
  readonly role: number;
  readonly title: string | null;
  readonly earlier: string | null;
}

function kindOf({ outcome, earlier }: Row): Change['kind'] {
  if (outcome === 'gone' || outcome === 'moved') return outcome;
  if (earlier === 'gone') return 'back';
  return earlier === null ? 'new' : 'changed';
}

function shownBy(ledger: Ledger, image: number): string[] {
  return ledger.links.in(image, SHOWN_BY).map(({ source }) => ledger.pages.get(source)?.url ?? '');
}

/** How much, in words: per cent of the blocks, or nothing where nothing was compared. */
export function amountInWords(amount: number | null): string {
  if (amount === null) return '';
  const percent = amount * 100;
  return percent > 0 && percent < 1 ? '<1 %' : `${Math.round(percent)} %`;
}

function print(changes: readonly Change[]): void {
  if (changes.length === 0) {
    console.log('Nothing changed in that time, as far as was looked.');
    return;
  }
  const colours = { changed: 'yellow', new: 'green', gone: 'red', moved: 'cyan', back: 'green' } as const;
  const rows = changes.map(({ time, kind, amount, stage, url, title, shownBy: pages }) => [
    moment(time),
    paint(colours[kind], kind),
    amountInWords(amount),
    kind === 'changed' || kind === 'back' ? (stage ?? '') : '',
    harmless(url),
    pages ? harmless(`on ${pages.join(', ')}`) : harmless(title ?? '').slice(0, 60),
  ]);
  console.log(table(['seen', 'what', 'how much', 'stage', 'url', ''], rows));
}
