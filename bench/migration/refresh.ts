/** The recorded sites kept fresh day by day: through an outpost, by conditional GETs, and the least that is possible. */
import { makeDelta } from '../../src/archive/delta.ts';
import { entriesOf, openBlobs } from '../histories.ts';
import { onStage, type Stage, type Trip } from './stage.ts';

/** What a delta has before its zstd frame: not needed by whoever knows which page it is. */
const DELTA_HEAD = 13;

const NOT_RUN: Trip = { visits: 0, fetched: 0, same: 0, failed: 0, ms: 0, up: 0, down: 0 };

export async function refresh(days: number, directToo: boolean): Promise<string[]> {
  const sums = { outpost: 0, conditional: 0, limit: 0 };
  const verdicts: string[] = [];
  await onStage({}, async stage => {
    await prepare(stage, directToo);
    const blob = openBlobs();
    let before = pagesOf(0);
    console.log('day   changed  limit kB  outpost kB (up + down)  conditional GET kB');
    for (let day = 1; day <= days; day++) {
      await stage.day(day);
      const now = pagesOf(day);
      const changed = [...before].filter(([page, id]) => now.has(page) && now.get(page) !== id);
      const limit = changed.reduce(
        (sum, [page, id]) => sum + makeDelta(blob(id), blob(now.get(page)!)).length - DELTA_HEAD,
        0,
      );
      const near = await stage.home('far', { day, options: { depth: 0 } }, true);
      const direct = directToo ? await stage.home('direct', { day, options: { depth: 0 } }, false) : NOT_RUN;
      sums.limit += limit;
      sums.outpost += near.up + near.down;
      sums.conditional += direct.up + direct.down;
      const kilo = (bytes: number) => (bytes / 1000).toFixed(1).padStart(9);
      console.log(
        `${String(day).padStart(3)} ${String(changed.length).padStart(9)} ${kilo(limit)} ${kilo(near.up)} + ${kilo(near.down)}` +
          ` ${kilo(direct.up + direct.down)}   visits ${near.visits} / ${direct.visits}, brought home ${near.fetched} / ${direct.fetched}`,
      );
      before = new Map([...before.keys()].filter(page => now.has(page)).map(page => [page, now.get(page)!]));
    }
    const share = sums.conditional / sums.outpost;
    const over = sums.outpost / sums.limit;
    if (directToo)
      verdicts.push(
        `refresh: 1/${share.toFixed(1)} of conditional GET, at most 1/30 wanted (${share >= 30 ? 'met' : 'missed'})`,
      );
    verdicts.push(`refresh: ${over.toFixed(2)} × the limit, at most 1.5 wanted (${over <= 1.5 ? 'met' : 'missed'})`);
  });
  return verdicts;
}

/** Both collections hold day 0. */
async function prepare(stage: Stage, directToo: boolean): Promise<void> {
  await stage.day(0);
  const options = { depth: 0 };
  await stage.outpost('far');
  const first = await stage.home('far', { day: 0, seeds: await stage.seeds(0, true), options }, true);
  const seeds = directToo && (await stage.seeds(0, false));
  const direct = seeds ? await stage.home('direct', { day: 0, seeds, options }, false) : NOT_RUN;
  const mega = ({ up, down }: typeof first) => ((up + down) / 1e6).toFixed(2);
  console.log(`day 0: ${first.fetched} pages, ${mega(first)} MB through the outpost, ${mega(direct)} MB directly`);
}

/** Page → blob. */
function pagesOf(day: number): Map<string, string> {
  const pages = entriesOf(day).filter(({ ct }) => ct.startsWith('text/html'));
  return new Map(pages.map(({ s, u, b }) => [s + u, b]));
}
