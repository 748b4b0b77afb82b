/**
 * What stands on every page of a site and says nothing: tokens of nodes, of sessions and of builds. Some differ between two looks;
 * others stand still until the next round, as on sites that are built anew or answered by the same node for a day.
 */
import { hashOf, mix, pick } from '../random.ts';
import { word } from '../words.ts';
import { noise } from './noise.ts';
import { anyToken, tokenOfNode, withToken } from './noise-tokens.ts';
import type { Look, Part } from './part.ts';

const BASE = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** `page`: of the page; `site`: the same on all pages. */
type Show = (look: Look, page: number, site: number) => string;

/** Stands still within a round. */
const still: Readonly<Record<string, Show>> = {
  'node of the day': (look, page, site) =>
    `<img src="/i/${withToken(site, tokenOfNode(site, hashOf(page, 71, look.round)))}.png" alt="Logo">`,
  'token of the page in each build': (look, page, site) =>
    `<p><a href="http://chat.invalid/join/${anyToken(7 + (site % 6), BASE, hashOf(page, 72, look.round))}">Join</a></p>`,
  'hash of each build': (look, _, site) =>
    `<img src="/i/app.${anyToken(8, '0123456789abcdef', hashOf(site, 73, look.round))}.png" alt="${word(site)}">`,
};

const DIFFERING = [
  ...['asset of a node', 'session in a link', 'invite token', 'token in a link', 'token in a picture'],
  ...['picture of one of several nodes', 'link of one of several nodes', 'covered mail', 'guarded mail', 'mail link'],
  ...['time of the request', 'last generated', 'views', 'counter', 'time to make', 'invitations in links', 'node'],
  ...['sponsors', 'links by lot', 'nonce', 'form token', 'one of two words'],
];

/** Of a site in three nothing does; of the others one thing, by the seed. Returns what is on a page, given its hash. */
export function everywhere(seed: number): (page: number) => Part[] {
  const site = hashOf(seed, 74);
  if (seed % 3 === 0) return () => [];
  if (seed % 3 === 1) {
    const kind = pick(DIFFERING, mix(site, 1));
    const fixed = mix(site, 2);
    return page => {
      const part = noise(kind, fixed);
      // One machine makes them all, and no two pages have the same token.
      const html = (look: Look) => part.html({ ...look, count: page });
      return [{ ...part, name: `${kind}, everywhere`, place: 'footer', html, everywhere: 'request' }];
    };
  }
  const kind = pick(Object.keys(still), mix(site, 3));
  const show = still[kind]!;
  const part = { name: `${kind}, everywhere`, truth: 'noise', place: 'footer', seen: false } as const;
  const when = kind === 'hash of each build' ? 'build' : 'round';
  return page => [{ ...part, html: look => show(look, page, site), everywhere: when }];
}
