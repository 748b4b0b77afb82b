/** Tables of the rounds bench: all sites together, each by itself, and the worst. */
import { mean, percent, printTable } from '../bytes/report.ts';
import type { Day } from './collection.ts';

export interface SiteFigures {
  readonly site: string;
  readonly pages: number;
  /** A day. */
  readonly visits: number;
  readonly bytes: number;
  readonly fresh: number;
  readonly worst: number;
  readonly own: number;
  /** Share of the days with the truth in the interval that was shown. */
  readonly inside: number;
  /** Bytes, of those that a conditional GET of every page takes. */
  readonly conditional: number;
  /** Of the interval, see scoreOf: the mean of its days. */
  readonly score: number;
  readonly shown: { readonly low: number; readonly expected: number; readonly high: number };
}

/** Of each site, all of them together first. `base`: bytes a day of a conditional GET of every page. */
export function sitesOf(run: readonly Day[], base: ReadonlyMap<string, number> = new Map()): SiteFigures[] {
  return ['all', ...[...run[0]!.sites.keys()].sort()].map(site => figuresOf(run, site, base.get(site)));
}

type Sums = Day['sites'] extends ReadonlyMap<string, infer S> ? S : never;

function countsOf(day: Day, site: string): Sums {
  const sites = site === 'all' ? [...day.sites.values()] : [day.sites.get(site) ?? { pages: 1, all: 1, own: 1 }];
  const sum = (of: keyof Sums) => sites.reduce((total, each) => total + each[of], 0);
  return { pages: sum('pages'), all: sum('all'), own: sum('own') };
}

function truthOf(day: Day, site: string, of: 'all' | 'own' = 'all'): number {
  const counts = countsOf(day, site);
  return counts[of] / counts.pages;
}

const saidOf = (day: Day, site: string) => (site === 'all' ? day.said : day.said.origins.get(site)!);

function isInside(day: Day, site: string): boolean {
  const truth = truthOf(day, site);
  const { low, high } = saidOf(day, site);
  return truth >= low - 1e-9 && truth <= high + 1e-9;
}

/**
 * What an interval for nine days in ten is worth, the less the better: its width, and twenty times what the truth lies outside
 * of it. Whoever makes it wider or narrower than is known makes it worse.
 */
function scoreOf(day: Day, site: string): number {
  const truth = truthOf(day, site);
  const { low, high } = saidOf(day, site);
  return high - low + 20 * (Math.max(0, low - truth) + Math.max(0, truth - high));
}

function figuresOf(run: readonly Day[], site: string, base = 1): SiteFigures {
  const sum = (of: ReadonlyMap<string, number>) =>
    site === 'all' ? [...of.values()].reduce((total, each) => total + each, 0) : (of.get(site) ?? 0);
  const shown = (of: 'low' | 'expected' | 'high') => mean(run.map(day => saidOf(day, site)[of]));
  return {
    site,
    pages: countsOf(run[0]!, site).pages,
    visits: mean(run.map(day => sum(day.visits))),
    bytes: mean(run.map(day => sum(day.bytes))),
    conditional: mean(run.map(day => sum(day.bytes))) / base,
    fresh: mean(run.map(day => truthOf(day, site))),
    worst: Math.min(...run.map(day => truthOf(day, site))),
    own: mean(run.map(day => truthOf(day, site, 'own'))),
    inside: mean(run.map(day => (isInside(day, site) ? 1 : 0))),
    score: mean(run.map(day => scoreOf(day, site))),
    shown: { low: shown('low'), expected: shown('expected'), high: shown('high') },
  };
}

export function printRun(name: string, run: readonly Day[], verbose: boolean): void {
  const sites = sitesOf(run);
  console.log(`\n${name}\n`);
  printTable(
    ['site', 'pages', 'visits/day', 'kB/day', 'fresh', 'worst day', 'own text', 'inside', 'shown'],
    sites.map(({ site, pages, visits, bytes, fresh, worst, own, inside, shown }) => [
      ...[site, String(pages), visits.toFixed(1), (bytes / 1000).toFixed(0)],
      ...[percent(fresh), percent(worst), percent(own), percent(inside)],
      `${percent(shown.expected)} (${percent(shown.low)}–${percent(shown.high)})`,
    ]),
  );
  const worst = sites.slice(1).reduce((a, b) => (b.fresh < a.fresh ? b : a));
  const least = sites.slice(1).reduce((a, b) => (b.inside < a.inside ? b : a));
  console.log(
    `worst: ${worst.site} ${percent(worst.fresh)}; inside least often: ${least.site} ${percent(least.inside)}`,
  );
  if (verbose) for (const { site } of sites) console.log(`${site}: ${run.map(day => dayOf(day, site)).join(' ')}`);
}

/** `71[87-100]v18`: true, shown, visits. */
function dayOf(day: Day, site: string): string {
  const { low, high } = saidOf(day, site);
  const whole = (share: number) => Math.round(share * 100);
  return `${whole(truthOf(day, site))}[${whole(low)}-${whole(high)}]v${day.visits.get(site) ?? 0}`;
}
