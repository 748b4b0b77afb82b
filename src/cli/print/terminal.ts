/** How things look in a terminal: colour only there, aligned tables, sizes and times that people read. */

import { styleText } from 'node:util';
import { DAY, HOUR } from '../../base/clock.ts';

export { harmless, harmlessLines } from '../../base/harmless.ts';

type Paint = 'red' | 'green' | 'yellow' | 'cyan' | 'dim' | 'bold';

/** Colours text when standard output is a terminal that wants colour. */
export function paint(colour: Paint, text: string): string {
  return styleText(colour, text, { stream: process.stdout });
}

type TableCell = string | number;

/** Rows under a header, numbers to the right, cut to the terminal's width. */
export function table(header: readonly string[], rows: readonly (readonly TableCell[])[], room = roomOf()): string {
  const cells = [header, ...rows].map(row => row.map(written));
  const right = header.map((_, i) => rows.length > 0 && rows.every(row => typeof row[i] === 'number'));
  const widths = widthsOf([header, ...rows]);
  const lines = cells.map((row, at) => {
    const line = row
      .map((cell, i) => pad(cell, widths[i]!, right[i]!))
      .join('  ')
      .trimEnd();
    return at === 0 ? paint('dim', cut(line, room)) : cut(line, room);
  });
  return lines.join('\n');
}

/** What a URL needs to be told from others. */
const URL_ROOM = 36;

/**
 * A table whose last column is the URL that people look for: in a narrow terminal columns are left out for it, as
 * `dispensable` names them one after the other, and what is too long then is cut in its middle.
 */
export function urlTable(
  header: readonly string[],
  rows: readonly (readonly TableCell[])[],
  dispensable: readonly string[],
  room = roomOf(),
): string {
  const widths = widthsOf([header, ...rows]);
  const longest = widths.at(-1)!;
  const dropped = new Set<number>();
  const left = () => widths.slice(0, -1).reduce((rest, width, i) => (dropped.has(i) ? rest : rest - width - 2), room);
  for (const name of dispensable) {
    if (left() >= Math.min(longest, URL_ROOM)) break;
    dropped.add(header.indexOf(name));
  }
  const kept = <T>(row: readonly T[]) => row.filter((_, i) => !dropped.has(i));
  const fitting = rows.map(row => [...kept(row.slice(0, -1)), shortened(String(row.at(-1)), left())]);
  return table(kept(header), fitting, room);
}

function written(cell: TableCell): string {
  return typeof cell === 'number' ? thousands(cell) : cell;
}

function widthsOf(rows: readonly (readonly TableCell[])[]): number[] {
  return rows[0]!.map((_, i) => rows.reduce((most, row) => Math.max(most, visible(written(row[i] ?? ''))), 0));
}

/** Columns of the terminal, one that does not know (0) taken for a usual one; without one, lines are as long as they are. */
export function roomOf(): number {
  return process.stdout.isTTY ? process.stdout.columns || 120 : Number.POSITIVE_INFINITY;
}

/** Breaks lines between words where the terminal would break them within; the ones that follow begin with `indent`. */
export function fold(text: string, indent = '', room = roomOf()): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!;
    const longer = line === '' ? word : `${line} ${word}`;
    if (line.trim() === '' || visible(longer) <= room) lines[lines.length - 1] = longer;
    else lines.push(indent + word);
  }
  return lines.join('\n');
}

/** A URL in as many columns: what identifies it stands at both ends, so the middle is left out. */
export function shortened(url: string, room: number): string {
  if (url.length <= room) return url;
  const tail = Math.floor((room - 1) * 0.6);
  return `${url.slice(0, Math.max(0, room - 1 - tail))}…${url.slice(url.length - tail)}`;
}

function pad(text: string, width: number, right: boolean): string {
  const space = ' '.repeat(Math.max(0, width - visible(text)));
  return right ? space + text : text + space;
}

const escapes = /\u001b\[[0-9;]*m/g;

function visible(text: string): number {
  return text.replace(escapes, '').length;
}

export function cut(text: string, width: number): string {
  if (visible(text) <= width) return text;
  return `${text.replace(escapes, '').slice(0, Math.max(0, width - 1))}…`;
}

/** As a shell reads it back: in quotes where it needs them. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** `1 page`, `2,000 pages`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${thousands(count)} ${count === 1 ? one : many}`;
}

/** `1,234,567.8`, as `toLocaleString` writes it, whose tables take ten milliseconds to load. */
export function thousands(value: number): string {
  const [whole, ...fraction] = String(Math.round(value * 1000) / 1000).split('.');
  return [whole!.replace(/\B(?=(?:\d{3})+$)/g, ','), ...fraction].join('.');
}

export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** `40 ms`, `3.2 s`, `4 min`, `2 h`, `5 d`. */
export function duration(ms: number): string {
  const steps: readonly [number, string][] = [
    [DAY, 'd'],
    [HOUR, 'h'],
    [60_000, 'min'],
  ];
  for (const [unit, name] of steps)
    if (Math.abs(ms) >= unit) return `${(ms / unit).toFixed(ms / unit < 10 ? 1 : 0)} ${name}`;
  if (ms > 0 && ms < 100) return `${Math.round(ms)} ms`;
  return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}

export function moment(time: number): string {
  return new Date(time).toISOString().replace('T', ' ').slice(0, 19);
}
