/** What differs from day to day is news, however often; whatever else differs, the copy that people read follows the page. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCopiesHere } from '../../src/home/copies/copies.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { makeCollection } from './collection.ts';
import { html, openPages, prose } from './pages.ts';
import { start } from './skein.ts';

test('a price that rises between any two visits is seen at each of them, in the copy and everywhere', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const url = `${pages.origin}/`;
  let price = 100;
  pages.set('/', () => ({ body: html('Shop', [prose(1), `Price: ${price} euros`, prose(7), prose(8)]) }));
  await collection.crawl([url]);
  const skein = async (...words: string[]) =>
    (await start([...words, '--data', collection.directory]).ended).stdout.toString();
  for (let day = 0; day < 7; day++) {
    price++;
    collection.pass(1);
    await collection.refresh({ budget: '100%' });
    assert.equal(collection.visits(url).at(-1)!.outcome, 'fetched', `day ${day}`);
    assert.match(await skein('cat', url), new RegExp(`Price: ${price} euros`));
  }
  const { stage, removed, added } = collection.visits(url).at(-1)!;
  assert.deepEqual({ stage, removed, added }, { stage: 'text', removed: 1, added: 1 });
  assert.match(await skein('diff', url), new RegExp(`${price}`));
  assert.match(await skein('search', `euros ${price}`), /Shop/);
  const versions = (await skein('history', url, '--json')).match(/"outcome":"fetched"/g);
  assert.equal(versions?.length, 8);
  collection.pass(1);
  await collection.refresh({ budget: '100%' });
  assert.equal(collection.visits(url).at(-1)!.outcome, 'same', 'it stands still');
});

test('a stamp is no news, and the copy shows the newest', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const url = `${pages.origin}/`;
  pages.set('/', count => ({
    body: html('Front', [prose(1), `Last updated: ${count + 1} May 2026 at 10:0${count}`, prose(7), prose(8)]),
  }));
  await collection.crawl([url]);
  for (let day = 1; day < 4; day++) {
    collection.pass(1);
    await collection.refresh({ budget: '100%' });
    const { outcome, stage, segment } = collection.visits(url).at(-1)!;
    assert.deepEqual({ outcome, stage, segment }, { outcome: 'same', stage: 'stamp', segment: null });
    const text = collection.look(ledger => {
      const copies = openCopiesHere(ledger);
      const copy = copies.newest(ledger.pages.known(1)!)!;
      copies.close();
      return Buffer.from(copy.decoded().bytes).toString();
    });
    assert.match(text, new RegExp(`10:0${day}`));
  }
  const verify = async () =>
    JSON.parse((await start(['verify', '--json', '--data', collection.directory]).ended).stdout.toString()) as {
      problems: string[];
    };
  assert.deepEqual((await verify()).problems, []);
  const ledger = new Ledger(collection.directory, 'write');
  ledger['database'].exec('UPDATE followed SET digest = zeroblob(16)');
  ledger.close();
  assert.match((await verify()).problems.join(), /newest copy .* cannot be read/);
});
