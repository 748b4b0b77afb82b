/**
 * Made-up sites whose pages change together in every rhythm: once, on days that follow each other, every other day, weekly,
 * daily, and in clusters; everywhere, on half of the pages, or in one folder. Each page changes at a rate of its own besides.
 * A seed makes the same sites each time.
 */
import { exponential, hashOf, pick, share } from '../../test/web/random.ts';
import type { Body, Page } from './sites.ts';

const SITES = 9;
const SIZES = [24, 36, 72, 72, 173, 173, 250, 400, 600];
const DAY_SECONDS = 86_400;

/** Days of the waves of a site. */
type Rhythm = (hash: number, days: number) => number[];

const from = (first: number, step: number, count: number) => Array.from({ length: count }, (_, i) => first + i * step);
const first = (hash: number, days: number) => 1 + Math.floor(share(hash) * (days - 4));

const RHYTHMS: readonly Rhythm[] = [
  () => [],
  (hash, days) => [first(hash, days)],
  (hash, days) => from(first(hash, days), 1, 3),
  (hash, days) => from(first(hash, days), 1, 5),
  (hash, days) => from(first(hash, days), 2, 3),
  hash => from(1 + (hash % 7), 7, 9),
  (_, days) => from(1, 1, days),
  // A wave brings others: a release and its mends.
  (hash, days) => {
    const list: number[] = [];
    for (let day = 1; day <= days; day++) {
      const odds = list.at(-1) === day - 1 ? 0.5 : 0.07;
      if (share(hashOf(hash, day)) < odds) list.push(day);
    }
    return list;
  },
];

/** Whether a wave touches a page. */
type Reach = (page: number, pages: number, hash: number) => boolean;

const REACHES: readonly Reach[] = [
  () => true,
  () => true,
  (page, _, hash) => share(hashOf(hash, page)) < 0.9,
  (page, _, hash) => share(hashOf(hash, page)) < 0.5,
  // One folder; see pathOf.
  (page, pages) => page < pages / 3,
];

/** How a site dates its pages: by their own change, or all of them whenever one has changed. */
const pathOf = (page: number, pages: number): string => `/${page < pages / 3 ? 'guide/' : ''}p${page}.html`;

export function sceneOf(seed: number, days: number): Page[] {
  return Array.from({ length: SITES }, (_, i) => siteOf(hashOf(seed, i), i, days)).flat();
}

function siteOf(hash: number, index: number, days: number): Page[] {
  const at = (what: number) => hashOf(hash, what);
  const rhythm = RHYTHMS[(at(0) + index) % RHYTHMS.length]!;
  const pages = pick(SIZES, at(1));
  const reach = pick(REACHES, at(2));
  const waves = new Set(rhythm(at(3), days));
  const shared = share(at(4)) < 0.5;
  const alive = { share: share(at(5)) * 0.5, mean: 0.003 * 60 ** share(at(6)) };
  const byDeploy = share(at(7)) < 0.3;
  const all = Array.from({ length: pages }, (_, page) => {
    const own = share(hashOf(at(8), page)) < alive.share ? exponential(alive.mean, hashOf(at(9), page)) : 0.001;
    const touched = reach(page, pages, at(10));
    const changes = from(1, 1, days).flatMap(day => {
      if (share(hashOf(at(11), page, day)) < 1 - Math.exp(-own)) return [{ day, shared: false }];
      return touched && waves.has(day) ? [{ day, shared }] : [];
    });
    return { page, changes, bytes: 2000 + Math.floor(exponential(4000, hashOf(at(12), page))) };
  });
  const deployments = new Set(all.flatMap(({ changes }) => changes.map(({ day }) => day)));
  return all.map(({ page, changes, bytes }): Page => {
    const own = new Set(changes.map(({ day }) => day));
    return {
      site: `s${index}-${pages}-${[...waves].slice(0, 4).join('-') || 'still'}`,
      odd: index % 2 === 1,
      path: pathOf(page, pages),
      born: 0,
      died: days + 1,
      rate: changes.length / days,
      days: bodiesOf({ bytes, days, own, dated: byDeploy ? deployments : own, deployments }),
      changes,
    };
  });
}

interface Bodies {
  readonly bytes: number;
  readonly days: number;
  /** Days on which it changed, on which its date moved on, and on which anything of its site changed. */
  readonly own: ReadonlySet<number>;
  readonly dated: ReadonlySet<number>;
  readonly deployments: ReadonlySet<number>;
}

function bodiesOf({ bytes, days, own, dated, deployments }: Bodies): Body[] {
  let [blob, modified, deployed] = [0, 0, 0];
  return from(0, 1, days + 1).map(day => {
    if (own.has(day)) blob = day;
    if (dated.has(day)) modified = day * DAY_SECONDS;
    if (deployments.has(day)) deployed = day;
    return { bytes, blob: String(blob), modified, deployed };
  });
}
