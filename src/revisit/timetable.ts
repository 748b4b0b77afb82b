/**
 * Times that people set: pages of a pattern are looked at every so often, within working hours, with a budget of their own,
 * whatever the schedule believes of them. Pure: a rule and the last look in, the time of the next one out.
 *
 * Hours and days are those of the machine's time zone.
 */
import { DAY, HOUR } from '../base/clock.ts';
import { SkeinError } from '../base/errors.ts';

export interface TimedPages {
  /** Part of the URL; * stands for anything. */
  readonly pattern: string;
  /** Milliseconds between two looks. */
  readonly every: number;
  /** Days of the week on which they are looked at, Sunday 0; absent = all. */
  readonly days?: readonly number[];
  /** Minutes of the day from which on and before which; absent = all day. An end before its begin is on the next day. */
  readonly hours?: readonly [from: number, to: number];
  /** Looks a day that all of them may cost; absent = as many as it takes. */
  readonly perDay?: number;
  /** As it was written. */
  readonly text: string;
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: HOUR, d: DAY };
const NAMES = ['su', 'mo', 'tu', 'we', 'th', 'fr', 'sa'];
const LONGEST = 366 * DAY;
const FORM = 'Write it as "*/prices/* 5m" or "*/prices/* 5m mo-fr 08:00-18:00 200/d".';

/** A pattern, how often, and, as wanted, days, hours and looks a day. */
export function parseTimed(text: string): TimedPages {
  const [pattern = '', often = '', ...more] = text.trim().split(/\s+/);
  const every = spanOf(often);
  if (pattern === '' || every === undefined) throw wrong(text, `"${often}" is not an interval`);
  const rest = more.map(word => termOf(word) ?? wrong(text, `"${word}" is neither days, hours nor a limit a day`));
  const failed = rest.find(each => each instanceof SkeinError);
  if (failed) throw failed;
  return Object.assign({ pattern, every, text: text.trim() }, ...rest) as TimedPages;
}

function wrong(text: string, why: string): SkeinError {
  return new SkeinError('bad-option', `--every cannot be "${text}": ${why}.`, FORM);
}

function spanOf(text: string): number | undefined {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(s|m|h|d)$/.exec(text) ?? [];
  const span = amount === undefined ? 0 : Number(amount) * UNITS[unit!]!;
  return span >= 1000 && span <= LONGEST ? span : undefined;
}

function termOf(word: string): Partial<TimedPages> | undefined {
  const [, looks] = /^(\d+)\/d$/.exec(word) ?? [];
  if (looks !== undefined) return Number(looks) > 0 ? { perDay: Number(looks) } : undefined;
  const [, ...clock] = /^([01]?\d|2[0-3]):([0-5]\d)-([01]?\d|2[0-4]):([0-5]\d)$/.exec(word) ?? [];
  if (clock.length > 0) {
    const [fromHour, fromMinute, toHour, toMinute] = clock.map(Number) as [number, number, number, number];
    const hours = [fromHour * 60 + fromMinute, toHour * 60 + toMinute] as const;
    return hours[0] === hours[1] || hours[1] > 1440 ? undefined : { hours };
  }
  const days = word.toLowerCase().split(',').map(daysOf);
  return days.every(each => each !== undefined) ? { days: days.flat() } : undefined;
}

/** `fr` or `mo-fr`, also over the end of the week. */
function daysOf(text: string): number[] | undefined {
  const [first, last = first] = text.split('-').map(name => NAMES.indexOf(name));
  if (first === undefined || last === undefined || first < 0 || last < 0) return undefined;
  return Array.from({ length: ((last - first + 7) % 7) + 1 }, (_, i) => (first + i) % 7);
}

/** When pages are looked at next that were last seen at a time: milliseconds since 1970. */
export function nextLook({ every, days, hours }: TimedPages, seen: number): number {
  const due = seen + every;
  if (!days && !hours) return due;
  const [from, to] = hours ?? [0, 1440];
  const length = to > from ? to - from : to + 1440 - from;
  const date = new Date(due);
  // From the day before on: its hours may go on after midnight. A week later every day of the week has come.
  for (let day = -1; day <= 8; day++) {
    const begin = new Date(date.getFullYear(), date.getMonth(), date.getDate() + day, 0, from);
    if (days && !days.includes(begin.getDay())) continue;
    const end = new Date(begin.getFullYear(), begin.getMonth(), begin.getDate(), 0, from + length).getTime();
    if (due < end) return Math.max(due, begin.getTime());
  }
  return due; // no day was named, which parsing does not let through
}

/** The rule for a URL: the first that it matches. */
export function timedFor(rules: readonly TimedPages[]): (url: string) => TimedPages | undefined {
  const patterns = rules.map(rule => ({ rule, parts: rule.pattern.split('*') }));
  return url => patterns.find(({ parts }) => holds(url, parts))?.rule;
}

function holds(url: string, parts: readonly string[]): boolean {
  let from = 0;
  return parts.every(part => {
    const at = url.indexOf(part, from);
    from = at + part.length;
    return at >= 0;
  });
}
