/** What can be asked of a synthetic web, with its defaults: a plain, honest, unchanging web of 20 pages. */
import type { Clock } from '../../src/base/clock.ts';
import { systemClock } from '../../src/base/clock.ts';

/** What differs from request to request, or with time, although the content is the same. */
export type Noise = 'csrf' | 'timestamp' | 'ad' | 'counter' | 'personal';

/**
 * right: both, true to the content; etag, date: one of them; none: neither;
 * now: Last-Modified is the time of the request, so nothing ever matches;
 * constant: an ETag that never changes, so it answers 304 although the content changed;
 * stale: a Last-Modified that never changes, which lies in the same way;
 * backends: three machines behind one name, each with its own ETag for the same content.
 */
export type Validators = 'right' | 'etag' | 'date' | 'none' | 'now' | 'constant' | 'stale' | 'backends';

export type Coding = 'identity' | 'gzip' | 'br' | 'deflate' | 'zstd';

/** Groups of special URLs that each server gets beside its ordinary pages; one file each in features/. */
export type Feature =
  | 'redirects'
  | 'errors'
  | 'soft-404'
  | 'robots'
  | 'directives'
  | 'sitemaps'
  | 'traps'
  | 'duplicates'
  | 'alternating'
  | 'charsets'
  | 'variants';

export const FEATURES: readonly Feature[] = [
  'redirects',
  'errors',
  'soft-404',
  'robots',
  'directives',
  'sitemaps',
  'traps',
  'duplicates',
  'alternating',
  'charsets',
  'variants',
];

export interface WebOptions {
  readonly seed: number;
  readonly servers: number;
  /** Ordinary pages of each server, its root included. */
  readonly pagesPerServer: number;
  /** Says which version of a page is served; move it to make pages change. */
  readonly clock: Clock;
  /** Each server on its own 127.0.x.y (Linux answers on all of them) instead of its own port of 127.0.0.1. */
  readonly addresses: boolean;
  /** The first two parts of these addresses: benches serve webs from networks of their own. */
  readonly network: string;
  readonly features: readonly Feature[];
  /** Content changes per day; each page has one of these. */
  readonly rates: readonly number[];
  /** Noise carried by a page with noise. */
  readonly noise: readonly Noise[];
  /** Share of the pages that have noise, 0–1. */
  readonly noiseShare: number;
  /** Each page has one of these. */
  readonly validators: readonly Validators[];
  /** Content codings that the servers know, best first; used as far as the request accepts them. */
  readonly codings: readonly Coding[];
  /** Charset of ordinary pages; each has one of these. */
  readonly charsets: readonly string[];
  /** Milliseconds before each answer, in real time. */
  readonly latency: number;
  /** Links of a page to others of its server, beside those that hold the tree together. */
  readonly links: number;
  /** Links of a page to other servers. */
  readonly crossLinks: number;
  readonly images: number;
  readonly paragraphs: number;
  /** Seconds of Crawl-delay in robots.txt; 0 = no such line. */
  readonly crawlDelay: number;
  /** Keep a record of each request in `web.log`. */
  readonly keepLog: boolean;
}

export const defaults: WebOptions = {
  seed: 1,
  servers: 1,
  pagesPerServer: 20,
  clock: systemClock,
  addresses: false,
  network: '127.0',
  features: [],
  rates: [0],
  noise: [],
  noiseShare: 1,
  validators: ['right'],
  codings: ['identity'],
  charsets: ['utf-8'],
  latency: 0,
  links: 4,
  crossLinks: 1,
  images: 0,
  paragraphs: 5,
  crawlDelay: 0,
  keepLog: true,
};
