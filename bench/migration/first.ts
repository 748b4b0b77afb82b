/**
 * The first paper's experiment: a first crawl with home's link at 10 Mbit/s, of servers that send pages uncompressed as
 * those of the paper did. Traditional: home fetches all by itself. Mobile: two outposts, then one more below for each
 * level. Repeated URLs are counted in the log of the servers. The paper: 50 % less time, 80 % fewer repeats, 83 % fewer
 * bytes.
 *
 * Beside the time stands what the link alone would need for the bytes. Traditional crawls are as slow as the link; with
 * outposts the link is idle most of the time, and what is left is the work of all machines, which share the cores of this
 * one: more machines cannot show more speed here than the link costs. Sets of two servers last a few seconds, of which
 * starting takes one or two; all ten servers are the fairer figure.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onStage, type Stage, type Trip } from './stage.ts';

const SETS = 5;
const LEVELS = 3;
/** Bytes a second that home's link carries. */
const LINK = 10e6 / 8;

export async function first(): Promise<string[]> {
  const whole: Trip[] = [];
  const sums = { direct: 0, far: 0, directTime: 0, farTime: 0, repeats: 0 };
  await onStage({ rate: '10mbit', gzip: false }, async stage => {
    await stage.day(0);
    console.log('                          traditional: s (link), MB, repeats   two outposts: s (link), MB, repeats');
    for (let set = 0; set < SETS; set++) {
      const direct = await measured(stage, `direct-${set}`, { set, levels: 0 });
      const near = await measured(stage, `far-${set}`, { set, levels: 1 });
      sums.direct += direct.up + direct.down;
      sums.far += near.up + near.down;
      sums.directTime += direct.ms;
      sums.farTime += near.ms;
      sums.repeats += near.repeats;
      console.log(`set ${set + 1} (${direct.fetched}/${near.fetched} pages)  ${row(direct)}   ${row(near)}`);
    }
    console.log('all ten servers');
    for (let levels = 0; levels <= LEVELS; levels++) {
      const trip = await measured(stage, `levels-${levels}`, { set: -1, levels });
      whole.push(trip);
      console.log(`${levels === 0 ? 'traditional' : `${levels} levels`} (${trip.fetched} pages)  ${row(trip)}`);
    }
  });
  const [alone, near] = whole as [Trip, Trip];
  const bytes = less(sums.direct, sums.far);
  const met = (good: boolean) => (good ? 'met' : 'missed');
  return [
    `first: ${less(alone.ms, near.ms).toFixed(0)} % less time with two outposts for all servers (the paper: 50), ` +
      `at least 50 wanted (${met(less(alone.ms, near.ms) >= 50)}); ${less(sums.directTime, sums.farTime).toFixed(0)} % for sets of two`,
    `first: seconds with 1 to ${LEVELS} levels: ${whole
      .slice(1)
      .map(({ ms }) => (ms / 1000).toFixed(1))
      .join(', ')}, falling wanted ` + `(${met(whole.every(({ ms }, i) => i === 0 || ms < whole[i - 1]!.ms))})`,
    `first: ${bytes.toFixed(1)} % fewer bytes on home's link (the paper: 83), at least 90 wanted (${met(bytes >= 90)})`,
    `first: ${sums.repeats} repeated URLs (the paper: 80 % fewer), 0 wanted (${met(sums.repeats === 0)})`,
  ];
}

function less(before: number, after: number): number {
  return 100 * (1 - after / before);
}

interface Case {
  /** Two of the ten servers; -1 = all. */
  readonly set: number;
  /** 0 = home fetches itself. */
  readonly levels: number;
}

async function measured(stage: Stage, name: string, { set, levels }: Case): Promise<Trip & { repeats: number }> {
  const through = levels > 0;
  const outposts = through
    ? [
        await stage.outpost(name, { name: 'one', children: levels - 1 }),
        await stage.outpost(name, { name: 'two', children: levels - 1 }),
      ]
    : [];
  const seeds = join(stage.directory, `seeds-${name}`);
  const all = readFileSync(await stage.seeds(0, through), 'utf8')
    .trim()
    .split('\n');
  const chosen = all.filter(url => set < 0 || Math.floor((Number(new URL(url).port) % 10) / 2) === set);
  writeFileSync(seeds, chosen.join('\n'));
  const before = stage.asked().length;
  const trip = await stage.home(name, { day: 0, seeds, options: { depth: 0, levels, connections: 8 } }, through);
  const asked = stage
    .asked()
    .slice(before)
    .filter(url => !url.endsWith('/robots.txt'));
  for (const outpost of outposts) await outpost.end();
  return { ...trip, repeats: asked.length - new Set(asked).size };
}

function row({ ms, up, down, repeats }: Trip & { repeats: number }): string {
  const link = (up + down) / LINK;
  return `${(ms / 1000).toFixed(1).padStart(7)} ${`(${link.toFixed(1)})`.padStart(7)} ${((up + down) / 1e6).toFixed(2).padStart(8)} ${String(repeats).padStart(5)}`;
}
