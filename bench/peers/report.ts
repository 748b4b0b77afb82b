/** From the runs to tables, ratios and the lines that say met or missed. */
import type { Contender } from './contenders.ts';
import type { Cost } from './measured.ts';

export interface Result {
  readonly contender: Contender;
  readonly cost: Cost;
  /** URLs of HTML pages that the server sent to it with status 200. */
  readonly pages: ReadonlySet<string>;
  readonly requests: number;
  /** How many of them it stored: what was fetched and is nowhere was not collected. */
  readonly kept: number;
  /** What it left on the disk, bytes. */
  readonly stored: number;
}

export interface Row {
  readonly contender: Contender;
  /** The run of median speed. */
  readonly result: Result;
  readonly rate: number;
  readonly slowest: number;
  readonly fastest: number;
}

const rateOf = (result: Result): number => result.kept / result.cost.seconds;

/** One row for each contender; of several wget2 only the best, as its users would choose it. */
export function summarise(results: readonly Result[]): Row[] {
  const rows: Row[] = [];
  for (const contender of new Set(results.map(result => result.contender))) {
    const runs = results.filter(result => result.contender === contender).sort((a, b) => rateOf(a) - rateOf(b));
    const result = runs[runs.length >> 1]!;
    const rates = runs.map(rateOf);
    rows.push({ contender, result, rate: rateOf(result), slowest: rates[0]!, fastest: rates[rates.length - 1]! });
  }
  const best = rows.filter(isWget2).sort((a, b) => b.rate - a.rate)[0];
  return rows.filter(row => !isWget2(row) || row === best);
}

const isWget2 = (row: Row): boolean => row.contender.package === 'wget2';

const number = (value: number, digits = 0): string =>
  value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });

export function table(rows: readonly Row[]): string {
  const ours = rows.find(row => row.contender.package === '');
  const header = [
    '',
    'pages',
    'seconds',
    'pages/s',
    'spread',
    'skein is',
    'CPU s',
    'pages/CPU s',
    'peak MB',
    'disk MB',
  ];
  const lines = rows.map(({ contender, result, rate, slowest, fastest }) => [
    contender.name +
      (contender.partial ? ' (a part)' : '') +
      (contender.codes.includes(result.cost.code) ? '' : ` [exit ${result.cost.code}]`),
    number(result.kept),
    number(result.cost.seconds, 1),
    number(rate),
    `${number(slowest)}–${number(fastest)}`,
    ours === undefined ? '–' : `${number(ours.rate / rate, 2)}×`,
    number(result.cost.cpuSeconds, 1),
    number(result.kept / result.cost.cpuSeconds),
    number(result.cost.peakMegabytes),
    number(result.stored / 1e6),
  ]);
  return grid([header, ...lines]);
}

/** Columns padded to the same width: the first to the left, the others to the right. */
export function grid(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map(row => row[column]!.length)));
  return rows
    .map(row =>
      row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join('  '),
    )
    .join('\n');
}

/** Pages below which a rate is mostly start-up. */
const ENOUGH = 100;

export interface Verdict {
  readonly line: string;
  readonly met: boolean;
}

export function verdicts(rows: readonly Row[]): Verdict[] {
  const ours = rows.find(row => row.contender.package === '');
  if (ours === undefined) return [];
  const all: Verdict[] = [];
  for (const { contender, rate, result } of rows) {
    // One that stopped at once says nothing about speed.
    if (contender.target === 0 || result.pages.size < ENOUGH) continue;
    const ratio = ours.rate / rate;
    const met = ratio >= contender.target;
    const { size } = result.pages;
    const lost = `, and ${number((ratio * result.kept) / size, 2)} × by all ${number(size)} that it fetched`;
    const line = `pages/s ≥ ${contender.target} × ${contender.name}: ${number(ratio, 2)} × (${met ? 'met' : 'missed'})`;
    all.push({ met, line: result.kept < size ? line + lost : line });
  }
  const reference = rows.find(isWget2);
  if (reference !== undefined) all.push(completeness(ours.result.pages, reference.result.pages));
  return all;
}

function completeness(ours: ReadonlySet<string>, theirs: ReadonlySet<string>): Verdict {
  const missing = [...theirs].filter(url => !ours.has(url));
  const extra = [...ours].filter(url => !theirs.has(url)).length;
  const example = missing.length === 0 ? '' : `, such as ${missing.slice(0, 3).join(' ')}`;
  const met = missing.length === 0;
  return {
    met,
    line: `no page of wget2 is missing: ${missing.length} missing of ${theirs.size}${example}; ${extra} more than wget2 (${met ? 'met' : 'missed'})`,
  };
}
