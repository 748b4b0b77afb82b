/** `skein export`: the collection, or a part of it, in one of the formats of src/export/. */
import { basename, join } from 'node:path';
import type { Command } from 'commander';
import type { Filter } from '../../archive/export.ts';
import { committedEnds } from '../../archive/segments.ts';
import { SkeinError } from '../../base/errors.ts';
import { version } from '../../base/version.ts';
import { openLedger } from '../../engine/open-ledger.ts';
import { type Exporter, matcherOf } from '../../export/exporter.ts';
import { exporterOf, formatNames } from '../../export/formats.ts';
import { declare, values } from '../options/options.ts';
import { parseWhen } from '../options/when.ts';
import { outOf, writeOut } from '../print/out-file.ts';
import { plural } from '../print/terminal.ts';

export function addExportCommand(program: Command): void {
  const command = program
    .command('export')
    .argument('[pattern]', 'only URLs that contain this; * stands for anything')
    .option('--format <name>', `${formatNames} (default warc, which is WARC 1.1)`)
    .option('--out <file>', 'file to write; - = standard output (default)')
    .option('--since <when>', 'only copies from then on: 7d, 12h or 2026-03-14')
    .option('--until <when>', 'only copies from before then; with --newest: the collection as it was then')
    .option('--newest', 'only the newest copy of each page')
    .option('--no-body', 'jsonl: leave the bodies out (text as "body", anything else as "base64")')
    .option('--json', 'report what was written as one JSON object on standard error')
    .addHelpText(
      'after',
      `
Examples:
  skein export --out site.warc.gz
  skein export --newest --until 2026-03-14 --out in-march.warc.gz
  skein export --format warc-1.0 --out for-bsdtar.warc.gz
  skein export --format jsonl --newest example.org/docs > docs.jsonl
  skein export --format markdown example.org/docs --out docs.md
  skein export --format parquet --out pages.parquet

markdown, text, csv, parquet and chunks hold the main content of each HTML page
that is still there, as it is now or, with --until, as it was then.`,
    );
  declare(command, ['data']).action(async (pattern: string | undefined, given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    const exporter = exporterOf(String(given['format'] ?? 'warc'));
    const choice = { ...choiceOf(given), pattern };
    const filter = filterOf(data, choice);
    refuseOdd(exporter, given);
    const file = outOf(given);
    const wanted = {
      ...{ data, filter, since: choice.since, until: choice.until, body: given['body'] !== false },
      matches: matcherOf(pattern),
      filename: file === undefined ? 'export.warc.gz' : basename(file),
      software: `Skein/${version}`,
    };
    const count = await writeOut(file, out => exporter.write(wanted, out));
    if (given['json']) console.error(JSON.stringify({ format: exporter.name, pages: count, file: file ?? '-' }));
    else if (file !== undefined)
      console.log(`${exporter.pages ? plural(count, 'page') : plural(count, 'copy', 'copies')} written to ${file}.`);
  });
}

function refuseOdd({ name, binary }: Exporter, given: Record<string, unknown>): void {
  if (given['body'] === false && name !== 'jsonl')
    throw new SkeinError('bad-option', '--no-body is only for --format jsonl.', 'Leave one of the two out.');
  if (outOf(given) === undefined && binary && process.stdout.isTTY)
    throw new SkeinError('bad-option', `${nameOf(name)} is nothing for a terminal.`, 'Name a file with --out.');
}

function nameOf(format: string): string {
  return format === 'parquet' ? 'A Parquet file' : 'A WARC file';
}

interface Choice {
  readonly pattern: string | undefined;
  readonly newest: boolean;
  readonly since: number;
  readonly until: number;
}

function choiceOf(given: Record<string, unknown>): Omit<Choice, 'pattern'> {
  const when = (name: string, otherwise: number) =>
    given[name] === undefined ? otherwise : parseWhen(String(given[name]), Date.now());
  return {
    newest: given['newest'] === true,
    since: when('since', 0),
    until: when('until', Number.MAX_SAFE_INTEGER),
  };
}

/** Only what the ledger speaks of: a torn tail is nobody's page. */
function filterOf(data: string, { pattern, newest, since, until }: Choice): Filter {
  const ledger = openLedger(data);
  const ends = committedEnds(join(data, 'archive'), ledger.segments());
  const places = new Set<string>();
  if (newest) {
    for (const { segment, offset } of ledger.visits.newestCopies(until)) places.add(`${segment} ${offset}`);
  }
  ledger.close();
  const matches = matcherOf(pattern);
  return ({ url, time, segment, offset }) =>
    offset < (ends.get(segment) ?? 0) &&
    time >= since &&
    time < until &&
    matches(url) &&
    (!newest || places.has(`${segment} ${offset}`));
}
