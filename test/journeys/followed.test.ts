/** The copy that follows a page between its versions is what exports hold and what `diff --to now` shows. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { makeCollection } from './collection.ts';
import { html, openPages, prose } from './pages.ts';
import { start } from './skein.ts';

test('what is taken for noise is in WARC and JSON lines, as it was fetched last, and diff shows it', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const url = `${pages.origin}/`;
  pages.set('/', count => ({ body: html('Front', [prose(1), `Visitors so far: ${1000 + count * 7}`, prose(2)]) }));
  await collection.crawl([url]);
  for (let day = 0; day < 3; day++) {
    collection.pass(1);
    await collection.refresh({ budget: '100%', secondLook: 0.1 });
  }
  const skein = async (...words: string[]) => {
    const ran = await start([...words, '--data', collection.directory]).ended;
    assert.equal(ran.code, 0, ran.stderr);
    return ran.stdout.toString();
  };
  const newest = await skein('cat', url);
  const [, counter] = /Visitors so far: (\d+)/.exec(newest)!;
  const lines = (text: string) =>
    text
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as { url: string; body: string; time: string })
      .filter(each => each.url === url);
  const all = lines(await skein('export', '--format', 'jsonl'));
  assert.ok(all.length >= 2, 'a version, and the copy that followed it');
  assert.equal(/so far: (\d+)/.exec(all.at(-1)!.body)![1], counter);
  const only = lines(await skein('export', '--format', 'jsonl', '--newest'));
  assert.deepEqual(
    only.map(({ body }) => /so far: (\d+)/.exec(body)![1]),
    [counter],
  );
  const directory = mkdtempSync(join(tmpdir(), 'skein-followed-'));
  try {
    const file = join(directory, 'a.warc.gz');
    await skein('export', '--newest', '--out', file);
    const text = gunzipSync(readFileSync(file)).toString('latin1');
    assert.deepEqual(
      [...text.matchAll(/so far: (\d+)/g)].map(found => found[1]),
      [counter],
    );
    assert.equal([...text.matchAll(/^WARC-Type: response\r$/gm)].length, 1);
  } finally {
    rmSync(directory, { recursive: true });
  }
  const shown = await skein('diff', url, '--to', 'now');
  assert.match(shown, /version \d+ .* → now/);
  assert.match(shown, new RegExp(`\\{\\+${counter}\\+\\}`));
  const json = JSON.parse(await skein('diff', url, '--to', 'now', '--json')) as { added: number; removed: number };
  assert.deepEqual([json.removed, json.added], [1, 1]);
});
