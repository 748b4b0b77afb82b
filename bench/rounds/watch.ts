/** How soon a watch tells of changes: within a week, and within the time in which the page usually changes once. */
import { DAY, HOUR } from '../../src/base/clock.ts';
import { percent, printTable } from '../bytes/report.ts';
import { Collection, timeOf } from './collection.ts';
import type { Page } from './sites.ts';

/** Changes after which a page is known to change; the first ones teach its rhythm. */
const KNOWN = 2;
/** Days before the end whose changes are left out: what came last had no week to be found in. */
const LEFT = 7;

interface Told {
  readonly page: Page;
  readonly changed: number;
  /** Milliseconds until it was seen. */
  readonly after: number;
}

export function printWatch(pages: readonly Page[], days: number, share: number): void {
  const seen: Told[] = [];
  const collection = new Collection(pages, { sitemaps: false, validators: 'correct' });
  collection.crawl();
  collection.watch(days, share, (page, changed, time) => seen.push({ page, changed, after: time - changed }));
  collection.close();
  const last = timeOf(days - LEFT);
  const all = pages.flatMap(page =>
    page.changes
      .map(({ day }, i) => ({ page, changed: timeOf(day - 1), known: i >= KNOWN }))
      .filter(({ changed }) => changed < last && changed >= timeOf(page.born)),
  );
  const after = new Map(seen.map(told => [keyOf(told), told.after]));
  const rows = [
    row('all changes', all, after, days),
    row(
      `of pages that had changed ${KNOWN} times`,
      all.filter(({ known }) => known),
      after,
      days,
    ),
  ];
  const header = ['', 'changes', 'within 7 days', 'within its own rhythm', 'median'];
  console.log(`\nwatch --budget ${percent(share)}, no sitemaps, ${days} days\n`);
  printTable(header, rows);
}

type Change = Pick<Told, 'page' | 'changed'>;

const keyOf = ({ page, changed }: Change): string => `${page.site}${page.path} ${changed}`;

function row(name: string, changes: readonly Change[], after: ReadonlyMap<string, number>, days: number): string[] {
  const delays = changes.map(change => after.get(keyOf(change)) ?? Number.POSITIVE_INFINITY);
  const rhythm = ({ page }: Change) => Math.max(DAY, (days * DAY) / page.changes.length);
  const share = (good: (delay: number, i: number) => boolean) => percent(delays.filter(good).length / delays.length);
  const median = delays.toSorted((a, b) => a - b)[Math.floor(delays.length / 2)] ?? 0;
  return [
    ...[name, String(changes.length), share(delay => delay <= 7 * DAY)],
    ...[share((delay, i) => delay <= rhythm(changes[i]!)), `${(median / HOUR).toFixed(0)} h`],
  ];
}
