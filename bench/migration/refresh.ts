/**
 * The recorded sites kept fresh day by day: through an outpost, by conditional GETs, and the least that is possible. Home
 * cannot reach the servers beside the outpost and therefore audits nothing, as with `--set audit=0`.
 */
import { constants, zstdCompressSync } from 'node:zlib';
import { entriesOf, openBlobs, truthOf } from '../histories.ts';
import { type Account, printAccount } from './account.ts';
import { KNOCK, onStage, type Stage, type Trip } from './stage.ts';

const NOT_RUN: Trip = {
  ...{ visits: 0, fetched: 0, same: 0, failed: 0, images: { count: 0, bytes: 0 } },
  ...{ ms: 0, cpu: 0, account: {}, up: 0, down: 0, knocks: 0 },
};
/** The best of these counts for each page; level 19 is not always the smallest. */
const LEVELS = [9, 12, 19];

export async function refresh(days: number, directToo: boolean): Promise<string[]> {
  const sums = { outpost: 0, conditional: 0, limit: 0, readers: 0, knocks: 0, images: 0, imageBytes: 0 };
  const accounts: Account[] = [];
  await onStage({}, async stage => {
    await prepare(stage, directToo);
    const limits = openLimits();
    console.log('day   changed  limit kB  of text  outpost kB (up + down)  conditional GET kB');
    for (let day = 1; day <= days; day++) {
      await stage.day(day);
      const { changed, limit, readers } = limits(day);
      const near = await stage.home('far', { day, options: { depth: 0 } }, true);
      const direct = directToo ? await stage.home('direct', { day, options: { depth: 0 } }, false) : NOT_RUN;
      sums.limit += limit;
      sums.readers += readers;
      sums.outpost += near.up + near.down;
      sums.conditional += direct.up + direct.down;
      sums.knocks += near.knocks;
      sums.images += near.images.count;
      sums.imageBytes += near.images.bytes;
      accounts.push(near.account);
      const kilo = (bytes: number) => (bytes / 1000).toFixed(1).padStart(9);
      console.log(
        `${String(day).padStart(3)} ${String(changed).padStart(9)} ${kilo(limit)}${kilo(readers)} ${kilo(near.up)} + ${kilo(near.down)}` +
          ` ${kilo(direct.up + direct.down)}   visits ${near.visits} / ${direct.visits}, brought home ${near.fetched} / ${direct.fetched}`,
      );
    }
  });
  printAccount(accounts, sums.outpost);
  const kilo = (bytes: number) => (bytes / 1000).toFixed(1);
  console.log(
    `parcels hold ${sums.images} changed images of ${kilo(sums.imageBytes)} kB, which the limit does not count\n` +
      `not counted: ${sums.knocks} knocks while home was starting, ${kilo(sums.knocks * (KNOCK.up + KNOCK.down))} kB`,
  );
  const share = sums.conditional / sums.outpost;
  const over = sums.outpost / sums.limit;
  return [
    ...(directToo
      ? [`refresh: 1/${share.toFixed(1)} of conditional GET, at most 1/30 wanted (${share >= 30 ? 'met' : 'missed'})`]
      : []),
    `refresh: ${over.toFixed(2)} × the limit, at most 1.5 wanted (${over <= 1.5 ? 'met' : 'missed'}); ` +
      `${(sums.outpost / sums.readers).toFixed(2)} × the limit of the pages that changed for a reader`,
  ];
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

interface Limit {
  readonly changed: number;
  /** Bytes: every page whose bytes changed, as a patch of its own version of the day before. */
  readonly limit: number;
  /** The same of those pages that changed for a reader. */
  readonly readers: number;
}

/** Days must be asked for in their order. */
function openLimits(): (day: number) => Limit {
  const blob = openBlobs();
  let before = pagesOf(0);
  return day => {
    const now = pagesOf(day);
    const noise = new Set(truthOf(day).flatMap(({ s, u, c }) => (c === 'noise' ? [s + u] : [])));
    const changed = [...before].filter(([page, id]) => now.has(page) && now.get(page) !== id);
    const sizes = changed.map(([page, id]) => ({ page, size: patch(blob(id), blob(now.get(page)!)) }));
    before = new Map([...before.keys()].filter(page => now.has(page)).map(page => [page, now.get(page)!]));
    const sum = (list: typeof sizes) => list.reduce((total, { size }) => total + size, 0);
    const readers = sum(sizes.filter(({ page }) => !noise.has(page)));
    return { changed: changed.length, limit: sum(sizes), readers };
  };
}

/** Bytes that zstd needs for a page where the other end holds its old version. */
function patch(before: Buffer, after: Buffer): number {
  const windowLog = Math.max(10, Math.ceil(Math.log2(before.length + after.length + 1)));
  const sizes = LEVELS.map(level => {
    const params = {
      [constants.ZSTD_c_compressionLevel]: level,
      [constants.ZSTD_c_windowLog]: windowLog,
      [constants.ZSTD_c_contentSizeFlag]: 0,
    };
    return zstdCompressSync(after, { dictionary: before, params }).length;
  });
  return Math.min(...sizes);
}

/** Page → blob. */
function pagesOf(day: number): Map<string, string> {
  const pages = entriesOf(day).filter(({ ct }) => ct.startsWith('text/html'));
  return new Map(pages.map(({ s, u, b }) => [s + u, b]));
}
