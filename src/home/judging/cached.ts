/**
 * How long a cache on the way would answer with what it has: until then a second look is no look at the page. Only caches
 * that serve many people count; what a browser may keep is no matter to us.
 */

/** Lines by which such a cache tells of itself. */
const SIGNS = ['age', 'x-cache', 'cf-cache-status', 'x-varnish', 'x-served-by', 'via'];

/** Milliseconds; 0 where no cache has shown itself, or it may keep nothing. */
export function cachedFor(headers: ReadonlyMap<string, string>): number {
  if (!SIGNS.some(name => headers.has(name))) return 0;
  const control = (headers.get('cache-control') ?? '').toLowerCase();
  if (/\b(?:no-store|no-cache|private)\b/.test(control)) return 0;
  const seconds = secondsOf(control, 's-maxage') ?? secondsOf(control, 'max-age') ?? untilExpiry(headers) ?? 0;
  const age = Number.parseInt(headers.get('age') ?? '0', 10);
  return 1000 * Math.max(0, seconds - (Number.isNaN(age) ? 0 : age));
}

function secondsOf(control: string, name: string): number | undefined {
  const found = new RegExp(`(?:^|[\\s,])${name}\\s*=\\s*"?(\\d{1,9})`).exec(control)?.[1];
  return found === undefined ? undefined : Number(found);
}

function untilExpiry(headers: ReadonlyMap<string, string>): number | undefined {
  const seconds = (Date.parse(headers.get('expires') ?? '') - Date.parse(headers.get('date') ?? '')) / 1000;
  return Number.isNaN(seconds) ? undefined : seconds;
}
