/** Broken links, with the pages and link texts that hold them; redirect chains that are too long or lead nowhere. */
import type { Finding, Related } from './findings.ts';
import { checks } from './findings.ts';
import type { Holders } from './holders.ts';
import { isBroken, type ReportedSite } from './site.ts';

export function brokenLinks(site: ReportedSite, holders: Holders): Finding[] {
  const found: Finding[] = [];
  for (const row of site) {
    const related = holders.of(row.id);
    const { row: end, way, loop } = site.end(row);
    if (loop || !isBroken(end) || (related.length === 0 && row.parent !== 0)) continue;
    const check = row.role === 2 ? 'broken-requisite' : 'broken-link';
    const detail = way.length === 0 ? (end!.reason ?? '') : `${end!.reason} at ${end!.url}`;
    const time = Math.max(site.brokenSince(end!.id), holders.since(row.id));
    found.push({ check, level: checks[check].level, url: row.url, time, status: end!.status ?? 0, detail, related });
  }
  return found;
}

export function redirects(site: ReportedSite, holders: Holders): Finding[] {
  const found: Finding[] = [];
  const inner = new Set<number>();
  for (const row of site) for (const each of site.end(row).way.slice(1)) inner.add(each.id);
  for (const row of site) {
    const { row: end, way, loop } = site.end(row);
    const isLoop = loop && (row.outcome === 'moved' || row.reason === 'redirect-loop');
    if (!isLoop && (way.length < 2 || inner.has(row.id))) continue;
    const check = isLoop ? 'redirect-loop' : 'redirect-chain';
    const steps: Related[] = way.slice(1).map(({ url }) => ({ url, anchor: '' }));
    const detail = isLoop ? 'endless' : `${way.length} redirects to ${end?.url ?? 'nowhere'}`;
    const related = isLoop ? holders.of(row.id) : steps;
    found.push({
      ...{ check, level: checks[check].level, url: row.url, time: row.firstTime ?? row.found },
      ...{ status: row.status ?? 0, detail, related },
    });
  }
  return found;
}
