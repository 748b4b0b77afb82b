/** What a program does with pages and with the collection as a whole: differences, fields, files, progress, signals. */
import assert from 'node:assert/strict';
import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import type { FieldsFile, RunProgress } from '../../src/engine/library/skein.ts';
import {
  DAY,
  type TestClock,
  type TestCollection,
  type TestWeb,
  testClock,
  testCollection,
  testWeb,
} from '../../src/testing/testing.ts';

let clock: TestClock;
let web: TestWeb;
let collection: TestCollection;
const shop: FieldsFile = { fields: { name: 'h1', price: { css: 'b', as: 'number' } } };
const item = (name: string, price: number) =>
  `<title>${name}</title><main><h1>${name}</h1><p>Made by hand of brass and glass. It costs <b>${price} €</b> today.</p>
   <h2>Care</h2><p>Wipe it with a dry cloth once a month, and never with water.</p><a href="/">Back</a></main>`;

before(async () => {
  clock = testClock();
  const sale = clock.now() + DAY;
  web = await testWeb(
    {
      '/': '<title>Shop</title><main><p>What we have.</p><a href="/lamp">Lamp</a> <a href="/bell">Bell</a></main>',
      '/lamp': ({ time }) => item('Lamp', time < sale ? 20 : 15),
      '/bell': item('Bell', 7),
    },
    { clock },
  );
  collection = testCollection({ clock });
  await collection.skein.crawl(web.seeds).summary();
});
after(async () => {
  await collection.close();
  await web.close();
});

test('a page is read as HTML, Markdown, chunks, links and fields', async () => {
  const page = collection.skein.page(web.url('/lamp'))!;
  assert.match((await page.html())!, /<h1>Lamp/);
  assert.match((await page.markdown())!, /^# Lamp\n/);
  assert.deepEqual(
    (await page.chunks()).map(({ path }) => path.join(' > ')),
    ['Lamp', 'Lamp > Care'],
  );
  assert.deepEqual(
    page.links().map(({ url }) => url),
    [web.url('/')],
  );
  assert.deepEqual(await page.extract(shop), [{ name: 'Lamp', price: 20 }]);
  assert.equal(await page.diff(), undefined, 'there is no version before');
  await assert.rejects(page.extract({ fields: { name: 'h1[' } }), { code: 'bad-option' });
});

test('a refresh gives the difference of what changed, and none of the rest', async () => {
  clock.advance(2 * DAY);
  const told: string[] = [];
  for await (const page of collection.skein.refresh({ budget: { share: 1 } })) {
    const found = await page.diff();
    if (!found) continue;
    const words = found.text.flatMap(part => (part.kind === 'changed' ? part.words : []));
    told.push(page.url, ...words.filter(({ kind }) => kind !== 'same').map(({ kind, items }) => `${kind} ${items[0]}`));
  }
  assert.deepEqual(told, [web.url('/lamp'), 'removed 20', 'added 15']);
});

const taken = async (write: (out: Writable) => Promise<unknown>): Promise<string> => {
  const out = new PassThrough();
  const all = text(out);
  await write(out);
  out.end();
  return all;
};

test('a collection is exported and extracted to a stream, and what has not changed is not told again', async () => {
  const { skein } = collection;
  const lines = await taken(out => skein.export(out, { format: 'jsonl', newest: true, pattern: '/bell' }));
  assert.match((JSON.parse(lines) as { body: string }).body, /<h1>Bell/);
  assert.match(await taken(out => skein.export(out, { format: 'markdown' })), /# Lamp/);
  let cursor = '';
  const csv = await taken(async out => {
    const written = await skein.extract(shop, out, { format: 'csv', pattern: '/lamp' });
    assert.equal(written.rows, 1);
    cursor = written.cursor;
  });
  assert.match(csv, /^url,time,name,price\r?\n.*,Lamp,15/);
  assert.equal(await taken(out => skein.extract(shop, out, { after: cursor })), '');
  await assert.rejects(skein.export(new PassThrough(), { format: 'cuneiform' }), { code: 'bad-option' });
});

test('a signal or a closed receiver ends an export that waits, and a search', { timeout: 20_000 }, async () => {
  const { skein } = collection;
  const stuck = () => new Writable({ highWaterMark: 1, write() {} }); // takes one piece and never another
  const reason = new Error('enough');
  for (const write of [
    (out: Writable, signal?: AbortSignal) => skein.export(out, { format: 'jsonl', signal }),
    (out: Writable, signal?: AbortSignal) => skein.extract(shop, out, { signal }),
    (out: Writable, signal?: AbortSignal) => skein.chunks(out, { signal }),
  ]) {
    const stop = new AbortController();
    const writing = write(stuck(), stop.signal);
    setImmediate(() => stop.abort(reason));
    await assert.rejects(writing, error => error === reason);
    await assert.rejects(write(stuck(), stop.signal), error => error === reason);
    const out = stuck();
    const closed = write(out);
    setImmediate(() => out.destroy());
    await assert.rejects(closed, { code: 'refused' });
  }
  await assert.rejects(skein.search('lamp', { signal: AbortSignal.abort(reason) }), error => error === reason);
  const stop = new AbortController();
  const searching = skein.search('lamp', { signal: stop.signal });
  stop.abort(reason);
  await assert.rejects(searching, error => error === reason);
  assert.ok((await skein.search('lamp')).hits.length > 0);
});

test('a run tells how far it is; a listener that throws ends it', async () => {
  await using own = testCollection({ clock });
  const seen: RunProgress[] = [];
  const run = own.skein.crawl(web.seeds).on('progress', now => seen.push(now));
  const { fetched } = await run.summary();
  assert.equal(fetched, 3);
  assert.equal(seen.at(-1)!.fetched, 3);
  assert.equal(seen.at(-1)!.waiting, 0);
  const thrown = new Error('a mistake in the program');
  const broken = own.skein.refresh({ budget: { share: 1 } }).on('progress', () => {
    throw thrown;
  });
  await assert.rejects(broken.summary(), error => error === thrown);
});

test('what is forgotten is gone and does not come back; a run or a signal keeps it from beginning', async () => {
  const { skein } = collection;
  const bell = web.url('/bell');
  const run = skein.crawl();
  const under = run.summary();
  await assert.rejects(skein.forget(bell), { code: 'data-in-use' });
  await under;
  await assert.rejects(skein.forget(bell, { signal: AbortSignal.abort() }), { name: 'AbortError' });
  assert.ok(skein.page(bell));
  const { pages, copies } = await skein.forget(bell);
  assert.deepEqual([pages, copies], [1, 1]);
  assert.equal((await skein.page(bell)?.html()) ?? undefined, undefined);
  await skein.crawl(web.seeds).summary();
  assert.deepEqual(
    (await skein.search('brass')).hits.map(({ url }) => url),
    [web.url('/lamp')],
  );
});
