/**
 * Takes what a shop sells out of each page as it comes: `skein crawl https://shop.example --hooks price-hooks.ts`, then
 * `skein export --format found`.
 */
import { extract, type FieldsFile } from 'skein/extract';
import { defineHooks } from 'skein/hooks';

const goods: FieldsFile = {
  each: '.product',
  fields: { name: 'h2', price: { css: '.price', as: 'number' } },
};

export default defineHooks({
  afterPage(page) {
    const products = page.mediaType === 'text/html' ? extract(page.html(), page.url, goods) : [];
    return products.length > 0 ? { data: products } : {};
  },
});
