/**
 * What the parts of a lively page have in common: when they change, and what is true of it. A part is made anew from its
 * hash and the moment at each request, so that any page comes out the same for the same moment.
 */
import { DAY, HOUR } from '../../../src/base/clock.ts';
import { hashOf, mix, share } from '../random.ts';

/** One request, as a part may depend on it. */
export interface Look {
  /** Milliseconds since the site was opened. */
  readonly time: number;
  /** Requests to the whole site before this one. */
  readonly turn: number;
  /** Requests for this page before this one. */
  readonly count: number;
  /** Rounds before this one, and requests for this page in this round before this one. */
  readonly round: number;
  readonly again: number;
}

/**
 * news: a reader must be told; noise: must not; shared: must be told once for the site, and of no page.
 * unscored: nobody can tell by looking, such as an advertisement that stays for an hour.
 */
export type Truth = 'news' | 'noise' | 'shared' | 'unscored';

/** Where in the page it stands. */
export type Place = 'title' | 'head' | 'menu' | 'main' | 'aside' | 'footer';

export interface Part {
  readonly name: string;
  readonly truth: Truth;
  readonly place: Place;
  html(look: Look): string;
  /** What a reader must be told of, where that is not all of the HTML. */
  news?(look: Look): string;
  /** What many pages have alike, where that is a part of the HTML of a page's own. */
  shared?(look: Look): string;
  /** False for what no reader sees, such as a nonce: a stored copy need not have the newest one. */
  readonly seen: boolean;
  /** Of what says something: other parts of its HTML differ at every look. */
  readonly noisy?: boolean;
  /** Noise on every page of the site; of each build: telling it once of the site is as good as not at all. */
  readonly everywhere?: 'request' | 'round' | 'build';
  /** What a stored copy must hold, where that is not all of the HTML. */
  held?(look: Look): string;
}

/** request, second: two looks at the same time differ; swing: between two values, from day to day; pair: each day. */
export const rhythms = ['request', 'second', 'hour', 'day', 'week', 'once', 'swing', 'pair', 'never'] as const;
export type Rhythm = (typeof rhythms)[number];

/** Number of the value that a rhythm shows; equal numbers, equal values. */
export function tickOf(rhythm: Rhythm, hash: number, look: Look): number {
  const phase = mix(hash, 41);
  const since = (period: number) => Math.floor((look.time + share(phase) * period) / period);
  switch (rhythm) {
    case 'request':
      return look.turn;
    case 'second':
      return since(1000);
    case 'hour':
      return since(HOUR);
    case 'day':
      return since(DAY);
    case 'week':
      return since(7 * DAY);
    case 'once':
      return look.time > (1 + share(phase) * 8) * DAY ? 1 : 0;
    case 'swing':
      return hashOf(hash, since(DAY)) % 2;
    case 'pair':
      return since(DAY) % 2;
    case 'never':
      return 0;
  }
}

/** A number from the hash, from `low` up to, not including, `high`. */
export function between(low: number, high: number, hash: number): number {
  return low + Math.floor(share(hash) * (high - low));
}

/** So many letters and digits, as tokens have them: at least one of each. */
export function token(length: number, hash: number, letters = 'abcdefghijkmnpqrstuvwxyz23456789'): string {
  let text = '';
  for (let i = 0; i < length; i++) text += letters[mix(hash, 100 + i) % letters.length];
  return /\d/.test(text) && /[a-z]/i.test(text) ? text : `${text.slice(0, -2)}k${hash % 10}`;
}
