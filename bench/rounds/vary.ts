/** Leave one site out: would a constant have been chosen otherwise without it, and what would it then get? */
import { percent, printTable } from '../bytes/report.ts';
import type { SiteFigures } from './report.ts';

/** Of src/frontier/schedule and src/revisit, with values beside the one in use. */
export const CONSTANTS = [
  { file: 'waves.ts', name: 'ODDS', values: ['1 / 500', '1 / 5'] },
  { file: 'waves.ts', name: 'ENOUGH_OF_PART', values: ['2', '12'] },
  { file: 'waves.ts', name: 'OVER_SHARE', values: ['0.05', '0.3'] },
  { file: 'lots.ts', name: 'OF_SERVER', values: ['1', '4'] },
] as const;

export interface Varied {
  readonly value: string;
  readonly sites: readonly SiteFigures[];
}

const mean = (list: readonly number[]) => list.reduce((sum, each) => sum + each, 0) / list.length;

/** Each site counts the same. The first of `runs` is the one in use, which wins a tie. */
export function printLeftOut(name: string, runs: readonly Varied[]): void {
  const hosts = runs[0]!.sites.map(({ site }) => site).filter(site => site !== 'all');
  const freshOf = ({ sites }: Varied, host: string) => sites.find(({ site }) => site === host)!.fresh;
  console.log(
    `\n${name}: ${runs.map(run => `${run.value} ${percent(mean(hosts.map(host => freshOf(run, host))))}`).join(', ')}\n`,
  );
  const rows = hosts.map(left => {
    const others = hosts.filter(host => host !== left);
    const on = (run: Varied) => mean(others.map(host => freshOf(run, host)));
    const best = runs.reduce((a, b) => (on(b) > on(a) + 1e-9 ? b : a));
    return [left, best.value, percent(freshOf(best, left)), percent(freshOf(runs[0]!, left))];
  });
  printTable(['left out', 'chosen on the others', 'it gets', 'in use'], rows);
}
