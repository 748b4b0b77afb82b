/**
 * The shape of the collection: how pages are spread over depths, types and sizes, and how they are linked. Degrees follow
 * a power law on most of the web, and pages fall into a core that can reach itself (the largest strongly connected
 * component), what leads into it, what it leads to, and the rest.
 */
import { topLevelDomain } from '../base/domain.ts';
import { hostOf } from '../base/url.ts';
import { type Components, strongComponents } from './components.ts';
import { isPage, type ReportedSite } from './site.ts';

export interface Bar {
  readonly name: string;
  readonly count: number;
}

interface Degrees {
  readonly mean: number;
  readonly most: number;
  /** Exponent of the best-fitting power law, for pages with 2 links or more; 0 = too few pages. */
  readonly exponent: number;
  /** Pages by number of links, in steps that double. */
  readonly bars: readonly Bar[];
}

export interface Structure {
  readonly pages: number;
  readonly links: number;
  readonly in: Degrees;
  readonly out: Degrees;
  readonly depths: readonly Bar[];
  readonly types: readonly Bar[];
  readonly languages: readonly Bar[];
  readonly domains: readonly Bar[];
  readonly statuses: readonly Bar[];
  readonly sizes: readonly Bar[];
  readonly meanBytes: number;
  /** URLs with a query. */
  readonly dynamic: number;
  readonly components: Components;
}

/** Links between pages of the collection, side by side: source, target. */
export class Edges {
  #pairs = new Uint32Array(4096);
  #size = 0;

  add(source: number, target: number): void {
    if (this.#size + 2 > this.#pairs.length) {
      const longer = new Uint32Array(this.#pairs.length * 2);
      longer.set(this.#pairs);
      this.#pairs = longer;
    }
    this.#pairs[this.#size++] = source;
    this.#pairs[this.#size++] = target;
  }

  get pairs(): Uint32Array {
    return this.#pairs.subarray(0, this.#size);
  }
}

const MOST_BARS = 20;

export function structureOf(site: ReportedSite, edges: Edges): Structure {
  const ids: number[] = [];
  const count = { depths: new Map(), types: new Map(), languages: new Map(), domains: new Map(), sizes: new Map() };
  const statuses = new Map<string, number>();
  let bytes = 0;
  let dynamic = 0;
  for (const row of site) {
    if (row.status !== null && row.role === 0) add(statuses, row.status === 0 ? 'none' : String(row.status));
    if (!isPage(row)) continue;
    ids.push(row.id);
    add(count.depths, String(row.depth));
    add(count.types, row.type ?? 'unknown');
    add(count.languages, row.language || 'unknown');
    add(count.domains, topLevelDomain(hostOf(row.url)) || 'address');
    add(count.sizes, sizeClass(row.bytes ?? 0));
    bytes += row.bytes ?? 0;
    if (row.url.includes('?')) dynamic++;
  }
  const last = site.last;
  const { incoming, outgoing } = degreesOf(edges.pairs, last);
  return {
    pages: ids.length,
    links: edges.pairs.length / 2,
    in: degrees(ids.map(id => incoming[id]!)),
    out: degrees(ids.map(id => outgoing[id]!)),
    depths: bars(count.depths, (a, b) => Number(a.name) - Number(b.name)),
    types: bars(count.types),
    languages: bars(count.languages),
    domains: bars(count.domains),
    statuses: bars(statuses),
    sizes: bars(count.sizes, (a, b) => order.indexOf(a.name) - order.indexOf(b.name)),
    meanBytes: ids.length === 0 ? 0 : Math.round(bytes / ids.length),
    dynamic,
    components: strongComponents(ids, edges.pairs, last),
  };
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function bars(counts: ReadonlyMap<string, number>, by = (a: Bar, b: Bar) => b.count - a.count): Bar[] {
  return [...counts]
    .map(([name, count]) => ({ name, count }))
    .sort(by)
    .slice(0, MOST_BARS);
}

const order = ['up to 1 kB', 'up to 10 kB', 'up to 100 kB', 'up to 1 MB', 'over 1 MB'];

function sizeClass(bytes: number): string {
  const step = [1e3, 1e4, 1e5, 1e6].findIndex(most => bytes <= most);
  return order[step < 0 ? 4 : step]!;
}

function degreesOf(pairs: Uint32Array, last: number): { incoming: Uint32Array; outgoing: Uint32Array } {
  const incoming = new Uint32Array(last + 1);
  const outgoing = new Uint32Array(last + 1);
  for (let i = 0; i < pairs.length; i += 2) {
    outgoing[pairs[i]!]!++;
    incoming[pairs[i + 1]!]!++;
  }
  return { incoming, outgoing };
}

/** Fewer pages do not suffice for a fit. */
const LEAST_FOR_LAW = 50;

function degrees(counts: readonly number[]): Degrees {
  const steps = new Map<number, number>();
  let sum = 0;
  let most = 0;
  let logs = 0;
  let linked = 0;
  for (const count of counts) {
    sum += count;
    most = Math.max(most, count);
    const step = count === 0 ? 0 : 2 ** Math.floor(Math.log2(count));
    steps.set(step, (steps.get(step) ?? 0) + 1);
    if (count < 2) continue;
    linked++;
    logs += Math.log(count / 1.5); // the usual estimate for whole numbers from 2 on
  }
  const list = [...steps].sort(([a], [b]) => a - b);
  return {
    mean: counts.length === 0 ? 0 : round(sum / counts.length),
    most,
    exponent: linked < LEAST_FOR_LAW || logs === 0 ? 0 : round(1 + linked / logs),
    bars: list.map(([from, count]) => ({ name: from < 2 ? String(from) : `${from}–${from * 2 - 1}`, count })),
  };
}

const round = (value: number) => Math.round(value * 100) / 100;
