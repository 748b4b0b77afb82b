/** Second addresses of a page, and pages to which no link leads any more. */
import type { Visit } from '../../errand/visit.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { FLAG_ALIAS, FLAG_DOUBTED, type KnownRow } from '../../ledger/pages/known-row.ts';

/** The page has the same bytes as another whose URL differs only in its query: it is a second address of that page. */
export function isAlias(
  ledger: Ledger,
  { visit, before }: { readonly visit: Visit; readonly before: KnownRow | undefined },
  twin: number,
): boolean {
  if (visit.outcome !== 'fetched') return ((before?.flags ?? 0) & FLAG_ALIAS) !== 0;
  return twin !== 0 && withoutQuery(visit.url) === withoutQuery(ledger.pages.get(twin)!.url);
}

function withoutQuery(url: string): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

/** Flags after a visit, which settles every doubt. */
export function answered(flags: number, alias: boolean): number {
  return (flags & ~(FLAG_ALIAS | FLAG_DOUBTED)) | (alias ? FLAG_ALIAS : 0);
}

/** When a page loses at most so many links and gains none, their targets are checked even if other links lead there. */
const FEW = 3;

/**
 * Has targets checked soon that a page or sitemap no longer names, if nothing else leads there; and all targets that a page
 * dropped without naming new ones: a menu loses an entry on every page of a site, and visiting all of them would take days. A
 * list of the newest loses entries as well, but gains as many.
 */
export function doubtLost(ledger: Ledger, had: readonly number[], named: Uint32Array, sitemap: boolean): void {
  if (had.length === 0) return; // every first visit
  const still = new Set(named);
  const lost = new Set(had.filter(target => target !== 0 && !still.has(target)));
  if (lost.size === 0) return;
  const before = new Set(had);
  const shrunk = lost.size <= FEW && named.every(target => before.has(target));
  for (const target of lost) {
    if (!sitemap && !shrunk && ledger.links.backward.of(target) > 0) continue;
    ledger.schedule.due.doubt(target, ledger.pages.known(target)?.seen_time ?? 0);
  }
}
