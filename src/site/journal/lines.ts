/**
 * The journal's file, line by line, so that its owner can read it. Fields stand between tabs. First a head with the number
 * and the chain that the history begins with; then what the site had when the file was last written anew (`=`), and how it came
 * to that as far back as is kept (`+`, `~`, `-`); then what happened since. A change's last field is its chain: the hash of
 * the chain before and of the line itself, which is also how a line that was torn by a crash is told.
 */
import { hash } from 'node:crypto';
import type { Operation } from '../../notices/site/changes.ts';
import type { ToldKind } from '../../notices/site/paths.ts';

/** What is known of a page of the site. */
export interface JournalPage {
  /** Path and query of the public URL, in normal form. */
  readonly path: string;
  /** Name of the source that it came from. */
  readonly source: string;
  /** `unlisted`: told of by the own face alone, which does not name it. */
  readonly kind: ToldKind;
  /** Content-Type. */
  readonly type: string;
  readonly title: string;
  /** Our detector's hash, 32 hex digits. */
  readonly content: string;
  /** SHA-256 of the body, 64 hex digits. */
  readonly body: string;
  readonly bytes: number;
  /** Milliseconds since 1970: when the content last changed, as the source knows it; what `lastmod` says. */
  readonly time: number;
}

export interface Entry {
  readonly sequence: number;
  readonly operation: Operation;
  /** Milliseconds since 1970: when it was written here; the same for all that were written at once, and later than before. */
  readonly at: number;
  /** As it was after the change; of one that was removed, as it was before. */
  readonly page: JournalPage;
  /** 16 hex digits. */
  readonly chain: string;
}

const FORMAT = 'skein-journal 1';
const signs: Readonly<Record<Operation, string>> = { create: '+', update: '~', delete: '-' };
const operations = new Map(Object.entries(signs).map(([operation, sign]) => [sign, operation as Operation]));

/** Lists that anybody reads may name it. */
export function isListed({ kind }: JournalPage): boolean {
  return kind !== 'unlisted';
}

function chainOf(before: string, text: string): string {
  return hash('sha256', `${before}\n${text}`, 'hex').slice(0, 16);
}

interface JournalHead {
  /** Number of the last change that is no longer kept. */
  readonly first: number;
  readonly chain: string;
  /** State lines that follow, then history lines. */
  readonly pages: number;
  readonly entries: number;
}

export function headLine({ first, chain, pages, entries }: JournalHead): string {
  return [FORMAT, first, chain, pages, entries].join('\t');
}

export function readHead(line: string): JournalHead | undefined {
  const [format, first, chain = '', pages, entries] = line.split('\t');
  if (format !== FORMAT || !/^[0-9a-f]{16}$/.test(chain)) return undefined;
  const numbers = [first, pages, entries].map(Number);
  if (!numbers.every(each => Number.isSafeInteger(each) && each >= 0)) return undefined;
  return { first: numbers[0]!, chain, pages: numbers[1]!, entries: numbers[2]! };
}

export function stateLine(page: JournalPage): string {
  return `=\t${fields(page)}`;
}

/** Undefined for a line that is none. */
export function readState(line: string): JournalPage | undefined {
  const parts = line.split('\t');
  return parts[0] === '=' && parts.length === 10 ? pageOf(parts.slice(1)) : undefined;
}

export function entryLine(entry: Omit<Entry, 'chain'>, before: string): { line: string; chain: string } {
  const text = [signs[entry.operation], entry.sequence, entry.at, fields(entry.page)].join('\t');
  const chain = chainOf(before, text);
  return { line: `${text}\t${chain}`, chain };
}

/** Undefined for a line that is none, or that does not follow `before`. */
export function readEntry(line: string, before: string): Entry | undefined {
  const end = line.lastIndexOf('\t');
  const chain = line.slice(end + 1);
  if (end < 0 || chainOf(before, line.slice(0, end)) !== chain) return undefined;
  const [sign = '', sequence, at, ...rest] = line.slice(0, end).split('\t');
  const operation = operations.get(sign);
  const page = rest.length === 9 ? pageOf(rest) : undefined;
  if (operation === undefined || page === undefined) return undefined;
  return { sequence: Number(sequence), operation, at: Number(at), page, chain };
}

function fields({ path, source, kind, type, title, content, body, bytes, time }: JournalPage): string {
  return [kind, content, body, bytes, time, plain(source), plain(type), path, plain(title)].join('\t');
}

function pageOf([kind, content, body, bytes, time, source, type, path, title]: readonly string[]): JournalPage {
  return {
    path: path!,
    source: source!,
    kind: kind as ToldKind,
    type: type!,
    title: title!,
    content: content!,
    body: body!,
    bytes: Number(bytes),
    time: Number(time),
  };
}

/** Without what would end a field or a line. */
function plain(text: string): string {
  return text
    .replace(/[\x00-\x1f\x7f]+/g, ' ')
    .trim()
    .slice(0, 500);
}
