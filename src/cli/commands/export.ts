/** `skein export`: the collection as one WARC file, as JSON lines, or as a CDXJ index. */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Command } from 'commander';
import { writeCdxj } from '../../archive/cdxj.ts';
import { exportWarc, type StoredPage, storedPages } from '../../archive/export.ts';
import { SkeinError } from '../../base/errors.ts';
import { openCopies } from '../../home/copies.ts';
import { openLedger } from '../compose.ts';
import { declare, values } from '../options.ts';

const formats = ['warc', 'jsonl', 'cdxj'] as const;

export function addExportCommand(program: Command): void {
  const command = program
    .command('export')
    .description('write the collection as one file')
    .argument('[pattern]', 'only URLs that contain this')
    .option('--format <name>', `${formats.join(', ')} (default warc)`)
    .option('--out <file>', 'file to write; - = standard output (default)')
    .option('--newest', 'only the newest copy of each page')
    .option('--no-body', 'jsonl: leave the bodies out')
    .option('--json', 'report what was written as one JSON object on standard error')
    .addHelpText(
      'after',
      '\nExamples:\n  skein export --out site.warc.gz\n  skein export --format jsonl --newest example.org/docs > docs.jsonl',
    );
  declare(command, ['data']).action(async (pattern: string | undefined, given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    const format = String(given['format'] ?? 'warc');
    const file = given['out'] as string | undefined;
    const out = file === undefined || file === '-' ? process.stdout : createWriteStream(file);
    const filter = filterOf(data, pattern, given['newest'] === true);
    const count = await write(format, { data, out, filter, body: given['body'] !== false });
    if (out !== process.stdout) {
      out.end();
      await finished(out);
    }
    if (given['json']) console.error(JSON.stringify({ format, pages: count, file: file ?? '-' }));
    else if (out !== process.stdout) console.log(`${count.toLocaleString('en')} copies written to ${file}.`);
  });
}

interface Job {
  readonly data: string;
  readonly out: Writable;
  readonly filter: (page: StoredPage) => boolean;
  readonly body: boolean;
}

async function write(format: string, job: Job): Promise<number> {
  const archive = join(job.data, 'archive');
  if (format === 'warc') return exportWarc(archive, job.out, { filter: job.filter });
  if (format === 'jsonl') return writeLines(archive, job);
  if (format === 'cdxj') return writeIndex(archive, job.out);
  throw new SkeinError('bad-option', `There is no format "${format}".`, `Choose one of ${formats.join(', ')}.`);
}

async function writeLines(archive: string, { out, filter, body, data }: Job): Promise<number> {
  const ledger = openLedger(data);
  const copies = openCopies(ledger, data);
  let count = 0;
  for await (const page of storedPages(archive)) {
    if (!filter(page)) continue;
    const { url, time, status, mediaType, digest, kind } = page;
    const whole = body ? copies.whole(page.stored) : undefined;
    const text = whole && { body: Buffer.from(whole.decoded().bytes).toString() };
    const line = `${JSON.stringify({ url, time: new Date(time).toISOString(), status, type: mediaType, digest, kind, ...text })}\n`;
    if (!out.write(line)) await new Promise(resolve => out.once('drain', resolve));
    count++;
  }
  copies.close();
  ledger.close();
  return count;
}

async function writeIndex(archive: string, out: Writable): Promise<number> {
  const file = join(archive, 'index.cdxj');
  const count = await writeCdxj(archive, file);
  const { createReadStream } = await import('node:fs');
  for await (const chunk of createReadStream(file)) out.write(chunk);
  return count;
}

/** Only what the ledger speaks of: a torn tail is nobody's page. */
function filterOf(data: string, pattern: string | undefined, newest: boolean): (page: StoredPage) => boolean {
  const ledger = openLedger(data);
  const lengths = new Map(ledger.segments().map(({ id, length }) => [id, length]));
  const places = new Set<string>();
  if (newest) {
    const rows = ledger.database.prepare(
      'SELECT segment, place + request_length AS place FROM known WHERE segment IS NOT NULL',
    );
    for (const row of rows.iterate()) places.add(`${row['segment']} ${row['place']}`);
  }
  ledger.close();
  return page =>
    page.offset < (lengths.get(page.segment) ?? Number.POSITIVE_INFINITY) &&
    (pattern === undefined || page.url.includes(pattern)) &&
    (!newest || places.has(`${page.segment} ${page.offset}`));
}
