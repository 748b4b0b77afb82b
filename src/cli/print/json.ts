/**
 * What --json prints. Inside Skein times are milliseconds since 1970; outside they are ISO 8601 in UTC, under the same keys
 * in every command. docs/json.md lists what each command prints; schemas.ts is its source.
 */
import { harmlessJson } from '../../base/harmless.ts';

/** Keys that hold a time wherever they stand, unless they hold a count. */
const times = new Set([
  ...[
    'time',
    'since',
    'due',
    'changed',
    'found',
    'firstVisit',
    'lastVisit',
    'lastmod',
    'nextRetry',
    'notBefore',
    'heard',
    'next',
    'lease',
  ],
  ...['started', 'expires', 'seen', 'joined', 'invited', 'last'],
]);
/** No time is earlier, and no count is larger. */
const EARLIEST = 1e11;

/** The same with its times written out; 0 stands for none. */
export function isoTimes(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map(each => isoTimes(each, key));
  if (typeof value === 'number' && times.has(key)) {
    if (value >= EARLIEST) return new Date(value).toISOString();
    return value === 0 && (key === 'notBefore' || key === 'since' || key === 'time') ? null : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, isoTimes(each, name)]));
}

/** One line, which a terminal may be shown, too: what pages say is in it. */
export function jsonText(value: unknown): string {
  return harmlessJson(JSON.stringify(isoTimes(value)));
}

export function printJson(value: unknown): void {
  console.log(jsonText(value));
}
