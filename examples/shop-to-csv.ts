/**
 * Crawls a shop and writes name, price and address of everything that it sells.
 *
 *   node shop-to-csv.ts https://shop.example ./collection prices.csv
 *
 * A shop that describes its goods as JSON-LD needs no selectors: { "price": { "jsonLd": "Product.offers.price" } }.
 */
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { type FieldsFile, open } from 'skein';

const [seed, data = './collection', file = 'prices.csv'] = process.argv.slice(2);
if (seed === undefined) throw new Error('Name the shop.');

const goods: FieldsFile = {
  each: '.product',
  fields: { name: 'h2', price: { css: '.price', as: 'number' }, link: { css: 'a', as: 'url' } },
};

const skein = await open({ data, pace: Number(process.env['PACE'] ?? 1), maxPages: 1000 });
try {
  await skein.crawl(seed).summary();
  const out = createWriteStream(file);
  const { rows } = await skein.extract(goods, out, { format: 'csv' });
  await finished(out.end());
  console.log(`${rows} ${rows === 1 ? 'product' : 'products'} in ${file}`);
} finally {
  await skein.close();
}
