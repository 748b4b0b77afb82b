/** Leave one site out: would a constant have been chosen otherwise without it, and what would it then get? */
import { mean, percent, printTable } from '../bytes/report.ts';
import type { SiteFigures } from './report.ts';

/** What a constant is chosen by, on some sites: the least. */
interface Judge {
  readonly of: (sites: readonly SiteFigures[]) => number;
  readonly show: (sites: readonly SiteFigures[]) => string;
}

const meanOf = (sites: readonly SiteFigures[], of: 'fresh' | 'score' | 'conditional'): number =>
  mean(sites.map(site => site[of]));

/** Under a budget: what is fresh for it. */
const fresh: Judge = { of: sites => -meanOf(sites, 'fresh'), show: sites => percent(meanOf(sites, 'fresh')) };
const interval: Judge = { of: sites => meanOf(sites, 'score'), show: sites => meanOf(sites, 'score').toFixed(3) };
/** What a freshness costs, where it is kept. */
const cost: Judge = {
  of: sites => (meanOf(sites, 'fresh') >= 0.98 ? meanOf(sites, 'conditional') : 100 - meanOf(sites, 'fresh')),
  show: sites => `${meanOf(sites, 'conditional').toFixed(3)}×, ${percent(meanOf(sites, 'fresh'))}`,
};

/** Of one module, with values beside the one in use, what they are for and what they are judged by. */
export interface Constant {
  readonly file: string;
  readonly name: string;
  readonly values: readonly string[];
  readonly aim: '10%' | '0.98';
  readonly judge: Judge;
  /** It says nothing where sites are silent. */
  readonly sitemaps?: boolean;
}

export const CONSTANTS: readonly Constant[] = [
  { file: 'freshness-forecast.ts', name: 'ENOUGH_LOOKS', values: ['50', '200'], aim: '0.98', judge: cost },
  { file: 'freshness-forecast.ts', name: 'MOST_LESS', values: ['0', '4'], aim: '0.98', judge: cost },
  { file: 'round-terms.ts', name: 'AIM_PARTS', values: ['32', '128'], aim: '0.98', judge: cost },
  { file: 'told-looks.ts', name: 'HEARD', values: ['0.2', '2'], aim: '0.98', judge: cost, sitemaps: true },
  {
    file: 'calibration.ts',
    name: 'MEMORY_DAYS',
    values: ['{ lately: 0.5, now: 4, usual: 21 }', '{ lately: 2, now: 4, usual: 21 }'],
    aim: '10%',
    judge: interval,
  },
  { file: 'calibration.ts', name: 'JEFFREYS', values: ['0.25', '1'], aim: '10%', judge: interval },
  { file: 'calibration.ts', name: 'CHOSEN', values: ['0.1', '0.5'], aim: '10%', judge: interval },
  { file: 'waves.ts', name: 'OF_ONE_FOLDER', values: ['0.25', '1'], aim: '10%', judge: interval },
  { file: 'state.ts', name: 'PRIOR', values: ['{ a: 0.1, b: 1 }', '{ a: 0.6, b: 6 }'], aim: '10%', judge: fresh },
  {
    file: 'waves.ts',
    name: 'USUAL',
    values: ['{ waves: 0.1, days: 25 }', '{ waves: 2, days: 25 }'],
    aim: '10%',
    judge: fresh,
  },
  { file: 'waves.ts', name: 'DOUBT', values: ['0.3', '2'], aim: '10%', judge: fresh },
  { file: 'wave-days.ts', name: 'FLOCK', values: ['2', '14'], aim: '10%', judge: fresh },
  { file: 'waves.ts', name: 'OVER_SHARE', values: ['0.05', '0.3'], aim: '10%', judge: fresh },
  { file: 'lots.ts', name: 'OF_SERVER', values: ['1', '4'], aim: '10%', judge: fresh },
];

export interface Varied {
  readonly value: string;
  readonly sites: readonly SiteFigures[];
}

/** Each site counts the same. The first of `runs` is the one in use, which wins a tie. */
export function printLeftOut({ name, aim, judge }: Constant, runs: readonly Varied[]): void {
  const [used] = runs;
  const without = ({ sites }: Varied, left?: string) => sites.filter(({ site }) => site !== left);
  const only = ({ sites }: Varied, host: string) => sites.filter(({ site }) => site === host);
  console.log(`\n${name}, ${aim}: ${runs.map(run => `${run.value} ${judge.show(without(run))}`).join('; ')}\n`);
  const choices = used!.sites.map(({ site }) => {
    const on = (run: Varied) => judge.of(without(run, site));
    return { site, chosen: runs.reduce((a, b) => (on(b) < on(a) - 1e-9 ? b : a)) };
  });
  printTable(
    ['left out', 'chosen on the others', 'it gets', 'in use'],
    choices.map(({ site, chosen }) => [
      site,
      chosen.value,
      judge.show(only(chosen, site)),
      judge.show(only(used!, site)),
    ]),
  );
  const worst = (figures: readonly SiteFigures[]) =>
    judge.show([figures.reduce((a, b) => (judge.of([b]) > judge.of([a]) ? b : a))]);
  const got = choices.flatMap(({ site, chosen }) => only(chosen, site));
  console.log(
    `left out: ${judge.show(got)}, worst ${worst(got)}; in use: ${judge.show(used!.sites)}, worst ${worst(used!.sites)}`,
  );
}

/** The same sites in several runs: the mean of each. */
export function together(runs: readonly (readonly SiteFigures[])[]): SiteFigures[] {
  const sites = Map.groupBy(
    runs.flat().filter(({ site }) => site !== 'all'),
    ({ site }) => site,
  );
  return [...sites.values()].map(own => ({
    ...own[0]!,
    fresh: meanOf(own, 'fresh'),
    score: meanOf(own, 'score'),
    conditional: meanOf(own, 'conditional'),
  }));
}
