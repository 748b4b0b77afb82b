/** The recorded sites as a schedule meets them: which pages there are each day, what they weigh, how they change. */
import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { entriesOf, histories, recordedDays, startsOf, type Truth, truthOf } from '../histories.ts';

/** What gzip leaves of a page. */
const GZIP = 0.25;

export interface Body {
  /** On the wire. */
  readonly bytes: number;
  readonly blob: string;
  /** The date of last change that its server tells, in seconds. */
  readonly modified: number;
  /** The last day on which anything of the site was another. */
  readonly deployed: number;
}

export interface Page {
  readonly site: string;
  /** Of every other site. */
  readonly odd: boolean;
  readonly path: string;
  readonly born: number;
  /** Changes a day, over the whole recording. */
  readonly rate: number;
  /** First day on which it is gone. */
  died: number;
  /** By day from `born` on. */
  readonly days: Body[];
  /** Days on which a reader could see a change, ascending, and whether many pages of the site share it. */
  readonly changes: { readonly day: number; readonly shared: boolean }[];
}

/** `from`: the recorded day that counts as day 0. */
export function readSites(days: number, chosen: (site: string) => boolean, from = 0): Page[] {
  const sizes = bodySizes();
  const rates = changeRates();
  const pages = new Map<string, Page>();
  const deployments = new Map<string, number>();
  const hosts = [...startsOf().keys()].sort();
  let before = new Set<string>();
  for (let day = 0; day <= days; day++) {
    const entries = entriesOf(from + day);
    for (const { s, u, b } of entries) if (!before.has(s + u + b)) deployments.set(s, day);
    before = new Set(entries.map(({ s, u, b }) => s + u + b));
    for (const { s, u, b, t, ct } of entries) {
      if (!ct.startsWith('text/html') || !chosen(s)) continue;
      let page = pages.get(s + u);
      if (!page || page.died < day) {
        page = {
          site: s,
          odd: hosts.indexOf(s) % 2 === 1,
          path: u,
          born: day,
          died: day,
          rate: rates.get(s + u) ?? 0,
          days: [],
          changes: page?.changes ?? [],
        };
        pages.set(s + u, page);
      }
      const bytes = Math.round((sizes.get(b) ?? 0) * GZIP);
      page.days.push({ bytes, blob: b, modified: t, deployed: deployments.get(s)! });
      page.died = day + 1;
    }
    for (const truth of day === 0 ? [] : truthOf(from + day)) {
      if (isChange(truth)) pages.get(truth.s + truth.u)?.changes.push({ day, shared: truth.shared ?? false });
    }
  }
  return [...pages.values()];
}

/** A reader could see it. */
function isChange({ c, sub }: Truth): boolean {
  return c === 'text' || (c === 'structure' && !sub?.includes('markup'));
}

function changeRates(): Map<string, number> {
  const rates = new Map<string, number>();
  const days = recordedDays();
  for (let day = 1; day <= days; day++) {
    for (const { s, u } of truthOf(day).filter(isChange)) rates.set(s + u, (rates.get(s + u) ?? 0) + 1 / days);
  }
  return rates;
}

function bodySizes(): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const name of readdirSync(new URL('packs/', histories)).filter(file => file.endsWith('.idx.json.gz'))) {
    const groups = JSON.parse(gunzipSync(readFileSync(new URL(`packs/${name}`, histories))).toString());
    for (const group of groups as { b: [string, number][] }[]) for (const [id, bytes] of group.b) sizes.set(id, bytes);
  }
  return sizes;
}
