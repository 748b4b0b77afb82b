/** A report as a table for spreadsheets: one row for each page that a finding concerns. */
import type { Report } from './report.ts';

const header = ['check', 'level', 'url', 'status', 'detail', 'time', 'related', 'anchor'];

export function toCsv({ findings }: Report): string {
  const rows = findings.flatMap(({ check, level, url, status, detail, time, related }) => {
    const start = [check, level, url, String(status), detail, new Date(time).toISOString()];
    return related.length === 0 ? [[...start, '', '']] : related.map(each => [...start, each.url, each.anchor]);
  });
  return `${[header, ...rows].map(row => row.map(cell).join(',')).join('\r\n')}\r\n`;
}

/** Quoted where necessary; what a spreadsheet would run as a formula becomes text. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
