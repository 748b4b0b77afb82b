/**
 * The file in which an owner describes documents that no link leads to, and the one place that decides what of a row may
 * leave: the columns that the owner lists, and those that the URL and the title are made of. Nothing else is even asked for.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { SkeinError, systemWords } from '../../base/errors.ts';
import { normalise, originOf } from '../../base/url.ts';
import { parseDate } from '../../notices/dates.ts';
import type { DocumentKind } from '../../notices/site/paths.ts';
import type { SourceDocument } from '../sources/source.ts';

const name = z.string().regex(/^[\w][\w -]{0,60}$/, 'a name of letters, digits, blanks and - _');
/** Written into SQL between quotes: nothing that could end them. */
const column = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/, 'a column is a plain name');
const seconds = z.number().min(1).max(86_400);

const database = {
  name,
  query: z
    .string()
    .max(20_000)
    .transform(text => text.trim().replace(/;\s*$/, ''))
    .refine(text => /^(?:select|with)\b/i.test(text) && !text.includes(';'), 'one SELECT, without ;'),
  /** Tells rows apart. */
  key: column,
  /** Grows whenever a row changes: a time or a number. */
  since: column,
  url: z.string().min(1).max(1000),
  title: z.string().min(1).max(500),
  columns: z.array(column).max(100),
  every: seconds.default(10),
  timeout: seconds.default(10),
};
const sqlite = z.strictObject({ ...database, sqlite: z.string().min(1) });
const postgres = z.strictObject({ ...database, postgres: z.string().regex(/^postgres(?:ql)?:\/\//) });
const media = z.strictObject({
  name,
  media: z.string().min(1),
  url: z.string().min(1).max(1000),
  title: z.string().max(500).default('{title}'),
  columns: z.array(z.string().regex(/^\w{1,60}$/)).max(100),
  every: seconds.default(60),
});
const fileSchema = z.strictObject({
  records: z
    .array(z.union([sqlite, postgres, media]))
    .min(1)
    .max(50),
});

export type SqliteRecords = z.infer<typeof sqlite>;
export type PostgresRecords = z.infer<typeof postgres>;
export type MediaRecords = z.infer<typeof media>;
export type DatabaseRecords = SqliteRecords | PostgresRecords;
export type Description = DatabaseRecords | MediaRecords;

export function readDescriptions(file: string): readonly Description[] {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new SkeinError('bad-config', `${file} cannot be read: ${systemWords(error)}.`);
  }
  const read = fileSchema.safeParse(json);
  if (!read.success) throw wrong(file, json, read.error);
  const names = read.data.records.map(each => each.name);
  const twice = names.find((each, i) => names.indexOf(each) !== i);
  if (twice !== undefined) throw new SkeinError('bad-config', `${file}: two records are called "${twice}".`);
  return read.data.records;
}

/** Zod says of a union that nothing fits: the owner meant the one whose own word is there. */
function wrong(file: string, json: unknown, error: z.ZodError): SkeinError {
  const list = (json as { records?: unknown[] } | null)?.records;
  for (const [i, each] of (Array.isArray(list) ? list : []).entries()) {
    const has = (word: string) => typeof each === 'object' && each !== null && word in each;
    const meant = has('sqlite') ? sqlite : has('postgres') ? postgres : has('media') ? media : undefined;
    if (meant === undefined) {
      return new SkeinError('bad-config', `${file}: record ${i + 1} names no "sqlite", "postgres" or "media".`);
    }
    const issue = meant.safeParse(each).error?.issues[0];
    if (issue)
      return new SkeinError('bad-config', `${file}: record ${i + 1}, ${issue.path.join('.')}: ${issue.message}.`);
  }
  return new SkeinError('bad-config', `${file}: ${error.issues[0]?.message}.`, 'It is {"records": […]}.');
}

const FIELD = /\{(\w+)\}/g;

/** Names that a template takes in. */
function fieldsOf(template: string): readonly string[] {
  return [...template.matchAll(FIELD)].map(match => match[1]!);
}

/** Every column that may be asked for. */
export function columnsOf({ key, since, url, title, columns }: DatabaseRecords): readonly string[] {
  return [...new Set([key, since, ...fieldsOf(url), ...fieldsOf(title), ...columns])];
}

/** What the metadata of a file are read for. */
export function mediaFieldsOf({ title, columns }: MediaRecords): readonly string[] {
  return [...new Set(['title', ...fieldsOf(title), ...columns])];
}

export type RecordRow = Readonly<Record<string, unknown>>;
/** Characters of one value, and of a document. */
const LONGEST_VALUE = 1_000_000;

/** Path of a row's document; undefined = its template makes none on this site. */
export function pathOfRow(template: string, row: RecordRow, site: string): string | undefined {
  const encode = (text: string): string => encodeURIComponent(text);
  // A path keeps its slashes.
  const written = template.replace(FIELD, (_, field: string) =>
    field === 'path' ? textOf(row[field]).split('/').map(encode).join('/') : encode(textOf(row[field])),
  );
  const url = normalise(written, site);
  return url?.startsWith(site) ? url.slice(originOf(site).length) : undefined;
}

interface TableDescription {
  readonly title: string;
  readonly columns: readonly string[];
}

/** What may leave of a row, as a page that says nothing else. */
export function documentOf(
  told: TableDescription,
  row: RecordRow,
  kind: DocumentKind,
  modified: number | undefined,
): SourceDocument {
  const title = told.title
    .replace(FIELD, (_, field: string) => textOf(row[field]))
    .replace(/\s+/g, ' ')
    .trim();
  const values = told.columns
    .map(each => ({ each, text: textOf(row[each]) }))
    .filter(({ text }) => text !== '')
    .map(({ each, text }) => `<dt>${escaped(each)}</dt>\n<dd>${escaped(text)}</dd>\n`);
  const head = `<!doctype html>\n<html>\n<head><meta charset="utf-8"><title>${escaped(title)}</title></head>\n`;
  const body = `<body>\n<h1>${escaped(title)}</h1>\n<dl>\n${values.join('')}</dl>\n</body>\n</html>\n`;
  return { kind, type: 'text/html; charset=utf-8', title, modified, body: Buffer.from(head + body) };
}

export function textOf(value: unknown): string {
  if (value === null || value === undefined || value instanceof Uint8Array) return '';
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '' : value.toISOString();
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text.slice(0, LONGEST_VALUE);
}

/** The time that a since-column says, where it says one. */
export function timeOf(value: unknown): number | undefined {
  if (value instanceof Date) return value.getTime() || undefined;
  const number = typeof value === 'bigint' ? Number(value) : value;
  if (typeof number === 'number') {
    // Nanoseconds, microseconds, milliseconds or seconds.
    const unit = number > 1e17 ? 1e-6 : number > 1e14 ? 1e-3 : number > 1e11 ? 1 : number > 1e8 ? 1000 : undefined;
    return unit && Math.floor(number * unit);
  }
  return typeof value === 'string' ? parseDate(value) : undefined;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`);
}
