/**
 * How far a crawl goes: where the user's scope says, or, without one, on the hosts of its seeds and on those that seeds
 * have moved to; never to servers that a user excluded.
 */
import { originOf } from '../../base/url.ts';
import type { Scope } from '../../errand/errand.ts';
import { compileScope } from '../../errand/scope/scope.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { FrontierOptions } from '../options.ts';

const EXCLUDED = 'excluded';
const MOVED = 'moved';

/** URLs whose hosts belong to a crawl that has no scope. `seeds`: those that the ledger does not know yet. */
export function homesOf(ledger: Ledger, seeds: readonly string[] = []): string[] {
  const seeded = [...ledger.servers.all()].filter(server => server.seeded).map(server => `${server.origin}/`);
  return [...seeded, ...(ledger.setting<string[]>(MOVED) ?? []), ...seeds];
}

/** Origins of servers that a user excluded; they stay so in later runs. */
export function excludedIn(ledger: Ledger): string[] {
  return ledger.setting<string[]>(EXCLUDED) ?? [];
}

export function setExcluded(ledger: Ledger, origins: readonly string[]): void {
  ledger.set(EXCLUDED, origins);
}

export function outsideOf(ledger: Ledger, scope: Scope, seeds: readonly string[] = []): FrontierOptions['outside'] {
  const outside = compileScope(scope, homesOf(ledger, seeds));
  const excluded = new Set(excludedIn(ledger));
  return excluded.size === 0 ? outside : url => (excluded.has(originOf(url)) ? 'out-of-scope' : outside(url));
}

/** The host of this URL belongs to the crawl as the hosts of seeds do, but for private addresses: nobody named it. */
export function takeIn(ledger: Ledger, url: string): void {
  ledger.set(MOVED, [...(ledger.setting<string[]>(MOVED) ?? []), `${originOf(url)}/`]);
}

/** The other way round: nobody names these hosts any more. */
export function letGo(ledger: Ledger, origins: ReadonlySet<string>): void {
  const moved = ledger.setting<string[]>(MOVED) ?? [];
  ledger.set(
    MOVED,
    moved.filter(url => !origins.has(originOf(url))),
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
