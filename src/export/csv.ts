/** Lines of CSV (RFC 4180): quoted where they must be; what a spreadsheet would run is told to be text. */
export function csvLine(cells: readonly (string | number | boolean | Date | null | undefined)[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`;
}

function cellOf(value: string | number | boolean | Date | null | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return value instanceof Date ? value.toISOString() : String(value);
  // Pages are written by strangers: a cell that begins like a formula must not become one.
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
