/**
 * The bounds of a crawl: the user's scope, or without one the hosts of its seeds and those to which seeds have moved; never
 * servers that a user excluded.
 */
import { originOf } from '../../base/url.ts';
import type { Scope } from '../../errand/errand.ts';
import { matcherOf } from '../../errand/scope/forgotten.ts';
import { compileScope } from '../../errand/scope/scope.ts';
import type { Settings } from '../../ledger/collection/settings.ts';
import type { FrontierOptions } from '../options.ts';

const EXCLUDED = 'excluded';
const MOVED = 'moved';
const FORGOTTEN = 'forgotten';

/** URLs whose hosts belong to a crawl without a scope. `seeds`: those that no ledger has yet. */
export function homesOf(settings: Settings, seeds: readonly string[] = []): string[] {
  return [...settings.seeded().map(origin => `${origin}/`), ...settings.list(MOVED), ...seeds];
}

/** Origins of servers that a user excluded; they stay so in later runs. */
export function excludedIn(settings: Settings): string[] {
  return settings.get<string[]>(EXCLUDED) ?? [];
}

export function setExcluded(settings: Settings, origins: readonly string[]): void {
  settings.set(EXCLUDED, origins);
}

/** URLs and patterns that a user had forgotten. */
export function forgottenIn(settings: Pick<Settings, 'get'>): string[] {
  return settings.get<string[]>(FORGOTTEN) ?? [];
}

export function setForgotten(settings: Pick<Settings, 'set'>, texts: readonly string[]): void {
  settings.set(FORGOTTEN, texts);
}

export function outsideOf(settings: Settings, scope: Scope, seeds: readonly string[] = []): FrontierOptions['outside'] {
  const inScope = compileScope(scope, homesOf(settings, seeds));
  const forgotten = forgottenIn(settings);
  const isForgotten = matcherOf(forgotten.map(text => ({ text })));
  const outside: typeof inScope =
    forgotten.length === 0 ? inScope : url => (isForgotten(url) ? 'forgotten' : inScope(url));
  const excluded = new Set(excludedIn(settings));
  return excluded.size === 0 ? outside : url => (excluded.has(originOf(url)) ? 'out-of-scope' : outside(url));
}

/** Adds the host of this URL to the crawl, like the host of a seed; but it opens no private address, as nobody named it. */
export function takeIn(settings: Settings, url: string): void {
  settings.set(MOVED, [...settings.list(MOVED), `${originOf(url)}/`]);
}

/** Removes hosts that takeIn() has added. */
export function letGo(settings: Settings, origins: ReadonlySet<string>): void {
  settings.set(
    MOVED,
    settings.list(MOVED).filter(url => !origins.has(originOf(url))),
  );
}

/**
 * A redirect shows that the site of a seed has moved, if it leads to the same host with another scheme or port, to a host below
 * it (`docs.`), or from front page to front page. A redirect to any other page elsewhere does not: a shop's page at a large
 * portal must not bring the portal into the crawl.
 */
export function isMove(seed: string, target: string): boolean {
  const from = new URL(seed);
  const to = new URL(target);
  const name = from.hostname.replace(/^www\./, '');
  return to.hostname === name || to.hostname.endsWith(`.${name}`) || (isFront(from) && isFront(to));
}

function isFront({ pathname, search }: URL): boolean {
  return pathname === '/' && search === '';
}
