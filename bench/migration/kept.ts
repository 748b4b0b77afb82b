/**
 * The third paper's experiment on real pages: fetched once, and again 30 days later. Traditional: everything comes again.
 * Mobile: what changed comes, with 30 kB of crawler and list as in the paper, as it is or zipped. Ours: what the kernel
 * counts on home's link. The paper: 100 / 67 / 23%.
 */
import { gzipSync } from 'node:zlib';
import { entriesOf, openBlobs } from '../histories.ts';
import { onStage } from './stage.ts';

const DAYS = 30;
const CODE_AND_LIST = 30_000;

export async function kept(): Promise<string[]> {
  const blob = openBlobs();
  const before = new Map(pagesOf(0).map(({ s, u, b }) => [s + u, b]));
  const now = pagesOf(DAYS).filter(({ s, u }) => before.has(s + u));
  const changed = now.filter(({ s, u, b }) => before.get(s + u) !== b);
  const traditional = now.reduce((sum, { b }) => sum + blob(b).length, 0);
  const plain = changed.reduce((sum, { b }) => sum + blob(b).length, CODE_AND_LIST);
  const zipped = changed.reduce((sum, { b }) => sum + gzipSync(blob(b)).length, CODE_AND_LIST);
  let ours = 0;
  let brought = 0;
  await onStage({}, async stage => {
    const options = { depth: 0 };
    await stage.day(0);
    await stage.outpost('far');
    await stage.home('far', { day: 0, seeds: await stage.seeds(0, true), options }, true);
    await stage.day(DAYS);
    const trip = await stage.home('far', { day: DAYS, options }, true);
    ours = trip.up + trip.down;
    brought = trip.fetched;
  });
  const row = (name: string, bytes: number, paper: string) =>
    console.log(
      `${name.padEnd(34)}${(bytes / 1e6).toFixed(2).padStart(8)} MB ${((100 * bytes) / traditional).toFixed(2).padStart(7)}%   ${paper}`,
    );
  console.log(`${now.length} pages, the bytes of ${changed.length} changed in ${DAYS} days, ${brought} for a reader`);
  row('traditional, uncompressed', traditional, '100%');
  row('mobile, changed pages as they are', plain, '67%');
  row('mobile, changed pages zipped', zipped, '23%');
  row('Skein, differences', ours, '–');
  const share = (100 * ours) / traditional;
  return [`kept: ${share.toFixed(2)}% of the traditional crawl, at most 5 wanted (${share <= 5 ? 'met' : 'missed'})`];
}

function pagesOf(day: number): ReturnType<typeof entriesOf> {
  return entriesOf(day).filter(({ ct }) => ct.startsWith('text/html'));
}
