/** Sums and tables of the bytes bench: all sites together, each by itself, and the worst. */
import type { Fresh } from './replay.ts';
import type { DayCost } from './skein.ts';

/** One way to keep the collection fresh, under one profile. */
export interface Line {
  readonly name: string;
  /** Of each day: bytes in all and by host, requests. */
  readonly traffic: readonly {
    readonly bytes: number;
    readonly requests: number;
    readonly sites: ReadonlyMap<string, number>;
  }[];
  /** Of each day, by host; empty where everything is asked for every day. */
  readonly fresh: readonly ReadonlyMap<string, Fresh>[];
  /** What Skein said of itself, and what it inferred. */
  readonly said?: readonly DayCost['said'][];
  readonly inferred?: readonly DayCost['inferred'][];
}

export type Kind = 'all' | 'own';

export const mean = (list: readonly number[]): number =>
  list.reduce((sum, each) => sum + each, 0) / Math.max(1, list.length);

/** Share of the pages that are fresh on a day, of one host or of all. */
export function shareOf(day: ReadonlyMap<string, Fresh>, kind: Kind, host?: string): number {
  const sites = host === undefined ? [...day.values()] : [day.get(host) ?? { pages: 0, all: 0, own: 0 }];
  const pages = sites.reduce((sum, site) => sum + site.pages, 0);
  return pages === 0 ? 1 : sites.reduce((sum, site) => sum + site[kind], 0) / pages;
}

export const freshOf = (line: Line, kind: Kind, host?: string): number =>
  line.fresh.length === 0 ? 1 : mean(line.fresh.map(day => shareOf(day, kind, host)));

export const bytesOf = (line: Line, host?: string): number =>
  mean(line.traffic.map(day => (host === undefined ? day.bytes : (day.sites.get(host) ?? 0))));

export const percent = (share: number): string => `${(share * 100).toFixed(1)}%`;

export function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1000).toLocaleString('en')} kB`;
}

export function printTable(header: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = header.map((_, i) => Math.max(...[header, ...rows].map(row => row[i]!.length)));
  for (const row of [header, ...rows]) {
    console.log(row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  '));
  }
}

/** Share of the days on which the truth lay in the interval that was shown, of one host or of all. */
export function heldOf({ said = [], fresh }: Line, origin?: string, host?: string): number | undefined {
  const days = said.flatMap(({ freshness }, day) => {
    const shown = origin === undefined ? freshness : freshness.servers.find(server => server.origin === origin);
    if (!shown || fresh[day] === undefined) return [];
    const truth = shareOf(fresh[day], 'all', host);
    return [truth >= shown.low - 1e-9 && truth <= shown.high + 1e-9 ? 1 : 0];
  });
  return days.length === 0 ? undefined : mean(days);
}

/** All sites together, one row a line. */
export function printLines(lines: readonly Line[], base: Line): void {
  const header = [
    '',
    'bytes/day',
    'of conditional',
    'requests/day',
    'fresh',
    'worst day',
    'own text',
    'inferred',
    'shown',
    'true',
  ];
  printTable(
    header,
    lines.map(line => [
      line.name,
      kilobytes(bytesOf(line)),
      `${(bytesOf(line) / bytesOf(base)).toFixed(2)}×`,
      Math.round(mean(line.traffic.map(day => day.requests))).toLocaleString('en'),
      percent(freshOf(line, 'all')),
      percent(line.fresh.length === 0 ? 1 : Math.min(...line.fresh.map(day => shareOf(day, 'all')))),
      percent(freshOf(line, 'own')),
      line.inferred ? inferredBy(line.inferred) : '',
      line.said ? shownBy(line.said) : '',
      line.said ? percent(heldOf(line) ?? 0) : '',
    ]),
  );
}

/** Copies a day that nobody fetched, how many of them were right, and how many had been right as they were. */
function inferredBy(days: readonly DayCost['inferred'][]): string {
  const pages = mean(days.map(day => day.pages));
  const share = (of: 'right' | 'spoiled') => percent(pages === 0 ? 0 : mean(days.map(day => day[of])) / pages);
  return `${pages.toFixed(1)} (${share('right')}, ${share('spoiled')} spoiled)`;
}

function shownBy(said: readonly DayCost['said'][]): string {
  const of = (name: 'low' | 'expected' | 'high') => mean(said.map(({ freshness }) => freshness[name]));
  return `${percent(of('expected'))} (${percent(of('low'))}–${percent(of('high'))})`;
}

/** Each site by itself, the lines side by side. */
export function printSites(lines: readonly Line[], base: Line, origins: ReadonlyMap<string, string>): void {
  const skein = lines.filter(line => line.said);
  const hosts = [...(skein[0]?.fresh[0]?.keys() ?? [])].sort();
  const header = ['site', 'pages', ...skein.flatMap(line => [line.name.replace('skein ', ''), 'fresh', 'own', 'true'])];
  printTable(
    header,
    hosts.map(host => [
      host,
      String(skein[0]!.fresh[0]!.get(host)!.pages),
      ...skein.flatMap(line => [
        `${(bytesOf(line, host) / bytesOf(base, host)).toFixed(2)}×`,
        percent(freshOf(line, 'all', host)),
        percent(freshOf(line, 'own', host)),
        percent(heldOf(line, origins.get(host), host) ?? 0),
      ]),
    ]),
  );
}
