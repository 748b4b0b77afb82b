/** `skein extract`: fields of pages, as a file names them, over what is stored; nothing is fetched. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { SkeinError, systemWords } from '../../base/errors.ts';
import { askCollection } from '../../engine/open-collection.ts';
import { matcherOf } from '../../export/exporter.ts';
import { rowFormats, writeRows } from '../../export/rows.ts';
import { fieldsOf } from '../../extract/fields.ts';
import { declare, values } from '../options/options.ts';
import { outOf, writeOut } from '../print/out-file.ts';
import { plural } from '../print/terminal.ts';

export function addExtractCommand(program: Command): void {
  const command = program
    .command('extract')
    .argument('[pattern]', 'only URLs that contain this; * stands for anything')
    .requiredOption('--schema <file>', 'JSON file that names the fields and where they stand')
    .option('--format <name>', `${rowFormats.join(', ')} (default jsonl)`)
    .option('--after <cursor>', 'only pages whose rows differ since then; every answer tells the next one')
    .option('--out <file>', 'file to write, whole or not at all; - = standard output (default)')
    .option('--json', 'report what was written, with the next cursor, as one JSON object on standard error')
    .addHelpText(
      'after',
      `
Examples:
  skein extract --schema shop.json --format csv --out prices.csv
  skein extract --schema shop.json example.org/shop --after 812-1773500000000

shop.json: {"fields": {"name": "h1", "price": {"css": "b", "as": "number"}}}
All that it can say: docs/guides/extract.md`,
    );
  declare(command, ['data']).action(async (pattern: string | undefined, given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    const schema = String(given['schema']);
    const format = formatOf(given['format']);
    const fields = fieldsOf(read(schema), schema);
    const file = outOf(given);
    if (file === undefined && format === 'parquet' && process.stdout.isTTY)
      throw new SkeinError('bad-option', 'A Parquet file is nothing for a terminal.', 'Name a file with --out.');
    askCollection(data).close();
    const wanted = { data, fields, format, after: String(given['after'] ?? '0'), matches: matcherOf(pattern) };
    const { cursor, rows, gone } = await writeOut(file, out => writeRows(wanted, out));
    if (given['json']) console.error(JSON.stringify({ format, rows, gone, cursor, file: file ?? '-' }));
    else console.error(`${plural(rows, 'row')} from what is stored. Next time: --after ${cursor}`);
  });
}

function formatOf(given: unknown): (typeof rowFormats)[number] {
  const format = rowFormats.find(each => each === (given ?? 'jsonl'));
  if (format) return format;
  throw new SkeinError('bad-option', `There is no format "${given}".`, `Choose one of ${rowFormats.join(', ')}.`);
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new SkeinError('bad-option', `${file} cannot be read: ${systemWords(error)}.`, 'Name another with --schema.');
  }
}
