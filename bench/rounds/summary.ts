/** Several runs in one table: the mean, and the worst site of all of them, which says more. */
import { poissonTwo } from '../../src/revisit/value.ts';
import { mean, percent, printTable } from '../bytes/report.ts';
import { BARE, type Day, honours, type Served, validatorsOf } from './collection.ts';
import { sitesOf } from './report.ts';
import type { Page } from './sites.ts';

/** One aim over one stretch of days. */
export interface Run {
  readonly name: string;
  readonly from: number;
  readonly days: readonly Day[];
  readonly pages: readonly Page[];
  readonly served: Served;
  /** Of the pages a day, where that is the aim. */
  readonly share: number | undefined;
}

interface Place {
  readonly site: string;
  readonly from: number;
  readonly value: number;
}

const least = (list: readonly Place[]): Place => list.reduce((a, b) => (b.value < a.value ? b : a));
const shown = ({ site, from, value }: Place): string => `${percent(value)} (${site.split('.')[0]} ${from})`;

export function printSummary(runs: readonly Run[]): void {
  const header = [
    '',
    'of conditional',
    'worst',
    'fresh',
    'worst',
    'of known rates',
    'worst',
    'inside',
    'sites',
    'worst',
  ];
  const rows = [...Map.groupBy(runs, run => run.name)].map(([name, own]) => [name, ...rowOf(own)]);
  console.log();
  printTable(header, rows);
}

function rowOf(runs: readonly Run[]): string[] {
  const figures = runs.map(run => ({ run, all: sitesOf(run.days, conditionalBytes(run)) }));
  const places = (of: (site: (typeof figures)[0]['all'][0], i: number) => number): Place[] =>
    figures.flatMap(({ run, all }, i) =>
      all.slice(1).map(each => ({ site: each.site, from: run.from, value: of(each, i) })),
    );
  const whole = (of: (site: (typeof figures)[0]['all'][0], i: number) => number) =>
    mean(figures.map(({ all }, i) => of(all[0]!, i)));
  const dearest = least(places(({ conditional }) => -conditional));
  const known = runs.map(run => (run.share === undefined ? undefined : knownRates(run, run.share)));
  const reached = (site: { site: string; fresh: number }, i: number) => site.fresh / (known[i]?.get(site.site) ?? 1);
  return [
    `${whole(({ conditional }) => conditional).toFixed(2)}×`,
    `${(-dearest.value).toFixed(2)}× (${dearest.site.split('.')[0]} ${dearest.from})`,
    ...[percent(whole(({ fresh }) => fresh)), shown(least(places(({ fresh }) => fresh)))],
    ...(known[0] ? [percent(whole(reached)), shown(least(places(reached)))] : ['', '']),
    percent(whole(({ inside }) => inside)),
    percent(mean(places(({ inside }) => inside).map(({ value }) => value))),
    shown(least(places(({ inside }) => inside))),
  ];
}

/** Bytes a day of asking for every page with its validators, by site. */
export function conditionalBytes({ pages, days, served }: Pick<Run, 'pages' | 'days' | 'served'>): Map<string, number> {
  const sums = new Map<string, number>();
  for (let day = 1; day <= days.length; day++) {
    for (const page of pages) {
      const [now, before] = [page.days[day - page.born], page.days[day - 1 - page.born]];
      if (!now) continue;
      const bytes = BARE + (honours(validatorsOf(page, served), before, now) ? 0 : now.bytes);
      for (const site of ['all', page.site]) sums.set(site, (sums.get(site) ?? 0) + bytes / days.length);
    }
  }
  return sums;
}

/** Freshness by site if every page's rate were known from the start; bench/bytes/known-rates.ts has the reasons. */
function knownRates({ pages, days }: Run, share: number): Map<string, number> {
  const copies = new Map(pages.map(page => [page, page.born]));
  const sums = new Map<string, { fresh: number; days: number }>();
  for (let day = 1; day <= days.length; day++) {
    const live = pages.filter(page => page.born <= day && page.died > day);
    const worth = (page: Page) => (page.rate === 0 ? 0 : poissonTwo(page.rate * (day - copies.get(page)!)) / page.rate);
    const next = live.map(page => ({ page, value: worth(page) })).sort((a, b) => b.value - a.value);
    for (const { page } of next.slice(0, Math.round(share * live.length))) copies.set(page, day);
    const isFresh = (page: Page) => page.changes.every(change => change.day <= copies.get(page)! || change.day > day);
    for (const site of ['all', ...new Set(live.map(page => page.site))]) {
      const own = site === 'all' ? live : live.filter(page => page.site === site);
      const sum = sums.get(site) ?? { fresh: 0, days: 0 };
      sums.set(site, { fresh: sum.fresh + own.filter(isFresh).length / own.length, days: sum.days + 1 });
    }
  }
  return new Map([...sums].map(([site, sum]) => [site, sum.fresh / sum.days]));
}
