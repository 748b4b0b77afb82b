/** A table as a file that people open in a spreadsheet. */

/** A cell that begins like this would be taken for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

function cell(value: string | number | null | undefined): string {
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value ?? '') ? `'${value}` : (value ?? '');
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export type Row = Readonly<Record<string, string | number | null | undefined>>;

export function csvOf(rows: readonly Row[]): string {
  const names = Object.keys(rows[0] ?? {});
  return [names, ...rows.map(row => names.map(name => row[name]))].map(line => line.map(cell).join(',')).join('\r\n');
}

export function download(name: string, rows: readonly Row[]): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([`${csvOf(rows)}\r\n`], { type: 'text/csv' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
