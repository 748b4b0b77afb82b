/** Which pages count as a server's not-found page, once it is known how that one looks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyse } from '../../src/crawler/analysis/analyse.ts';
import { impossibleUrl, MissingPages } from '../../src/crawler/detect/missing-page.ts';
import { unpackFacts } from '../../src/errand/facts.ts';

const headers = new Map([['content-type', 'text/html']]);
const page = (path: string, text: string, title = 'Oops') =>
  analyse({
    url: `http://a.test${path}`,
    headers,
    body: Buffer.from(`<title>${title}</title><body><p>${text.replaceAll('PATH', path)}</p>`),
  });
const sorry = 'Sorry, PATH flew away with the geese.';

test('the same words are gone wherever they stand, also where they repeat the address', () => {
  const missing = new MissingPages(undefined);
  missing.learn(page('/no-such-page', sorry));
  assert.equal(missing.has(page('/nest/egg.html', sorry)), true);
  assert.equal(missing.has(page('/nest/egg.html', 'Sorry, the goose is out.')), false);
});

test('a server that answers any path with one template has no not-found page: what kept words of its own is there', () => {
  const shop = (path: string, price: number) => page(path, `All about PATH</p><p>It costs ${price} today.`, 'Shop');
  const missing = new MissingPages(undefined);
  const now = shop('/goose', 12);
  missing.learn(shop('/no-such-page', 12), { page: now, before: shop('/goose', 11).facts });
  assert.equal(missing.has(now), false);
  assert.equal(missing.has(shop('/duck', 12)), false);
  const sold = new MissingPages(undefined);
  const gone = page('/goose', 'All about PATH</p><p>It flew away.', 'Shop');
  const before = page('/goose', 'A fine bird.</p><p>It costs 11 today.', 'Shop').facts;
  sold.learn(page('/no-such-page', 'All about PATH</p><p>It flew away.', 'Shop'), { page: gone, before });
  assert.equal(sold.has(gone), true, 'nothing is left of what it said');
});

test('the front page is never taken for missing', () => {
  const missing = new MissingPages(undefined);
  missing.learn(page('/no-such-page', 'Welcome.'));
  assert.equal(missing.has(page('/elsewhere', 'Welcome.')), true);
  assert.equal(missing.has(page('/', 'Welcome.')), false);
});

test('a long page says more than that something is missing', () => {
  const missing = new MissingPages(undefined);
  const long = 'goose '.repeat(500);
  assert.equal(missing.suspects(page('/x', long, 'Not found'), undefined), false);
  assert.equal(missing.suspects(page('/x', 'Gone.', 'Not found'), undefined), true);
  assert.equal(missing.suspects(page('/x', 'Geese.', 'Geese'), undefined), false);
  assert.equal(missing.suspects(page('/x', 'Geese.', 'Geese'), unpackFacts(page('/x', 'Ducks.', 'Geese').facts)), true);
});

test('who answers as it should is asked once', () => {
  const missing = new MissingPages(undefined);
  missing.learn(undefined);
  assert.equal(missing.suspects(page('/x', 'Gone.', 'Not found'), undefined), false);
  assert.equal(missing.has(page('/x', 'Gone.', 'Not found')), false);
});

test('the address that cannot exist lies beside the page and has its ending', () => {
  assert.match(
    impossibleUrl('http://a.test/nest/egg.html?x=1'),
    /^http:\/\/a\.test\/nest\/no-such-page-[0-9a-f]{16}\.html$/,
  );
  assert.match(impossibleUrl('http://a.test/nest/'), /^http:\/\/a\.test\/nest\/no-such-page-[0-9a-f]{16}$/);
});
