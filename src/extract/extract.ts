/**
 * What a program takes out of HTML that it has: `import { contentOf, extract } from 'skein/extract'`. Hooks call it in the
 * fetching threads, so it loads nothing else of Skein's.
 */
import { SkeinError } from '../base/errors.ts';
import { type Chunk, chunksOf } from './chunks.ts';
import { type Fields, type FieldsFile, fieldsFrom, type RowOf } from './fields.ts';
import { extractPage, markdownOf, textOf } from './page.ts';

export type { Chunk } from './chunks.ts';
export type { FieldsFile, Row, RowOf, Value } from './fields.ts';
export type { RowSchema } from './row-schema.ts';

/** Main content of a page, without what a template adds. */
export interface Content {
  readonly title: string;
  text(): string;
  markdown(): string;
  /** In pieces by heading, each with an id that stays and a hash of what it says. */
  chunks(): Chunk[];
}

export function contentOf(html: string, url: string): Content {
  const found = extractPage(html, url);
  return {
    title: found.title,
    text: () => textOf(found),
    markdown: () => markdownOf(found),
    chunks: () => chunksOf(found, url),
  };
}

/** Schemas that were read. */
const known = new WeakMap<FieldsFile, Fields>();

export function fieldsIn(schema: FieldsFile): Fields {
  const fields = known.get(schema) ?? fieldsFrom(schema, 'The schema');
  known.set(schema, fields);
  return fields;
}

/** The fields that a schema names: one row for the page, or one for each of its parts. Throws where a row does not fit. */
export function extract<const File extends FieldsFile>(html: string, url: string, schema: File): RowOf<File>[] {
  const refuse = (why: string): never => {
    throw new SkeinError('refused', `A row of ${url} does not fit the schema: ${why}.`);
  };
  return fieldsIn(schema).rows(html, url, refuse) as RowOf<File>[];
}
