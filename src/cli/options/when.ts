/** Times as users write them: `7d`, `12h`, `30min` back from now, or a date. */
import { DAY, HOUR } from '../../base/clock.ts';
import { SkeinError } from '../../base/errors.ts';

const UNITS: Readonly<Record<string, number>> = {
  m: 60_000,
  min: 60_000,
  h: HOUR,
  d: DAY,
  w: 604_800_000,
};

/** Milliseconds since 1970. */
export function parseWhen(text: string, now: number): number {
  const age = /^\s*(\d+(?:\.\d+)?)\s*(m|min|h|d|w)\s*$/i.exec(text);
  if (age) return now - Number(age[1]) * UNITS[age[2]!.toLowerCase()]!;
  const date = /^\d{4}-\d\d/.test(text) ? Date.parse(text.trim().replace(' ', 'T')) : Number.NaN;
  if (!Number.isNaN(date)) return date;
  throw new SkeinError('bad-option', `"${text}" is not a time.`, 'Write 7d, 12h or 2026-03-14.');
}
