/** An edit that many pages share is known of those that were not fetched: inferred, marked as such, and never archived. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCopiesHere } from '../../src/home/copies/copies.ts';
import { makeCollection } from './collection.ts';
import { html, openPages, prose } from './pages.ts';
import { start } from './skein.ts';

/** Forty pages in two folders; the footer of a folder is what a test says. */
async function openSite() {
  const pages = await openPages();
  const paths = Array.from({ length: 40 }, (_, i) => `/${i % 2 === 0 ? 'a' : 'b'}/${i}`);
  const serve = (footer: (folder: string) => string) => {
    pages.set('/', { body: html('Front', [prose(0)], paths), tagged: true });
    for (const [i, path] of paths.entries()) {
      const body = html(`Page ${i}`, [prose(i + 1), prose(i + 50)]);
      const end = `</main><footer><p>Footer of all pages</p><p>${footer(path[1]!)}</p><p>The end of it</p></footer>`;
      pages.set(path, { body: body.replace('</main>', end), tagged: true });
    }
  };
  return { pages, paths, serve };
}

test('pages that were not fetched get what the others have shown, marked, until they are looked at', async () => {
  using collection = makeCollection();
  const { pages, paths, serve } = await openSite();
  await using _ = pages;
  serve(() => 'Release 1');
  await collection.crawl([`${pages.origin}/`]);
  collection.pass(1);
  serve(folder => (folder === 'a' ? 'Release 2' : 'Release 1'));
  await collection.refresh({ budget: '24' });
  const states = collection.look(ledger => {
    const copies = openCopiesHere(ledger);
    const all = paths.map(path => {
      const page = [...ledger.queries.scans.every()]
        .map(({ id }) => ledger.pages.get(id)!)
        .find(({ url }) => url === pages.origin + path)!;
      const { copy, inferred } = copies.current(ledger.pages.known(page.id)!)!;
      const body = Buffer.from(copy.decoded().bytes).toString();
      return { path, inferred, release: /Release (\d)/.exec(body)![1], looks: ledger.visits.of(page.id).length };
    });
    copies.close();
    return all;
  });
  const unseen = (folder: string) => states.filter(({ path, looks }) => path[1] === folder && looks === 1);
  assert.ok(unseen('a').length > 0 && unseen('b').length > 0, 'the budget leaves some of each folder');
  for (const { path, inferred, release } of unseen('a'))
    assert.deepEqual([path, release, !inferred], [path, '2', false]);
  for (const { path, inferred, release } of unseen('b'))
    assert.deepEqual([path, release, inferred], [path, '1', undefined]);
  const url = pages.origin + unseen('a')[0]!.path;
  const skein = async (...words: string[]) => start([...words, '--data', collection.directory]).ended;
  const said = JSON.parse((await skein('cat', url, '--json')).stdout.toString());
  assert.match(said.body, /Release 2/);
  assert.ok(said.inferred.pages >= 5 && said.headers['skein-inferred'], 'it says so');
  assert.match((await skein('show', url)).stdout.toString(), /copy handed out +Inferred: edits that \d+ other pages/);
  const diff = await skein('diff', url, '--to', 'now');
  assert.match(diff.stdout.toString(), /Nothing has followed version 1/);
  assert.match(
    diff.stderr.toString(),
    /^Inferred: .*compared is what was fetched/m,
    'diff compares what was fetched, and says so',
  );
  assert.ok(JSON.parse((await skein('diff', url, '--to', 'now', '--json')).stdout.toString()).inferred.pages >= 5);
  const { hits } = JSON.parse((await skein('search', 'title:page', '--limit', '100', '--json')).stdout.toString()) as {
    hits: { url: string; inferred: boolean }[];
  };
  const guessed = new Set(states.filter(({ inferred }) => inferred).map(({ path }) => pages.origin + path));
  assert.ok(hits.some(hit => hit.url === url));
  for (const hit of hits) assert.equal(hit.inferred, guessed.has(hit.url), 'search says so, too');
  const lines = (await skein('export', '--format', 'jsonl', '--newest')).stdout.toString().trim().split('\n');
  const exported = lines.map(line => JSON.parse(line)).find(line => line.url === url);
  assert.match(exported.body, /Release 1/, 'only what was fetched is exported');
  assert.equal((await skein('verify')).code, 0);
  // Looks at all of them: nothing is inferred any more, and all of it was right.
  collection.pass(1);
  await collection.refresh({ budget: '1000%' });
  const left = collection.look(ledger => [ledger.storage.inferred.count, ledger.settings.get<object>('inferences')]);
  assert.deepEqual(left, [0, { right: unseen('a').length, wrong: 0 }]);
});

test('a look that shows the old state ends what was inferred of its folder', async () => {
  using collection = makeCollection();
  const { pages, serve } = await openSite();
  await using _ = pages;
  serve(() => 'Release 1');
  await collection.crawl([`${pages.origin}/`]);
  collection.pass(1);
  serve(() => 'Release 2');
  await collection.refresh({ budget: '24' });
  assert.ok(collection.look(ledger => ledger.storage.inferred.count) > 0);
  // It was put back before anybody looked.
  collection.pass(1);
  serve(() => 'Release 1');
  await collection.refresh({ budget: '12' });
  const [left, audited] = collection.look(ledger => [
    ledger.storage.inferred.count,
    ledger.settings.get<{ right: number; wrong: number }>('inferences')!,
  ]);
  assert.ok((audited as { wrong: number }).wrong > 0);
  assert.equal(left, 0);
});
