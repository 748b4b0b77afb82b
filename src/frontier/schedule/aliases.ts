/** What addresses say of pages: second addresses of one page, and pages to which no address leads any more. */
import type { Visit } from '../../errand/visit.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { FLAG_ALIAS, FLAG_DOUBTED, type KnownRow } from '../../ledger/pages/known-row.ts';

/** The same bytes as another page's whose URL differs in its query alone: one page, and a second address of it. */
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

/** Flags after a visit, which has answered every doubt. */
export function answered(flags: number, alias: boolean): number {
  return (flags & ~(FLAG_ALIAS | FLAG_DOUBTED)) | (alias ? FLAG_ALIAS : 0);
}

/** Links that a page may lose at once, and gain none, so that what they led to is looked at though others lead there. */
const FEW = 3;

/**
 * Of what a page or sitemap named before: where no page leads any more, or the sitemap does not, is looked at soon. So is
 * what a page dropped without naming anything new: a menu that stands on every page loses an entry on all of them, and to
 * see them all would take days. A list of what is newest loses entries, too, but gains as many.
 */
export function doubtLost(ledger: Ledger, had: readonly number[], named: Uint32Array, sitemap: boolean): void {
  if (had.length === 0) return; // every first visit
  const still = new Set(named);
  const lost = new Set(had.filter(target => target !== 0 && !still.has(target)));
  if (lost.size === 0) return;
  const before = new Set(had);
  const shrunk = lost.size <= FEW && named.every(target => before.has(target));
  for (const target of lost) {
    if (!sitemap && !shrunk && ledger.backward.of(target) > 0) continue;
    ledger.dueTimes.doubt(target, ledger.pages.known(target)?.seen_time ?? 0);
  }
}
