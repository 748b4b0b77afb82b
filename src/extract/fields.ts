/** Fields that a user wants of pages, as a file says it, and their values in a page. */
import { compile, selectAll, selectOne } from 'css-select';
import { z } from 'zod';
import { SkeinError } from '../base/errors.ts';
import { blocksOf } from './blocks.ts';
import { addressOf } from './inline.ts';
import { checkRow, isRowSchema, type RowSchema } from './row-schema.ts';
import { jsonLdOf, metaOf, microdataOf, type Thing, valuesAt } from './structured.ts';
import { cellsOf, rowsOf } from './tables.ts';
import { type Document, type Element, plainText, treeOf } from './tree.ts';

const kinds = ['text', 'number', 'url', 'markdown'] as const;
const shared = { all: z.boolean().optional(), as: z.enum(kinds).optional() };
const field = z.union([
  z.string().min(1),
  z.strictObject({ css: z.string().min(1), attribute: z.string().min(1).optional(), ...shared }),
  z.strictObject({ jsonLd: z.string().min(1), ...shared }),
  z.strictObject({ microdata: z.string().min(1), ...shared }),
  z.strictObject({ meta: z.string().min(1), ...shared }),
  z.strictObject({ table: z.string().min(1) }),
]);
const KINDS = 'css, jsonLd, microdata, meta or table';

const fieldsFile = z.strictObject({
  /** One row for each of these elements; default one for the page. */
  each: z.string().min(1).optional(),
  fields: z.record(z.string().min(1), field),
  /** In a module: what each row must be, by zod or another library that speaks Standard Schema. */
  row: z
    .custom<RowSchema>(isRowSchema, 'is not a schema of zod or of another library that implements Standard Schema')
    .optional(),
});

export type FieldsFile = z.infer<typeof fieldsFile>;
type Field = Exclude<z.infer<typeof field>, string>;
export type Value = string | number | null | readonly unknown[] | Readonly<Record<string, unknown>>;
export type Row = Readonly<Record<string, Value>>;
/** What the rows of a file are: what its schema makes of them, where it has one. */
export type RowOf<File extends FieldsFile> = File extends { readonly row: RowSchema<infer Output> } ? Output : Row;

export interface Fields {
  /** In the order of the file. */
  readonly names: readonly string[];
  /** Those that are one number, or nothing. */
  readonly numbers: ReadonlySet<string>;
  /** `refuse` hears of each row that does not fit the schema, and is left out. */
  rows(html: string, url: string, refuse?: (why: string) => void): Row[];
}

/** Names that every row has already. */
const taken: ReadonlySet<string> = new Set(['url', 'time']);

/** Throws what is wrong with it, in a sentence. */
export function fieldsOf(text: string, file: string): Fields {
  return fieldsFrom(jsonOf(text, file), file);
}

/** The same of what such a file holds; `file`: how it is called. */
export function fieldsFrom(given: unknown, file: string): Fields {
  const { each, fields, row: schema } = parsed(given, file);
  const entries = Object.entries(fields).map(
    ([name, its]) => [name, typeof its === 'string' ? { css: its } : its] as const,
  );
  for (const [name, its] of entries) {
    if (taken.has(name)) throw bad(file, `the name "${name}" is taken`);
    if ('css' in its) check(its.css, `${file}, field "${name}"`);
    if ('table' in its) check(its.table, `${file}, field "${name}"`);
  }
  if (each !== undefined) check(each, `${file}, "each"`);
  const isNumber = (its: Field) => 'as' in its && its.as === 'number' && its.all !== true;
  return {
    names: entries.map(([name]) => name),
    numbers: new Set(entries.filter(([, its]) => isNumber(its)).map(([name]) => name)),
    rows(html, url, refuse = () => {}) {
      const page = new FieldPage(treeOf(html), url);
      const scopes = each === undefined ? [page.tree] : (selectAll(each, page.tree as FieldScope) as Element[]);
      const rows = scopes.map(scope =>
        Object.fromEntries(entries.map(([name, its]) => [name, fieldValue(its, scope, page)])),
      );
      const filled = rows.filter(row =>
        Object.values(row).some(value => value !== null && !(Array.isArray(value) && value.length === 0)),
      );
      return schema ? filled.flatMap(row => fitting(row, schema, refuse)) : filled;
    },
  };
}

function fitting(row: Row, schema: RowSchema, refuse: (why: string) => void): Row[] {
  const checked = checkRow(row, schema);
  if ('row' in checked) return [checked.row as Row];
  refuse(checked.why);
  return [];
}

function jsonOf(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw bad(file, `it is not JSON: ${(error as Error).message}`);
  }
}

function parsed(json: unknown, file: string): FieldsFile {
  const found = fieldsFile.safeParse(json);
  if (found.success) return found.data;
  throw bad(file, saidPlainly(found.error.issues[0]!));
}

/** What zod found wrong, and where, as a person would say it. */
function saidPlainly(issue: z.core.$ZodIssue, within: readonly PropertyKey[] = []): string {
  const path = [...within, ...issue.path];
  const place = path.length === 0 ? 'it' : `"${path.join('.')}"`;
  switch (issue.code) {
    case 'unrecognized_keys':
      return `${place} has "${issue.keys[0]}", which does not exist there`;
    case 'too_small':
      return `${place} is empty`;
    case 'invalid_value':
      return `${place} must be one of ${issue.values.join(', ')}`;
    case 'invalid_union': {
      // Of the forms that a field may have, the one meant is that of which only a value is wrong.
      const meant = issue.errors.find(([first]) => first?.path.length === 1 && first.code !== 'invalid_type');
      return meant ? saidPlainly(meant[0]!, path) : `${place} is no CSS selector, and no object with ${KINDS}`;
    }
    case 'invalid_type':
      if (issue.message.endsWith('received undefined')) return `${place} is missing`;
      return `${place} must be ${issue.expected === 'string' ? 'text' : 'an object'}`;
    default:
      return `${place} ${issue.message}`;
  }
}

function bad(file: string, what: string): SkeinError {
  const hint =
    'Write {"fields": {"title": "h1", "price": {"css": ".price", "as": "number"}}}; docs/guides/extract.md has all.';
  return new SkeinError('bad-option', `${file} cannot be used: ${what.replace(/\.$/, '')}.`, hint);
}

function check(selector: string, where: string): void {
  try {
    compile(selector);
  } catch (error) {
    throw bad(where, `"${selector}" is not a CSS selector: ${(error as Error).message}`);
  }
}

class FieldPage {
  readonly tree: Document;
  readonly url: string;
  #jsonLd: Thing[] | undefined;

  constructor(tree: Document, url: string) {
    this.tree = tree;
    this.url = url;
  }

  /** Read once, however many fields and rows ask. */
  get jsonLd(): Thing[] {
    this.#jsonLd ??= jsonLdOf(this.tree);
    return this.#jsonLd;
  }
}

type FieldScope = Document | Element;

function fieldValue(its: Field, scope: FieldScope, page: FieldPage): Value {
  if ('table' in its) return tableOf(selectOne(its.table, scope) as Element | null, page);
  const found = candidatesOf(its, scope, page)
    .map(value => converted(value, its.as ?? 'text', page))
    .filter(value => value !== null);
  return its.all ? found : (found[0] ?? null);
}

type Many = Exclude<Field, { table: string }>;

function candidatesOf(its: Many, scope: FieldScope, page: FieldPage): unknown[] {
  if ('jsonLd' in its) return valuesAt(page.jsonLd, its.jsonLd);
  if ('microdata' in its) return valuesAt(microdataOf(scope as Document, page.url), its.microdata);
  if ('meta' in its) return metaOf(page.tree, its.meta);
  const { css, attribute } = its;
  const elements = selectAll(css, scope) as Element[];
  return attribute === undefined ? elements : elements.map(({ attribs }) => attribs[attribute]);
}

function converted(value: unknown, as: (typeof kinds)[number], { url }: FieldPage): Value {
  if (value === undefined || value === null) return null;
  if (!isElement(value)) return plainly(value, as, url);
  if (as === 'markdown') {
    return blocksOf(value, { base: url, dropped: new Set() })
      .map(({ markdown }) => markdown)
      .join('\n\n');
  }
  const address = as === 'url' ? (value.attribs['href'] ?? value.attribs['src']) : undefined;
  return plainly(address ?? plainText(value), as, url);
}

function isElement(value: unknown): value is Element {
  return typeof value === 'object' && value !== null && 'attribs' in value && 'children' in value;
}

function plainly(value: unknown, as: (typeof kinds)[number], url: string): Value {
  if (as === 'number') return numberIn(String(value));
  if (as === 'url') return addressOf(String(value), url) ?? null;
  if (typeof value === 'number' || (typeof value === 'object' && value !== null)) return value as Value;
  const text = String(value).replace(/\s+/g, ' ').trim();
  return text === '' ? null : text;
}

/** The first number, with either sign of fractions: `1.299,00 €` and `$1,299.00` are the same. */
export function numberIn(text: string): number | null {
  const found = /[-−]?\d[\d.,'\s\u00a0\u202f]*/
    .exec(text)?.[0]
    .replace(/[\s'\u00a0\u202f]/g, '')
    .replace('−', '-')
    .replace(/[.,]+$/, '');
  if (found === undefined) return null;
  const last = Math.max(found.lastIndexOf('.'), found.lastIndexOf(','));
  const sign = found[last];
  const behind = found.length - last - 1;
  const both = found.includes('.') && found.includes(',');
  // One sign alone with three digits behind it groups thousands; a point with one of them before it does not ("0.125").
  const groups = last >= 0 && !both && (found.split(sign!).length > 2 || (behind === 3 && !/^-?0[.,]/.test(found)));
  const whole =
    last < 0 || groups
      ? found.replace(/[.,]/g, '')
      : `${found.slice(0, last).replace(/[.,]/g, '')}.${found.slice(last + 1)}`;
  return Number(whole);
}

/** Rows as objects, named by the first row. */
function tableOf(table: Element | null, { url }: FieldPage): Value {
  if (!table) return null;
  const [names = [], ...rows] = cellsOf(table, rowsOf(table), { base: url, dropped: new Set() }).texts;
  return rows.map(row => Object.fromEntries(row.map((cell, i) => [names[i] || String(i + 1), cell])));
}
