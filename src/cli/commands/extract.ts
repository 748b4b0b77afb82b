/** `skein extract`: fields of pages, as a file names them, over what is stored; nothing is fetched. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { SkeinError, systemWords } from '../../base/errors.ts';
import { askCollection } from '../../engine/open-collection.ts';
import { matcherOf } from '../../export/exporter.ts';
import { rowFormats, writeRows } from '../../export/rows.ts';
import { type Fields, fieldsFrom, fieldsOf } from '../../extract/fields.ts';
import { declare, values } from '../options/options.ts';
import { outOf, writeOut } from '../print/out-file.ts';
import { plural } from '../print/terminal.ts';

export function addExtractCommand(program: Command): void {
  const command = program
    .command('extract')
    .argument('[pattern]', 'only URLs that contain this; * matches anything')
    .requiredOption('--schema <file>', 'JSON file or module that names the fields and where to find them')
    .option('--format <name>', `${rowFormats.join(', ')} (default jsonl)`)
    .option('--after <cursor>', 'only pages whose rows changed after this cursor; each answer prints the next one')
    .option('--out <file>', 'output file, written completely or not at all; - = standard output (default)')
    .option('--json', 'report what was written, with the next cursor, as one JSON object on standard error')
    .addHelpText(
      'after',
      `
Examples:
  skein extract --schema shop.json --format csv --out prices.csv
  skein extract --schema shop.json example.org/shop --after 812-1773500000000

shop.json: {"fields": {"name": "h1", "price": {"css": "b", "as": "number"}}}
Full format: docs/guides/extract.md`,
    );
  declare(command, ['data']).action(async (pattern: string | undefined, given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    const schema = String(given['schema']);
    const format = formatOf(given['format']);
    const fields = await readSchema(schema);
    const file = outOf(given);
    if (file === undefined && format === 'parquet' && process.stdout.isTTY)
      throw new SkeinError('bad-option', 'A Parquet file cannot be printed to a terminal.', 'Name a file with --out.');
    askCollection(data).close();
    const wanted = { data, fields, format, after: String(given['after'] ?? '0'), matches: matcherOf(pattern) };
    const { cursor, rows, gone, refused, firstRefusal } = await writeOut(file, out => writeRows(wanted, out));
    if (given['json'])
      return console.error(JSON.stringify({ format, rows, gone, refused, cursor, file: file ?? '-', firstRefusal }));
    if (refused > 0) console.error(`Skipped ${plural(refused, 'row')} that the schema refused. ${firstRefusal}`);
    console.error(`${plural(rows, 'row')} extracted. Next time: --after ${cursor}`);
  });
}

function formatOf(given: unknown): (typeof rowFormats)[number] {
  const format = rowFormats.find(each => each === (given ?? 'jsonl'));
  if (format) return format;
  throw new SkeinError('bad-option', `There is no format "${given}".`, `Choose one of ${rowFormats.join(', ')}.`);
}

/** A module may hold what JSON cannot: a schema of rows. */
async function readSchema(file: string): Promise<Fields> {
  if (!/\.[mc]?[jt]s$/.test(file)) return fieldsOf(read(file), file);
  const url = pathToFileURL(resolve(file)).href;
  const module = (await import(url).catch(error => {
    throw new SkeinError('bad-option', `${file} cannot be loaded: ${systemWords(error)}.`);
  })) as { default?: unknown };
  return fieldsFrom(module.default, file);
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new SkeinError('bad-option', `${file} cannot be read: ${systemWords(error)}.`, 'Name another with --schema.');
  }
}
