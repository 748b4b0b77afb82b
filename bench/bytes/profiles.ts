/** How the recorded sites are served: as they should be, and in the ways in which real servers are worse. */
import type { Replay, Served } from './replay.ts';

export interface Profile {
  readonly name: string;
  readonly means: string;
  readonly served: Omit<Served, 'sites'>;
  /** Dead links, and second addresses of live pages by a query string, for each page. */
  readonly dead?: number;
  readonly twins?: number;
}

export const profiles: readonly Profile[] = [
  { name: 'correct', means: 'validators that move with the bytes, sitemaps with dates', served: {} },
  { name: 'no-sitemap', means: 'the same without sitemaps', served: { sitemap: false } },
  {
    name: 'deploy',
    means: 'every deployment makes all pages look modified',
    served: { profile: 'deploy' },
  },
  { name: 'lm-now', means: 'Last-Modified is always now', served: { profile: 'lm-now' } },
  { name: 'none', means: 'no validators', served: { profile: 'none' } },
  { name: 'half', means: 'no validators on half of the sites', served: { noValidators: 0.5 } },
  {
    name: 'crowded',
    means: 'three dead links for two pages, one page in seven at two addresses, no sitemaps, deployments',
    served: { profile: 'deploy', sitemap: false },
    dead: 1.5,
    twins: 1 / 7,
  },
];

/** What the first crawl is given besides the day's pages. */
export function crowd(replay: Replay, { dead = 0, twins = 0 }: Profile): string[] {
  const urls = replay.urlsOf(0);
  const more: string[] = [];
  urls.forEach((url, i) => {
    const upTo = (share: number) => Math.floor((i + 1) * share) - Math.floor(i * share);
    for (let n = 0; n < upTo(dead); n++) more.push(new URL(`/no-such-page/${i}-${n}.html`, url).href);
    for (let n = 0; n < upTo(twins); n++) more.push(`${url}?from=${n}`);
  });
  return more;
}
