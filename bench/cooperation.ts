/**
 * What it is worth when a site tells of its changes: bytes a day and freshness with each face alone and all together,
 * beside a conditional GET of every page, and with a site that lies in half of its notices. On the recorded histories of
 * real sites; bytes are counted at the sockets of the sites' servers, freshness by the labels of the histories.
 *
 *   node bench/cooperation.ts [--days 5] [--sites 2|hexo.io,…] [--freshness 0.98] [--ways cursor,notices] [--data DIRECTORY]
 *
 * Ways: plain (Skein without notices), pmcs (the same by the policy of the paper), conditional (a GET of every page with its validators), cursor (the site's own face),
 * notices (ResourceSync), feed, all, lying (as many false notices as true ones), forgetful (half of the changes untold).
 * own (its cursor), resourcesync, atom, websub and indexnow are the real `skein site` with that way of telling alone; the last two
 * push to the door of a watch. With a + pages come as differences (RFC 9842), sent by the front of `skein site`. `--sites 0 --days
 * 28`: everything.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { HOUR } from '../src/base/clock.ts';
import { normalise } from '../src/base/url.ts';
import { keepFresh } from '../src/cli/commands/refresh.ts';
import { openHome } from '../src/cli/options/engine-options.ts';
import { defaults } from '../src/cli/options/options.ts';
import { openLedger } from '../src/engine/open-ledger.ts';
import { crawlSupply } from '../src/home/supply.ts';
import { dayOf, Freshness, pagesOf, startReplay, timeOf } from './bytes/replay.ts';
import { type FaceName, type Front, openFront } from './cooperation/front.ts';
import { openRelay } from './cooperation/relay.ts';
import { openSiteFront, type SiteFace } from './cooperation/site-front.ts';
import { noTraffic, type Traffic, type TrafficPart, trafficParts } from './cooperation/traffic.ts';
import { entriesOf, historiesAvailable, useHistories } from './histories.ts';

const { values: given } = parseArgs({
  options: {
    data: { type: 'string' },
    days: { type: 'string', default: '5' },
    sites: { type: 'string', default: '2' },
    freshness: { type: 'string', default: '0.98' },
    port: { type: 'string', default: '27400' },
    ways: { type: 'string', default: 'conditional,plain,cursor,notices,feed,all,lying' },
  },
});
useHistories(given.data);
if (!historiesAvailable) {
  console.log('The recorded histories are not beside the project: nothing to measure.');
  process.exit(0);
}
const days = Number(given.days);
interface Way {
  readonly faces: FaceName[];
  /** Told by the real `skein site` in this way alone. */
  readonly site?: SiteFace;
  /** Other options of the refresh. */
  readonly more?: Record<string, unknown>;
  readonly dictionaries?: boolean;
  readonly lies?: number;
  readonly untold?: number;
}
const ways: Record<string, Way> = {
  conditional: { faces: [] },
  plain: { faces: [] },
  pmcs: { faces: [], more: { policy: 'pmcs' } },
  cursor: { faces: ['cursor'] },
  notices: { faces: ['resourcesync'] },
  feed: { faces: ['feed'] },
  'notices+': { faces: ['resourcesync'], dictionaries: true },
  'feed+': { faces: ['feed'], dictionaries: true },
  all: { faces: ['cursor', 'resourcesync', 'feed'] },
  lying: { faces: ['resourcesync'], lies: 1 },
  'lying+': { faces: ['resourcesync'], dictionaries: true, lies: 1 },
  forgetful: { faces: ['resourcesync'], untold: 2 },
  own: { faces: [], site: 'own' },
  resourcesync: { faces: [], site: 'resourcesync' },
  'resourcesync+': { faces: [], site: 'resourcesync', dictionaries: true },
  atom: { faces: [], site: 'feed' },
  'atom+': { faces: [], site: 'feed', dictionaries: true },
  websub: { faces: [], site: 'websub' },
  'websub+': { faces: [], site: 'websub', dictionaries: true },
  indexnow: { faces: [], site: 'indexnow' },
  'indexnow+': { faces: [], site: 'indexnow', dictionaries: true },
};

const doorPort = Number(given.port) - 1;
const relay = await openRelay(doorPort);
const replay = await startReplay(Number(given.port), { sites: chosenSites(given.sites), sitemap: false });
const truth = new Freshness(days);
const clockShift = new SharedArrayBuffer(8);
const setClock = (day: number) => {
  new Float64Array(clockShift)[0] = timeOf(day) + HOUR - Date.now();
};
const chosen = (data: string, more: Record<string, unknown> = {}) =>
  ({
    ...{ ...defaults(), data, pace: 0, connections: 4, threads: 1, allowPrivate: true, secondLook: 0, images: 'off' },
    ...more,
  }) as unknown as Parameters<typeof keepFresh>[1];

/** What one site's pages took over the days, what every change of theirs would have as a patch and whole, and the share that was fresh each day. */
interface SiteLine {
  bytes: number;
  patches: number;
  wholes: number;
  readonly fresh: number[];
}

/** So many, or which by name. */
function chosenSites(written: string): number | readonly string[] {
  return /^\d+$/.test(written) ? Number(written) : written.split(',');
}

interface Line {
  readonly bytes: number[];
  readonly fresh: number[];
  readonly sites: ReadonlyMap<string, SiteLine>;
  requests: number;
  /** Bytes of the day's changes as patches, and of the pages whole, summed over the days. */
  patches: number;
  wholes: number;
  readonly parts: Traffic['parts'];
}

/** Fronts for every site, at the given day. */
async function openFronts({ faces, site, dictionaries, lies, untold }: Way): Promise<Map<string, Front>> {
  const fronts = new Map<string, Front>();
  const hosts = new Set(pagesOf(0).map(({ s }) => s));
  // By the same clock as home's, and before it looks.
  const now = () => Date.now() + new Float64Array(clockShift)[0]! - 2 * HOUR;
  for (const host of hosts) {
    const behind = replay.origins.get(host)!;
    const more = dictionaries === undefined ? {} : { dictionaries };
    if (site) {
      fronts.set(host, await openSiteFront(behind, { face: site, door: relay.address, now, ...more }));
      continue;
    }
    fronts.set(
      host,
      await openFront(behind, {
        faces: new Set(faces),
        ...more,
        ...(lies && { lies }),
        ...(untold && { untold }),
      }),
    );
  }
  return fronts;
}

async function turn(fronts: Map<string, Front>, day: number): Promise<void> {
  await replay.setDay(day);
  setClock(day);
  const entries = entriesOf(day);
  for (const [host, front] of fronts) {
    const pages = entries.filter(({ s, ct }) => s === host && !/^(?:image|font|video|audio)/.test(ct));
    const pathOf = (u: string) => normalise(front.origin + u)!.slice(front.origin.length);
    await front.turn(
      pages.map(({ u, b }) => ({ path: pathOf(u), blob: b })),
      timeOf(day) - HOUR,
    );
  }
}

async function measure(name: string): Promise<Line> {
  const way = ways[name]!;
  const fronts = await openFronts(way);
  await turn(fronts, 0);
  const directory = mkdtempSync(join(tmpdir(), 'skein-cooperation-'));
  const urlsOf = (day: number) => pagesOf(day).map(({ s, u }) => normalise(fronts.get(s)!.origin + u)!);
  const home = await openHome(chosen(directory), urlsOf(0), { clockShift });
  await home.run(crawlSupply(home, 0));
  await home.close();
  // Faces are found, and the manifest compared, once: that is no cost of a day.
  await look(name, directory, fronts, { freshness: 0.01 });
  for (const front of fronts.values()) front.traffic();
  relay.traffic();
  const sites = new Map(
    [...fronts.keys()].map(host => [host, { bytes: 0, patches: 0, wholes: 0, fresh: [] } as SiteLine]),
  );
  const line: Line = { bytes: [], fresh: [], sites, requests: 0, patches: 0, wholes: 0, parts: noTraffic().parts };
  for (let day = 1; day <= days; day++) {
    await turn(fronts, day);
    const aim = name === 'conditional' ? { budget: '100%' } : { freshness: Number(given.freshness) };
    await look(name, directory, fronts, aim);
    const bytes = count(line, fronts);
    line.bytes.push(bytes);
    line.fresh.push(freshOf(directory, urlsOf(day), { day, sites }));
    console.error(
      `${name} day ${day}: ${Math.round(bytes / 1000)} kB, ${(line.fresh.at(-1)! * 100).toFixed(1)}% fresh; so far ${(mean(line.bytes) / 1000).toFixed(1)} kB a day, ${partsOf(line, day)}`,
    );
  }
  for (const front of fronts.values()) await front.close();
  rmSync(directory, { recursive: true });
  return line;
}

/** The day's bytes, of all sites and of each. */
function count(line: Line, fronts: ReadonlyMap<string, Front>): number {
  let bytes = 0;
  const add = (traffic: Traffic) => {
    bytes += traffic.bytes;
    line.requests += traffic.requests;
    for (const part of trafficParts) {
      line.parts[part].bytes += traffic.parts[part].bytes;
      line.parts[part].requests += traffic.parts[part].requests;
    }
    return traffic;
  };
  const pushed = add(relay.traffic()).from;
  for (const [host, front] of fronts) {
    const site = line.sites.get(host)!;
    site.bytes += add(front.traffic()).bytes + (pushed.get(front.origin) ?? 0);
    site.patches += front.patches;
    line.patches += front.patches;
    site.wholes += front.wholes;
    line.wholes += front.wholes;
  }
  return bytes;
}

function noticesFor(name: string): Record<string, unknown> {
  const { faces, site } = ways[name]!;
  return { notices: faces.length > 0 || site ? 'on' : 'off', audit: 0.02 };
}

/** Milliseconds without a byte after which a watch has looked at what it was told of: longer than a site waits to tell. */
const QUIET = 4000;
const LONGEST = 180_000;

/** One day's looks. Where sites push, a watch behind a door hears them first. */
async function look(name: string, directory: string, fronts: Map<string, Front>, aim: object): Promise<void> {
  const { site, more } = ways[name]!;
  const pushed = site === 'websub' || site === 'indexnow';
  const door = pushed ? { listen: `127.0.0.1:${doorPort}`, public: relay.address } : {};
  const options = { ...aim, ...noticesFor(name), ...more, ...door };
  if (pushed) await hear(name, fronts, signal => chosen(directory, { ...options, signal }));
  // A watch of seconds has seconds of a day's budget: the round spends the rest.
  await keepFresh('refresh', chosen(directory, options), { clockShift });
}

async function hear(
  name: string,
  fronts: Map<string, Front>,
  options: (signal: AbortSignal) => ReturnType<typeof chosen>,
): Promise<void> {
  const stop = new AbortController();
  const watching = keepFresh('watch', options(stop.signal), { clockShift });
  const servers = [...fronts.values(), relay];
  const began = performance.now();
  const isTold = () => [...fronts.values()].every(front => !front.problem || front.problem() === '');
  const isQuiet = (since: number) => performance.now() - since >= QUIET && isTold();
  for (let [before, since] = [-1, began]; !isQuiet(since) && performance.now() - began < LONGEST; ) {
    await new Promise(resolve => setTimeout(resolve, 200));
    const passed = servers.reduce((sum, server) => sum + server.passed(), 0);
    if (passed !== before) since = performance.now();
    before = passed;
  }
  stop.abort();
  await watching;
  for (const [host, front] of fronts) {
    const problem = front.problem?.() ?? '';
    if (problem !== '') console.error(`${name}: ${host}: ${problem}`);
  }
}

/** Share of the day's pages whose copy is that of the day, by the labels; noted for each site. */
function freshOf(
  directory: string,
  urls: readonly string[],
  { day, sites }: { readonly day: number; readonly sites: Line['sites'] },
): number {
  const ledger = openLedger(directory);
  const copies = new Map<string, number>();
  const rows = ledger['database'].prepare(
    `SELECT p.url, max(coalesce((SELECT v.time FROM visits v WHERE v.page = k.page AND v.segment = k.segment
         AND v.place = k.place), k.changed_time),
       coalesce((SELECT f.time FROM followed f WHERE f.page = k.page), 0)) AS time
     FROM known k JOIN pages p ON p.id = k.page WHERE k.segment IS NOT NULL`,
  );
  for (const row of rows.iterate()) copies.set(row['url'] as string, dayOf(row['time'] as number));
  ledger.close();
  let [pages, fresh] = [0, 0];
  for (const [host, each] of truth.on(day, index => copies.get(urls[index]!))) {
    sites.get(host)?.fresh.push(each.all / each.pages);
    pages += each.pages;
    fresh += each.all;
  }
  return fresh / pages;
}

function mean(list: readonly number[]): number {
  return list.reduce((sum, each) => sum + each, 0) / list.length;
}

/** kB a day and requests a day of each part. */
function partsOf({ parts }: Pick<Line, 'parts'>, days: number): string {
  const of = (part: TrafficPart) =>
    `${(parts[part].bytes / 1000 / days).toFixed(1)} (${Math.round(parts[part].requests / days)})`;
  return trafficParts.map(of).join(', ');
}

/** Beside a conditional GET of every page, if that came before. */
function printSites(name: string): void {
  const whole = lines.get('conditional');
  console.log(
    `${name}, site by site: kB a day, of conditional, fresh, fresh at worst, kB a day of every change as a patch, and whole`,
  );
  for (const [host, { bytes, patches, wholes, fresh }] of lines.get(name)!.sites) {
    const share = whole ? `1/${(whole.sites.get(host)!.bytes / bytes).toFixed(1)}` : '';
    console.log(
      `  ${host.padEnd(26)} ${(bytes / 1000 / days).toFixed(1).padStart(8)} ${share.padStart(8)}   ${(mean(fresh) * 100).toFixed(2)}%   ${(Math.min(...fresh) * 100).toFixed(2)}%   ${patches === 0 ? '' : `${(patches / 1000 / days).toFixed(1)} ${(wholes / 1000 / days).toFixed(1)}`}`,
    );
  }
}

const lines = new Map<string, Line>();
for (const name of given.ways.split(',')) {
  lines.set(name, await measure(name));
  printSites(name);
}
await replay.stop();
await relay.close();
const whole = lines.get('conditional');
console.log(`\n${days} days of ${new Set(pagesOf(0).map(({ s }) => s)).size} sites, ${pagesOf(0).length} pages\n`);
console.log(
  `way             kB a day   of conditional   requests a day   fresh   fresh at worst   kB (requests) of ${trafficParts.join(', ')}`,
);
for (const [name, { bytes, fresh, requests, parts }] of lines) {
  const share = whole ? `1/${(mean(whole.bytes) / mean(bytes)).toFixed(1)}` : '';
  console.log(
    `${name.padEnd(14)} ${(mean(bytes) / 1000).toFixed(1).padStart(9)}   ${share.padStart(14)}   ${(requests / days).toFixed(0).padStart(14)}   ${(mean(fresh) * 100).toFixed(2)}%   ${(Math.min(...fresh) * 100).toFixed(2)}%   ${partsOf({ parts }, days)}`,
  );
}
function printLimit(name: string, sum: 'patches' | 'wholes', meaning: string): void {
  const least = Math.max(...[...lines.values()].map(line => line[sum])) / days;
  const part = whole ? `1/${(mean(whole.bytes) / least).toFixed(1)}` : '';
  console.log(`${name.padEnd(14)} ${(least / 1000).toFixed(1).padStart(9)}   ${part.padStart(14)}   ${meaning}`);
}
printLimit('patch limit', 'patches', 'every change as a patch, and nothing else');
printLimit('whole pages', 'wholes', 'every page that changed, whole, and nothing else');
