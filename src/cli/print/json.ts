/**
 * What --json prints. Inside Skein times are milliseconds since 1970; outside they are ISO 8601 with a zone, under the same
 * keys in every command.
 */

/** Keys that hold a time, wherever they stand. */
const times = new Set([
  'time',
  'since',
  'due',
  'changed',
  'found',
  'first',
  'seen',
  'started',
  'lastVisit',
  'nextRetry',
  'notBefore',
]);

/** The same with its times written out; 0 and null stand for none. */
export function isoTimes(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map(each => isoTimes(each, key));
  if (typeof value === 'number' && times.has(key)) return value === 0 ? null : new Date(value).toISOString();
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, isoTimes(each, name)]));
}
