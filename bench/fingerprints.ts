/** What one look into the fingerprint table costs, at the sizes a crawl passes through, beside a Map in the same run. */
import { Fingerprints } from '../src/ledger/memory/fingerprints.ts';

const ROUNDS = 3;

function spread(n: number): number {
  const x = Math.imul(n ^ (n >>> 16), 0x21f0aaad);
  return (x ^ (x >>> 15)) >>> 0;
}

/** Median nanoseconds of a call of `work`, run over `count` numbers. */
function nanoseconds(count: number, work: (n: number) => number): number {
  const times: number[] = [];
  let sink = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const start = process.hrtime.bigint();
    for (let n = 1; n <= count; n++) sink ^= work(n);
    times.push(Number(process.hrtime.bigint() - start) / count);
  }
  if (sink === 0x5eed) console.log(); // keeps the loop from being dropped
  return times.sort((a, b) => a - b)[ROUNDS >> 1]!;
}

const rows = [];
for (const count of [10_000, 1_000_000, 5_000_000]) {
  const table = new Fingerprints();
  const start = process.hrtime.bigint();
  for (let n = 1; n <= count; n++) table.set(spread(n), spread(n + 0x10000000), n);
  const set = Number(process.hrtime.bigint() - start) / count;
  const get = nanoseconds(count, n => table.get(spread(n), spread(n + 0x10000000)));
  // The links of one page mostly repeat those of the page before: runs over a hundred entries, again and again.
  const run = nanoseconds(1_000_000, n => {
    const known = ((n >>> 13) * 97 + (n % 100)) % count;
    return table.get(spread(known), spread(known + 0x10000000));
  });
  rows.push({
    entries: count,
    'set ns': Math.round(set),
    'get ns, scattered': Math.round(get),
    'get ns, in runs': Math.round(run),
    'bytes each': +(table.bytes / count).toFixed(1),
  });
}
const map = new Map<number, number>();
for (let n = 1; n <= 1_000_000; n++) map.set(spread(n) * 0x200000 + (spread(n + 0x10000000) >>> 11), n);
const mapGet = nanoseconds(1_000_000, n => map.get(spread(n) * 0x200000 + (spread(n + 0x10000000) >>> 11)) ?? 0);
console.table(rows);
console.log(`Map of 1,000,000 numbers (53 bits): get ${Math.round(mapGet)} ns, scattered`);
