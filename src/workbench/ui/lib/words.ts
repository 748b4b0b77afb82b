/** Numbers as people read them. */
import { DAY, HOUR } from '../../../base/clock.ts';

export function count(value: number): string {
  if (value < 100_000) return Math.round(value).toLocaleString('en');
  if (value < 10_000_000) return `${(value / 1000).toFixed(0)}k`;
  return `${(value / 1e6).toFixed(1)}M`;
}

/** With one decimal where it matters. */
export function rate(value: number): string {
  return value > 0 && value < 10 ? value.toFixed(1) : count(value);
}

export function size(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return '';
  if (bytes < 1000) return `${Math.round(bytes)} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes / 1000;
  let unit = 0;
  for (; value >= 999.5 && unit < units.length - 1; unit++) value /= 1000;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

const STEPS: readonly (readonly [number, string, string])[] = [
  [DAY, 'day', 'days'],
  [HOUR, 'h', 'h'],
  [60_000, 'min', 'min'],
];

/** How long a server takes to answer; empty = not known. */
export function latency(ms: number): string {
  if (ms === 0) return '';
  return ms < 1 ? '<1 ms' : `${Number(ms.toFixed(ms < 10 ? 1 : 0))} ms`;
}

export function duration(ms: number): string {
  for (const [unit, one, many] of STEPS) {
    if (Math.abs(ms) < unit) continue;
    const value = Number((ms / unit).toFixed(Math.abs(ms) < 10 * unit ? 1 : 0));
    return `${value} ${value === 1 ? one : many}`;
  }
  return `${Math.round(ms / 1000)} s`;
}

export function ago(time: number | null | undefined): string {
  if (!time) return 'never';
  const ms = Date.now() - time;
  return ms < 1500 ? 'now' : `${duration(ms)} ago`;
}

export function moment(time: number): string {
  return new Date(time).toLocaleString('sv-SE').slice(0, 19);
}

export function clock(time: number): string {
  return new Date(time).toLocaleTimeString('sv-SE');
}

/** The hour of what was today, the day of what was not. */
export function clockOrDay(time: number): string {
  const isToday = new Date(time).toDateString() === new Date().toDateString();
  return isToday ? clock(time) : moment(time).slice(5, 16);
}

export function day(number: number): string {
  return new Date(number * DAY).toISOString().slice(0, 10);
}

export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined) return '';
  const value = share * 100;
  if (value > 0 && value < 1) return '<1%';
  if (value > 99 && value < 100) return `${(Math.floor(value * 10) / 10).toFixed(1)}%`;
  return `${Math.round(value)}%`;
}

/** Whether a page is still as it was, given the probability that it has changed. */
export function odds(changed: number): string {
  const chance = percent(changed);
  return changed < 0.5
    ? `probably unchanged (${chance} chance it changed)`
    : `probably changed since (${chance} chance)`;
}

export function plural(number: number, word: string): string {
  return `${count(number)} ${word}${number === 1 ? '' : 's'}`;
}

/** What a page is that its server does not have: gone only if it was there once. */
export function outcomeWord(outcome: string, seen: boolean): string {
  return outcome === 'gone' && !seen ? 'not found' : outcome;
}
