/** `skein export`: the collection, or a part of it, as one WARC file, as JSON lines, or as a CDXJ index. */
import { createWriteStream, mkdtempSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Command } from 'commander';
import { candidateOf, cdxjLines, writeCdxj } from '../../archive/cdxj.ts';
import { exportWarc, type Filter, storedPages } from '../../archive/export.ts';
import { committedEnds } from '../../archive/segments.ts';
import { SkeinError, systemWords } from '../../base/errors.ts';
import { openCopies } from '../../home/copies/copies.ts';
import { bodyOf } from '../../home/copies/copy-text.ts';
import { openLedger } from '../open-ledger.ts';
import { shareAsUsual } from '../options/mask.ts';
import { declare, values } from '../options/options.ts';
import { parseWhen } from '../options/when.ts';
import { plural } from '../print/terminal.ts';
import { version } from '../version.ts';

const formats = ['warc', 'warc-1.0', 'jsonl', 'cdxj'] as const;

export function addExportCommand(program: Command): void {
  const command = program
    .command('export')
    .argument('[pattern]', 'only URLs that contain this; * stands for anything')
    .option('--format <name>', `${formats.join(', ')} (default warc, which is WARC 1.1)`)
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
  skein export --format jsonl --newest example.org/docs > docs.jsonl`,
    );
  declare(command, ['data']).action(async (pattern: string | undefined, given: Record<string, unknown>) => {
    const { data } = await values(given, ['data']);
    const format = formatOf(given['format']);
    const filter = filterOf(data, { ...choiceOf(given), pattern });
    if (given['body'] === false && format !== 'jsonl')
      throw new SkeinError('bad-option', '--no-body is only for --format jsonl.', 'Leave one of the two out.');
    const file = given['out'] === '-' ? undefined : (given['out'] as string | undefined);
    if (file === undefined && format.startsWith('warc') && process.stdout.isTTY) {
      throw new SkeinError('bad-option', 'A WARC file is nothing for a terminal.', 'Name a file with --out.');
    }
    const target = file === undefined ? undefined : openOut(file);
    const out = target?.out ?? process.stdout;
    const failed = new Promise<never>((_, reject) => out.once('error', error => reject(unwritable(file, error))));
    const written = async () => {
      const count = await write({ format, data, out, filter, file, body: given['body'] !== false });
      if (target) await finished(out.end());
      return count;
    };
    const count = await Promise.race([written(), failed]).catch(error => {
      target?.drop();
      throw error;
    });
    target?.keep();
    if (given['json']) console.error(JSON.stringify({ format, pages: count, file: file ?? '-' }));
    else if (file !== undefined) console.log(`${plural(count, 'copy', 'copies')} written to ${file}.`);
  });
}

type Format = (typeof formats)[number];

interface Job {
  readonly format: Format;
  readonly data: string;
  readonly out: Writable;
  readonly filter: Filter;
  readonly file: string | undefined;
  readonly body: boolean;
}

function formatOf(given: unknown): Format {
  const format = formats.find(each => each === (given ?? 'warc'));
  if (format) return format;
  throw new SkeinError('bad-option', `There is no format "${given}".`, `Choose one of ${formats.join(', ')}.`);
}

interface Target {
  readonly out: Writable;
  /** All is written: it gets its name. */
  keep(): void;
  /** It is not whole, and goes. */
  drop(): void;
}

/**
 * Opened at once, so that what is wrong with it is said before anything is read. A file is written beside its name and takes
 * it when it is whole: whoever finds one under the name has all of it. What is no file (a pipe, /dev/null) is written to.
 */
function openOut(file: string): Target {
  try {
    const there = statSync(file, { throwIfNoEntry: false });
    if (there && !there.isFile()) {
      const out = createWriteStream(file, { fd: openSync(file, 'w') });
      return { out, keep() {}, drop() {} };
    }
    const aside = `${file}.part`;
    const out = createWriteStream(aside, { fd: openSync(aside, 'w') });
    const keep = () => {
      shareAsUsual(aside);
      renameSync(aside, file);
    };
    return { out, keep, drop: () => rmSync(aside, { force: true }) };
  } catch (error) {
    throw unwritable(file, error);
  }
}

function unwritable(file: string | undefined, error: unknown): SkeinError {
  const text = `${file ?? 'Standard output'} cannot be written: ${systemWords(error)}.`;
  if ((error as NodeJS.ErrnoException).code === 'ENOSPC')
    return new SkeinError('disk-full', text, 'Make room, or name a file elsewhere with --out.');
  return new SkeinError('refused', text, 'Name another file with --out.', { cause: error });
}

function write(job: Job): Promise<number> {
  const { format, data, out, filter, file } = job;
  const archive = join(data, 'archive');
  if (format === 'jsonl') return writeLines(archive, job);
  if (format === 'cdxj') return writeIndex(archive, job);
  const filename = file === undefined ? 'export.warc.gz' : basename(file);
  const asked = { filter, filename, software: `Skein/${version}` };
  return exportWarc(archive, out, { ...asked, version: format === 'warc-1.0' ? '1.0' : '1.1' });
}

async function writeLines(archive: string, { out, filter, body, data }: Job): Promise<number> {
  const ledger = openLedger(data);
  const copies = openCopies(ledger, data);
  let count = 0;
  for await (const page of storedPages(archive)) {
    if (!filter(page)) continue;
    const { url, time, status, mediaType, digest, kind } = page;
    const whole = body ? copies.whole(page.stored) : undefined;
    const about = { url, time: new Date(time).toISOString(), status, type: mediaType, digest, kind };
    const line = { ...about, ...(whole && bodyOf(whole)) };
    await put(out, JSON.stringify(line));
    count++;
  }
  copies.close();
  ledger.close();
  return count;
}

async function writeIndex(archive: string, { out, filter }: Job): Promise<number> {
  let [kept, temporary] = [archive, ''];
  try {
    await writeCdxj(archive); // beside the segments, for tools that are pointed at the archive itself
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    // A collection that we may only read: what is made on the way goes elsewhere.
    temporary = mkdtempSync(join(tmpdir(), 'skein-index-'));
    kept = temporary;
  }
  let count = 0;
  try {
    for await (const line of cdxjLines(archive, kept)) {
      if (!filter(candidateOf(line))) continue;
      await put(out, line);
      count++;
    }
  } finally {
    if (temporary !== '') rmSync(temporary, { recursive: true, force: true });
  }
  return count;
}

async function put(out: Writable, line: string): Promise<void> {
  if (!out.write(`${line}\n`)) await new Promise(resolve => out.once('drain', resolve));
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
function filterOf(data: string, { pattern = '', newest, since, until }: Choice): Filter {
  const ledger = openLedger(data);
  const ends = committedEnds(join(data, 'archive'), ledger.segments());
  const places = new Set<string>();
  if (newest) {
    for (const { segment, offset } of ledger.visits.newestCopies(until)) places.add(`${segment} ${offset}`);
  }
  ledger.close();
  const parts = pattern.split('*');
  return ({ url, time, segment, offset }) =>
    offset < (ends.get(segment) ?? 0) &&
    time >= since &&
    time < until &&
    contains(url, parts) &&
    (!newest || places.has(`${segment} ${offset}`));
}

/** Whether the parts stand in the URL, in this order. */
function contains(url: string, parts: readonly string[]): boolean {
  let from = 0;
  return parts.every(part => {
    const at = url.indexOf(part, from);
    from = at + part.length;
    return at >= 0;
  });
}
