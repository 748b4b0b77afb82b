/** The manifest of a site: whatever a reader asks, its pages are spread over buckets once for each state of the journal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bucketDigest, bucketOf, bucketsFor } from '../../src/notices/site/manifest.ts';
import { Buckets } from '../../src/site/faces/buckets.ts';
import { Journal } from '../../src/site/journal/journal.ts';
import type { JournalPage } from '../../src/site/journal/lines.ts';
import { folder } from './site-here.ts';

const page = (path: string): JournalPage => ({
  ...{ path, source: 'files', kind: 'page', type: 'text/html', title: path, bytes: 1 },
  ...{ content: 'ab'.repeat(16), body: 'cd'.repeat(32), time: 1_700_000_000_000 },
});

test('buckets of any number hold the same pages, and readers that name other numbers each time cost one pass', context => {
  const journal = new Journal({ directory: folder(context), now: () => 1_800_000_000_000 });
  journal.begin(Array.from({ length: 500 }, (_, i) => page(`/p/${i}`)));
  let passes = 0;
  const counted = new Proxy(journal, {
    get(target, name) {
      if (name !== 'pages') return Reflect.get(target, name, target);
      return new Proxy(target.pages, {
        get(pages, part) {
          if (part === 'values') passes++;
          const value = Reflect.get(pages, part, pages);
          return typeof value === 'function' ? value.bind(pages) : value;
        },
      });
    },
  });
  const buckets = new Buckets(counted, 'https://site.test');
  for (const count of [1, 2, 64, 4096, 64, 1]) {
    const all = Array.from({ length: count }, (_, bucket) => buckets.entries(count, bucket));
    assert.equal(all.flat().length, 500);
    assert.ok(all.every((entries, bucket) => entries.every(({ url }) => bucketOf(url, count) === bucket)));
    for (const entries of all)
      assert.deepEqual(
        entries,
        [...entries].sort((a, b) => (a.url < b.url ? -1 : 1)),
      );
  }
  const count = bucketsFor(500);
  assert.deepEqual(
    buckets.digests,
    Array.from({ length: count }, (_, bucket) => bucketDigest(buckets.entries(count, bucket))),
  );
  assert.equal(passes, 1);
  journal.append([{ operation: 'create', page: page('/new') }]);
  assert.equal(buckets.entries(1, 0).length, 501);
  assert.equal(passes, 2);
});
