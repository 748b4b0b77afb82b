/** How results divide: by site, section of the site, kind of document, language and age. Each value is a filter to ask with. */
import { DAY } from '../base/clock.ts';
import type { SpreadRow } from '../search/index.ts';

interface Facet {
  readonly name: 'site' | 'section' | 'type' | 'language' | 'changed';
  readonly values: readonly FacetValue[];
}

interface FacetValue {
  /** What the results have in common, for people. */
  readonly label: string;
  /** As the query language says it: added to the question, it leaves these results alone. */
  readonly filter: string;
  readonly pages: number;
}

const MOST_VALUES = 12;
const ages = [
  { label: 'last week', days: 7, filter: 'changed:<7d' },
  { label: 'last month', days: 30, filter: 'changed:<30d' },
  { label: 'last year', days: 365, filter: 'changed:<365d' },
] as const;

/** A facet that divides nothing is left out. */
export function facetsOf(rows: readonly SpreadRow[], now: number): Facet[] {
  const places = rows.map(({ url }) => placeOf(url));
  const one = new Set(places.map(({ site }) => site)).size === 1;
  const all: Facet[] = [
    counted(
      'site',
      places.map(({ site }) => site),
      site => `site:${site}`,
    ),
    // Sections of several sites that share a name have nothing else in common.
    one
      ? counted(
          'section',
          places.map(({ section }) => section),
          section => `site:${places[0]!.site}/${section}`,
        )
      : { name: 'section', values: [] },
    counted(
      'type',
      rows.map(({ mediaType }) => mediaType),
      type => `type:${type}`,
    ),
    counted(
      'language',
      rows.map(({ language }) => language),
      language => `lang:${language}`,
    ),
  ];
  return [...all.filter(({ values }) => values.length > 1), ...agesOf(rows, now)];
}

function agesOf(rows: readonly SpreadRow[], now: number): Facet[] {
  const values = ages.map(({ label, days, filter }) => ({
    ...{ label, filter },
    pages: rows.filter(({ changed }) => now - changed < days * DAY).length,
  }));
  const telling = values.filter(({ pages }) => pages > 0 && pages < rows.length);
  return telling.length > 0 ? [{ name: 'changed', values: telling }] : [];
}

function counted(name: Facet['name'], keys: readonly string[], filterOf: (key: string) => string): Facet {
  const counts = new Map<string, number>();
  for (const key of keys) if (key !== '') counts.set(key, (counts.get(key) ?? 0) + 1);
  const values = [...counts]
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .slice(0, MOST_VALUES)
    .map(([label, pages]) => ({ label, filter: filterOf(label), pages }));
  return { name, values };
}

/** The first folder of its path is the section that a page is in. */
function placeOf(url: string): { site: string; section: string } {
  const { host, pathname } = new URL(url);
  const folders = pathname.split('/').slice(1, -1);
  return { site: host, section: /^[\w.~-]+$/.test(folders[0] ?? '') ? folders[0]! : '' };
}
