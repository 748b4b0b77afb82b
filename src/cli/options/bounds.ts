/**
 * What bounds a crawl. A run that is given no seeds goes on with the bounds of the last one, unless it is given others:
 * `skein crawl` after `skein crawl … --scope "*" --depth 3` and `skein refresh` stay where the user wanted to stay.
 */
import type { Ledger } from '../../ledger/ledger.ts';
import type { Values } from './options.ts';

type Name = 'scope' | 'depth' | 'domains' | 'focus' | 'order' | 'pvalue' | 'perServer';
export type Bounds = { readonly [name in Name]: NonNullable<Values[name]> };

const defaults: Bounds = {
  scope: [],
  depth: 100,
  domains: '',
  focus: [],
  order: 'breadth',
  pvalue: '',
  perServer: 1_000_000,
};
const SETTING = 'bounds';

/** Inside the caller's transaction. */
export function boundsOf(given: Pick<Values, Name>, ledger: Ledger, seeds: readonly string[]): Bounds {
  const before = seeds.length === 0 ? ledger.setting<Bounds>(SETTING) : undefined;
  const chosen = Object.fromEntries(
    (Object.keys(defaults) as Name[]).map(name => [name, given[name] ?? before?.[name] ?? defaults[name]]),
  ) as unknown as Bounds;
  const bounds: Bounds = chosen.focus.length > 0 ? { ...chosen, order: 'focused' } : chosen;
  ledger.set(SETTING, bounds);
  return bounds;
}

const MOST_PAGES = 'mostPages';

/** What `crawl --max-pages` asked for; none lifts it. Inside the caller's transaction. */
export function rememberMostPages(ledger: Ledger, most: number | undefined): void {
  ledger.set(MOST_PAGES, most ?? null);
}

/** New pages that a refresh may take in: where a crawl was bounded, the collection stays as large as that. */
export function roomForNew(ledger: Ledger): number {
  const most = ledger.setting<number | null>(MOST_PAGES) ?? Number.POSITIVE_INFINITY;
  return Math.max(0, most - ledger.dueTimes.countLive());
}
