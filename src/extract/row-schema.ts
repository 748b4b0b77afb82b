/** What a row must be, said by zod or any other library that speaks Standard Schema; its output takes the row's place. */

/** The part of Standard Schema (version 1) that is used here. */
export interface RowSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly validate: (value: unknown) => RowChecked<Output> | Promise<RowChecked<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

type RowChecked<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly RowIssue[] };

interface RowIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export function isRowSchema(value: unknown): value is RowSchema {
  const standard = (value as Partial<RowSchema> | null | undefined)?.['~standard'];
  return standard?.version === 1 && typeof standard.validate === 'function';
}

/** The row as the schema makes it, or why it does not fit. Fields that were not found are absent to the schema. */
export function checkRow(row: Readonly<Record<string, unknown>>, schema: RowSchema): { row: object } | { why: string } {
  const found = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
  const checked = schema['~standard'].validate(found);
  if (checked instanceof Promise) return { why: 'the schema of rows must be synchronous' };
  if (checked.issues) return { why: checked.issues.map(inWords).join('; ') };
  if (typeof checked.value !== 'object' || checked.value === null)
    return { why: 'the schema does not return an object' };
  return { row: checked.value };
}

function inWords({ path = [], message }: RowIssue): string {
  const names = path.map(part => String(typeof part === 'object' ? part.key : part));
  return names.length === 0 ? message : `${names.join('.')}: ${message}`;
}
