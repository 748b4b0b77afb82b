/**
 * The first paper's experiment: a first crawl with home's link at 10 Mbit/s, of servers that send pages uncompressed as
 * those of the paper did. Repeated URLs are counted in the log of the servers. The paper: 50% less time, 80% fewer
 * repeats, 83% fewer bytes.
 *
 * Traditional: home fetches all by itself. Then two outposts beside the servers, where crawlers are best sent. Then
 * levels: outposts that stand elsewhere and reach the servers through links of their own, as slow as home's; two of them,
 * and one more below each for each further level. They have met before the crawl that is measured, as standing
 * outposts have. Home checks nothing (`--set audit=0`): that would ask for 2% of the pages a second time, on purpose.
 *
 * Beside the time stands what home's link alone would need for the bytes. All machines share the cores of this one: what
 * is left when no link is the limit is their work. Sets of two servers last a few seconds, of which starting takes one
 * or two; all ten servers are the fairer figure, and the median of several runs counts.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onStage, type Stage, type Trip } from './stage.ts';

const SETS = 5;
const LEVELS = 3;
const RATE = '10mbit';
/** Bytes a second that home's link carries. */
const LINK = 10e6 / 8;

interface Case {
  /** Two of the ten servers; -1 = all. */
  readonly set: number;
  /** 0 = home fetches itself. */
  readonly levels: number;
  /** Outposts stand beside the servers; else each has a link of its own. */
  readonly beside: boolean;
}

type Measured = Trip & { readonly repeats: number };

export async function first(runs: number): Promise<string[]> {
  const verdicts: string[] = [];
  await onStage({ rate: RATE, gzip: false }, async stage => {
    await stage.day(0);
    verdicts.push(...(await inSets(stage)), ...(await inLevels(stage, runs)));
  });
  return verdicts;
}

async function inSets(stage: Stage): Promise<string[]> {
  const sums = { direct: 0, far: 0, directTime: 0, farTime: 0, repeats: 0 };
  console.log('                          traditional: s (link), MB, repeats   two outposts: s (link), MB, repeats');
  for (let set = 0; set < SETS; set++) {
    const direct = await measured(stage, `direct-${set}`, { set, levels: 0, beside: true });
    const near = await measured(stage, `far-${set}`, { set, levels: 1, beside: true });
    sums.direct += direct.up + direct.down;
    sums.far += near.up + near.down;
    sums.directTime += direct.ms;
    sums.farTime += near.ms;
    sums.repeats += near.repeats;
    console.log(`set ${set + 1} (${direct.fetched}/${near.fetched} pages)  ${row(direct)}   ${row(near)}`);
  }
  const bytes = less(sums.direct, sums.far);
  return [
    `first: ${bytes.toFixed(1)}% fewer bytes on home's link (the paper: 83), at least 90 wanted (${met(bytes >= 90)})`,
    `first: ${sums.repeats} repeated URLs (the paper: 80% fewer), 0 wanted (${met(sums.repeats === 0)}); ` +
      `${less(sums.directTime, sums.farTime).toFixed(0)}% less time for sets of two`,
  ];
}

async function inLevels(stage: Stage, runs: number): Promise<string[]> {
  console.log(`all ten servers, medians of ${runs}`);
  const alone = await median(stage, 'traditional', { set: -1, levels: 0, beside: true }, runs);
  const near = await median(stage, 'two beside the servers', { set: -1, levels: 1, beside: true }, runs);
  const deeper: Measured[] = [];
  for (let levels = 1; levels <= LEVELS; levels++) {
    const name = `${levels} levels, ${2 * levels} machines elsewhere`;
    deeper.push(await median(stage, name, { set: -1, levels, beside: false }, runs));
  }
  const times = [alone, ...deeper].map(({ ms }) => ms);
  const falling = times.every((ms, i) => i === 0 || ms < times[i - 1]!);
  const repeats = deeper.reduce((sum, trip) => sum + trip.repeats, near.repeats);
  return [
    `first: ${less(alone.ms, near.ms).toFixed(0)}% less time with two outposts for all servers (the paper: 50), ` +
      `at least 50 wanted (${met(less(alone.ms, near.ms) >= 50)})`,
    `first: seconds with 0 to ${LEVELS} levels, each machine with a link as slow as home's: ` +
      `${times.map(ms => (ms / 1000).toFixed(1)).join(', ')}, falling wanted (${met(falling)}); ${repeats} repeated URLs`,
  ];
}

async function median(stage: Stage, name: string, which: Case, runs: number): Promise<Measured> {
  const trips: Measured[] = [];
  for (let run = 0; run < runs; run++) {
    const place = `${which.levels}-${which.beside}-${run}`;
    trips.push(await measured(stage, place, which));
  }
  const middle = trips.toSorted((a, b) => a.ms - b.ms)[runs >> 1]!;
  const spread = trips.map(({ ms }) => (ms / 1000).toFixed(1)).join(' ');
  console.log(`${name.padEnd(30)} (${middle.fetched} pages)  ${row(middle)}   runs: ${spread}`);
  return { ...middle, repeats: trips.reduce((sum, trip) => sum + trip.repeats, 0) };
}

async function measured(stage: Stage, name: string, { set, levels, beside }: Case): Promise<Measured> {
  const through = levels > 0;
  const places = ['one', 'two'].map(each => ({ name: each, children: levels - 1, ...(!beside && { link: RATE }) }));
  const outposts = through ? await Promise.all(places.map(place => stage.outpost(name, place))) : [];
  const file = await stage.seeds(0, through && beside);
  const urls = readFileSync(file, 'utf8').trim().split('\n');
  const chosen = urls.filter(url => set < 0 || Math.floor((Number(new URL(url).port) % 10) / 2) === set);
  const seeds = join(stage.directory, `seeds-${name}`);
  const options = { depth: 0, levels, connections: 8, audit: 0 };
  let fetched = 0;
  if (through) {
    writeFileSync(seeds, chosen[0]!);
    ({ fetched } = await stage.home(name, { day: 0, seeds, options, meet: outposts.length }, true));
    await Promise.all(outposts.map(({ joined }) => joined));
  }
  writeFileSync(seeds, chosen.join('\n'));
  const before = stage.asked().length;
  const trip = await stage.home(name, { day: 0, seeds, options }, through);
  const asked = stage
    .asked()
    .slice(before)
    .filter(url => !url.endsWith('/robots.txt'));
  for (const outpost of outposts) await outpost.end();
  return { ...trip, fetched: fetched + trip.fetched, repeats: asked.length - new Set(asked).size };
}

function less(before: number, after: number): number {
  return 100 * (1 - after / before);
}

function met(good: boolean): string {
  return good ? 'met' : 'missed';
}

function row({ ms, up, down, repeats }: Measured): string {
  const link = (up + down) / LINK;
  return `${(ms / 1000).toFixed(1).padStart(7)} ${`(${link.toFixed(1)})`.padStart(7)} ${((up + down) / 1e6).toFixed(2).padStart(8)} ${String(repeats).padStart(5)}`;
}
