/** The recorded sites as a schedule meets them: which pages there are each day, what they weigh, how they change. */
import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { entriesOf, histories, truthOf } from '../histories.ts';

/** What gzip leaves of a page. */
const GZIP = 0.25;

export interface Page {
  readonly site: string;
  readonly path: string;
  readonly born: number;
  /** First day on which it is gone. */
  died: number;
  /** By day from `born` on: bytes of the body on the wire, its blob, and the date of last change that its server tells, in seconds. */
  readonly days: { readonly bytes: number; readonly blob: string; readonly modified: number }[];
  /** Days on which a reader could see a change, ascending, and whether many pages of the site share it. */
  readonly changes: { readonly day: number; readonly shared: boolean }[];
}

export function readSites(days: number, chosen: (site: string) => boolean): Page[] {
  const sizes = bodySizes();
  const pages = new Map<string, Page>();
  for (let day = 0; day <= days; day++) {
    for (const { s, u, b, t, ct } of entriesOf(day)) {
      if (!ct.startsWith('text/html') || !chosen(s)) continue;
      let page = pages.get(s + u);
      if (!page || page.died < day) {
        page = { site: s, path: u, born: day, died: day, days: [], changes: page?.changes ?? [] };
        pages.set(s + u, page);
      }
      page.days.push({ bytes: Math.round((sizes.get(b) ?? 0) * GZIP), blob: b, modified: t });
      page.died = day + 1;
    }
    for (const { s, u, c, sub, shared = false } of day === 0 ? [] : truthOf(day)) {
      if (c === 'text' || (c === 'structure' && !sub?.includes('markup')))
        pages.get(s + u)?.changes.push({ day, shared });
    }
  }
  return [...pages.values()];
}

function bodySizes(): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const name of readdirSync(new URL('packs/', histories)).filter(file => file.endsWith('.idx.json.gz'))) {
    const groups = JSON.parse(gunzipSync(readFileSync(new URL(`packs/${name}`, histories))).toString());
    for (const group of groups as { b: [string, number][] }[]) for (const [id, bytes] of group.b) sizes.set(id, bytes);
  }
  return sizes;
}
