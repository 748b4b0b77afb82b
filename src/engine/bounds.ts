/**
 * What bounds a crawl. A run that is given no seeds goes on with the bounds of the last one, unless it is given others:
 * `skein crawl` after `skein crawl … --scope "*" --depth 3` and `skein refresh` stay where the user wanted to stay.
 */
import { parseDomainWeights } from '../frontier/lanes/director.ts';
import { parsePvalue, pvalueTerms } from '../frontier/orders/pvalue-terms.ts';
import type { Settings } from '../ledger/collection/settings.ts';
import type { BoundOptions } from './options.ts';

export type Bounds = { readonly [name in keyof BoundOptions]-?: NonNullable<BoundOptions[name]> };

const defaults: Bounds = {
  scope: [],
  depth: 100,
  domains: new Map(),
  focus: [],
  order: 'breadth',
  pvalue: pvalueTerms,
  perServer: 1_000_000,
};
const SETTING = 'bounds';

/** As the ledger has them. */
type SavedBounds = Omit<Bounds, 'domains' | 'pvalue'> & {
  /** Earlier versions stored a text. */
  readonly domains: string | readonly (readonly [string, number])[];
  readonly pvalue: string | Bounds['pvalue'];
};

/** Inside the caller's transaction. */
export function boundsOf(given: BoundOptions, settings: Settings, seeds: readonly string[]): Bounds {
  const before = seeds.length === 0 ? remembered(settings) : undefined;
  const names = Object.keys(defaults) as (keyof Bounds)[];
  const chosen = Object.fromEntries(
    names.map(name => [name, given[name] ?? before?.[name] ?? defaults[name]]),
  ) as unknown as Bounds;
  const bounds: Bounds = chosen.focus.length > 0 ? { ...chosen, order: 'focused' } : chosen;
  settings.set(SETTING, { ...bounds, domains: [...bounds.domains] } satisfies SavedBounds);
  return bounds;
}

function remembered(settings: Settings): Bounds | undefined {
  const saved = settings.get<SavedBounds>(SETTING);
  if (!saved) return undefined;
  const { domains, pvalue } = saved;
  return {
    ...saved,
    domains: typeof domains === 'string' ? parseDomainWeights(domains) : new Map(domains),
    pvalue: typeof pvalue === 'string' ? parsePvalue(pvalue) : pvalue,
  };
}

const MOST_PAGES = 'mostPages';

/** Remembers `crawl --max-pages`; undefined lifts the limit. Inside the caller's transaction. */
export function rememberMostPages(settings: Settings, most: number | undefined): void {
  settings.set(MOST_PAGES, most ?? null);
}

/** New pages that a refresh may take in: a collection whose crawl had a page limit keeps its size. `live`: its pages now. */
export function roomForNew(settings: Settings, live: number): number {
  const most = settings.get<number | null>(MOST_PAGES) ?? Number.POSITIVE_INFINITY;
  return Math.max(0, most - live);
}
