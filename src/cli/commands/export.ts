/** `skein export`: the collection, or a part of it, in one of the formats of src/export/. */
import { basename } from 'node:path';
import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.ts';
import { type ExportChoice, exportWanted } from '../../engine/library/data-out.ts';
import { askWhole } from '../../engine/open-collection.ts';
import type { Exporter } from '../../export/exporter.ts';
import { exporterOf, formatNames } from '../../export/formats.ts';
import { declare, values } from '../options/options.ts';
import { parseWhen } from '../options/when.ts';
import { endAsking } from '../print/incomplete.ts';
import { outOf, writeOut } from '../print/out-file.ts';
import { plural } from '../print/terminal.ts';

export function addExportCommand(program: Command): void {
  const command = program
    .command('export')
    .argument('[pattern]', 'only URLs that contain this; * matches anything')
    .option('--format <name>', `${formatNames} (default warc, which is WARC 1.1)`)
    .option('--out <file>', 'file to write; - = standard output (default)')
    .option('--since <when>', 'only copies since then: 7d, 12h or 2026-03-14')
    .option('--until <when>', 'only copies before then; with --newest: the collection as it was then')
    .option('--newest', 'only the newest copy of each page')
    .option('--no-body', 'jsonl: omit the bodies (text as "body", anything else as "base64")')
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
that is still there, as it is now or, with --until, as it was then. found holds
what hooks took from pages.`,
    );
  declare(command, ['data', 'engine']).action(async (pattern: string | undefined, given: Record<string, unknown>) => {
    const { data, engine } = await values(given, ['data', 'engine']);
    const exporter = exporterOf(String(given['format'] ?? 'warc'));
    const file = outOf(given);
    const named = file === undefined ? {} : { filename: basename(file) };
    await using collection = await askWhole(data, engine);
    refuseOdd(exporter, given);
    const wanted = exportWanted(collection, data, { ...choiceOf(given), ...named, pattern });
    const count = await writeOut(file, out => exporter.write(wanted, out));
    endAsking(collection);
    if (given['json']) console.error(JSON.stringify({ format: exporter.name, pages: count, file: file ?? '-' }));
    else if (file !== undefined)
      console.log(`${exporter.pages ? plural(count, 'page') : plural(count, 'copy', 'copies')} written to ${file}.`);
  });
}

function refuseOdd({ name, binary }: Exporter, given: Record<string, unknown>): void {
  if (given['body'] === false && name !== 'jsonl')
    throw new SkeinError('bad-option', '--no-body works only with --format jsonl.', 'Omit one of the two.');
  if (outOf(given) === undefined && binary && process.stdout.isTTY)
    throw new SkeinError('bad-option', `${nameOf(name)} cannot be printed to a terminal.`, 'Name a file with --out.');
}

function nameOf(format: string): string {
  return format === 'parquet' ? 'A Parquet file' : 'A WARC file';
}

function choiceOf(given: Record<string, unknown>): ExportChoice {
  const when = (name: string, otherwise: number) =>
    given[name] === undefined ? otherwise : parseWhen(String(given[name]), Date.now());
  return {
    newest: given['newest'] === true,
    body: given['body'] !== false,
    since: when('since', 0),
    until: when('until', Number.MAX_SAFE_INTEGER),
  };
}
