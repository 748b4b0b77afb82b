/**
 * The first paper's experiment: a first crawl with home's link at 10 Mbit/s, of servers that send pages uncompressed as
 * those of the paper did. Traditional: home fetches all by itself. Mobile: two outposts, then one more below for each
 * level. Everything shares the cores of one machine here, so that more machines cannot show more speed than the link
 * costs. Repeated URLs are counted in the log of the servers. The paper: 50 % less time, 80 % fewer repeats, 83 % fewer
 * bytes.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onStage, type Stage, type Trip } from './stage.ts';

const SETS = 5;
const LEVELS = 3;

export async function first(): Promise<string[]> {
  const sums = { direct: 0, far: 0, directTime: 0, farTime: 0, repeats: 0 };
  await onStage({ rate: '10mbit', gzip: false }, async stage => {
    await stage.day(0);
    console.log('servers   traditional: s, MB, repeats   two outposts: s, MB, repeats');
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
    for (let levels = 1; levels <= LEVELS; levels++) {
      const trip = await measured(stage, `levels-${levels}`, { set: -1, levels });
      console.log(`${levels} levels (${trip.fetched} pages)  ${row(trip)}`);
    }
  });
  const time = 100 * (1 - sums.farTime / sums.directTime);
  const bytes = 100 * (1 - sums.far / sums.direct);
  return [
    `first: ${time.toFixed(0)} % less time with two outposts, at least 50 wanted (${time >= 50 ? 'met' : 'missed'})`,
    `first: ${bytes.toFixed(1)} % fewer bytes on home's link, at least 90 wanted (${bytes >= 90 ? 'met' : 'missed'})`,
    `first: ${sums.repeats} repeated URLs, 0 wanted (${sums.repeats === 0 ? 'met' : 'missed'})`,
  ];
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
  return `${(ms / 1000).toFixed(1).padStart(7)} ${((up + down) / 1e6).toFixed(2).padStart(8)} ${String(repeats).padStart(5)}`;
}
