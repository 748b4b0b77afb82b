/** The report of a collection: what every check found, what of that is new, and the collection's structure. */
import { type CheckName, checkNames, checks, type Finding, type Level } from './findings.ts';
import { Holders } from './holders.ts';
import { brokenLinks, redirects } from './link-checks.ts';
import { Markups } from './markups.ts';
import { checkOutside, type OutsideOptions } from './outside.ts';
import { canonicals, copies, coverage, titlesAndDescriptions, translations, weights } from './page-checks.ts';
import { isBroken, ReportedSite, type SitePart } from './site.ts';
import { Edges, type Structure, structureOf } from './structure.ts';

export interface Report {
  /** Milliseconds since 1970. */
  readonly time: number;
  /** Only findings that are newer than this are reported; 0 = all. */
  readonly since: number;
  readonly urls: number;
  readonly counts: Readonly<Record<Level, number>>;
  readonly checks: Readonly<Partial<Record<CheckName, number>>>;
  /** URLs that the collection does not hold and that were not requested. */
  readonly unchecked: number;
  readonly structure: Structure;
  /** Worst first. */
  readonly findings: readonly Finding[];
}

interface ReportOptions {
  readonly now: number;
  readonly since?: number;
  /** Checks to run; absent = all. */
  readonly only?: readonly CheckName[];
  /** Requests URLs that the collection does not hold. */
  readonly outside?: OutsideOptions;
  /** Called with the number of pages read so far. */
  readonly watch?: (pages: number) => void;
}

/** Of a collection with any number of partitions. */
export async function makeReport(parts: readonly SitePart[], options: ReportOptions): Promise<Report> {
  const { now, since = 0, only, outside, watch } = options;
  const site = new ReportedSite(parts);
  const edges = new Edges();
  const holders = new Holders(site, (source, target) => edges.add(source, target));
  const markups = await Markups.of(site, watch);
  const others = await beyond(
    site,
    holders,
    markups,
    outside && { ...outside, asks: name => !only || only.includes(name) },
  );
  const all = [
    ...brokenLinks(site, holders),
    ...others.findings,
    ...redirects(site, holders),
    ...canonicals(site),
    ...translations(site, markups),
    ...coverage(site, holders.counts),
    ...titlesAndDescriptions(site, markups),
    ...copies(site),
    ...weights(site),
  ];
  const findings = all
    .filter(({ check, time }) => time >= since && (!only || only.includes(check)))
    .sort((a, b) => checkNames.indexOf(a.check) - checkNames.indexOf(b.check) || b.related.length - a.related.length);
  const counts = { error: 0, warning: 0, notice: 0 };
  const byCheck: Partial<Record<CheckName, number>> = {};
  for (const { level, check } of findings) {
    counts[level]++;
    byCheck[check] = (byCheck[check] ?? 0) + 1;
  }
  const structure = structureOf(site, edges);
  const { unchecked } = others;
  return { time: now, since, urls: site.size, counts, checks: byCheck, unchecked, structure, findings };
}

interface OutsideWanted extends OutsideOptions {
  /** Nothing is requested for a check that is not reported. */
  readonly asks: (check: CheckName) => boolean;
}

/** What is not part of the collection: links to other sites, and requisites that were not crawled. */
async function beyond(site: ReportedSite, holders: Holders, markups: Markups, options: OutsideWanted | undefined) {
  const wanted = new Map<string, CheckName>();
  for (const row of site)
    if (row.refused === 'out-of-scope' && row.outcome === null) wanted.set(row.url, 'broken-external');
  const broken: Finding[] = [];
  for (const [url, pages] of markups.needed) {
    const row = site.find(url);
    if (row && row.outcome !== null) {
      const { row: end } = site.end(row);
      if (row.role !== 2 && isBroken(end)) holders.addNeeding(row.id, pages);
    } else wanted.set(url, 'broken-requisite');
  }
  if (!options) return { findings: broken, unchecked: wanted.size };
  const asked = [...wanted].filter(([, check]) => options.asks(check)).map(([url]) => url);
  const answers = await checkOutside(asked, options);
  for (const [url, { status, reason }] of answers) {
    if (reason === '') continue;
    const check = wanted.get(url)!;
    const row = site.find(url);
    const links = row ? holders.of(row.id) : [];
    const linking = new Set(links.map(each => each.url));
    const needs = (markups.needed.get(url) ?? []).map(page => ({ url: site.get(page)!.url, anchor: '' }));
    const related = [...links, ...needs.filter(each => !linking.has(each.url))];
    broken.push({ check, level: checks[check].level, url, time: Date.now(), status, detail: reason, related });
  }
  return { findings: broken, unchecked: wanted.size - answers.size };
}
