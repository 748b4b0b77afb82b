/**
 * How far a crawl goes: where the user's scope says, or, without one, on the hosts of its seeds and on those that seeds
 * have moved to; never to servers that a user excluded.
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

/** URLs whose hosts belong to a crawl that has no scope. `seeds`: those that no ledger knows yet. */
export function homesOf(settings: Settings, seeds: readonly string[] = []): string[] {
  return [...settings.seeded().map(origin => `${origin}/`), ...settings.list(MOVED), ...seeds];
}

/** Origins of servers that a user excluded; they stay so in later runs. */
export function excludedIn(settings: Settings): string[] {
  return settings.setting<string[]>(EXCLUDED) ?? [];
}

export function setExcluded(settings: Settings, origins: readonly string[]): void {
  settings.set(EXCLUDED, origins);
}

/** URLs and patterns that a user had forgotten. */
export function forgottenIn(settings: Pick<Settings, 'setting'>): string[] {
  return settings.setting<string[]>(FORGOTTEN) ?? [];
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

/** The host of this URL belongs to the crawl as the hosts of seeds do, but for private addresses: nobody named it. */
export function takeIn(settings: Settings, url: string): void {
  settings.set(MOVED, [...settings.list(MOVED), `${originOf(url)}/`]);
}

/** The other way round: nobody names these hosts any more. */
export function letGo(settings: Settings, origins: ReadonlySet<string>): void {
  settings.set(
    MOVED,
    settings.list(MOVED).filter(url => !origins.has(originOf(url))),
  );
}

/**
 * A redirect that shows where the site of a seed is: on the same host by another scheme or port, below it (`docs.`), or
 * from one front page to another. Not a page elsewhere: what a shop has at a large portal must not bring the portal in.
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
