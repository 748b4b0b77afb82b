/**
 * What could be reached if every page's rate were known from the start: the same days, the same number of visits, each
 * spent where theory says that it is worth most. The rates are those of the whole recording, the visits know nothing
 * else: neither sitemaps nor which pages change together.
 */
import { poissonTwo } from '../../src/revisit/value.ts';
import { type Entry, recordedDays } from '../histories.ts';
import { type Fresh, type Freshness, pagesOf } from './replay.ts';

interface Held {
  readonly rate: number;
  /** Day of the copy. */
  copy: number;
}

const keyOf = ({ s, u }: Pick<Entry, 's' | 'u'>): string => s + u;

/** Freshness of each day by host. `share`: of the day's pages. New pages are fetched at once, beside the budget. */
export function knownRates(truth: Freshness, days: number, share: number): Map<string, Fresh>[] {
  const recorded = recordedDays();
  const held = new Map<string, Held>();
  const daily: Map<string, Fresh>[] = [];
  for (let day = 0; day <= days; day++) {
    const pages = pagesOf(day);
    for (const page of pages) {
      if (!held.has(keyOf(page))) held.set(keyOf(page), { rate: truth.changesOf(page).length / recorded, copy: day });
    }
    if (day === 0) continue;
    const worth = ({ rate, copy }: Held) => (rate === 0 ? 0 : poissonTwo(rate * (day - copy)) / rate);
    const next = pages
      .map(page => held.get(keyOf(page))!)
      .map(each => ({ each, value: worth(each) }))
      .sort((a, b) => b.value - a.value);
    for (const { each } of next.slice(0, Math.round(share * pages.length))) each.copy = day;
    daily.push(truth.on(day, index => held.get(keyOf(pages[index]!))!.copy));
  }
  return daily;
}
