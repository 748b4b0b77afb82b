/**
 * Tells which prices of a shop changed since it was last run; run it as often as you like to know.
 *
 *   node watch-prices.ts https://shop.example ./collection
 *
 * To be told without asking, by mail or webhook: "skein notify add" and "skein watch".
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type FieldsFile, open } from 'skein';

const [seed, data = './collection'] = process.argv.slice(2);
if (seed === undefined) throw new Error('Name the shop.');

const goods: FieldsFile = {
  each: '.product',
  fields: { name: 'h2', price: { css: '.price', as: 'number' } },
};
interface Known {
  /** How far the collection was read. */
  readonly cursor: string;
  readonly prices: Record<string, number>;
}
const file = join(data, 'prices.json');
const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Known) : undefined;

const skein = await open({ data, pace: Number(process.env['PACE'] ?? 1), maxPages: 1000 });
try {
  if (known) await skein.refresh({ budget: { share: 1 } }).summary();
  else await skein.crawl(seed).summary();
  const out = new PassThrough();
  const lines = text(out);
  const { cursor } = await skein.extract(goods, out, { after: known?.cursor });
  out.end();
  const prices = { ...known?.prices };
  for (const line of (await lines).split('\n').filter(each => each !== '')) {
    const { name, price } = JSON.parse(line) as { name?: string; price?: number };
    if (name === undefined || typeof price !== 'number') continue;
    const before = prices[name];
    if (known && before !== price) console.log(`${name}: ${before ?? 'new'} → ${price}`);
    prices[name] = price;
  }
  writeFileSync(`${file}.part`, JSON.stringify({ cursor, prices } satisfies Known));
  renameSync(`${file}.part`, file);
} finally {
  await skein.close();
}
