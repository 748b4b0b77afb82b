/** A collection that keeps so much of the past and no more: days pass, pages change, and the disk holds what it held. */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { listSegments } from '../../src/archive/segments.ts';
import { keepFresh } from '../../src/cli/commands/refresh.ts';
import { verifyCollection } from '../../src/home/checks/verify.ts';
import { openCopiesHere } from '../../src/home/copies/copies.ts';
import { diskBytes } from '../../src/home/house/retention.ts';
import { type Collection, chosen, makeCollection } from './collection.ts';
import { inEach, partitionsOf } from './how-many-partitions.ts';
import { checkBooks, killAt, pause } from './kills.ts';
import { html, openPages, type Pages, prose } from './pages.ts';
import { fast } from './skein.ts';

const PAGES = 8;

/** A front page, and pages of which each is another at every look. Two of them are alike and change together. */
async function begin(collection: Collection, pages: Pages, more: Record<string, unknown>): Promise<string[]> {
  const paths = Array.from({ length: PAGES }, (_, i) => `/page-${i}.html`);
  pages.set('/', { body: html('Front', [prose(1)], paths) });
  paths.forEach((path, i) => {
    pages.set(path, count => ({
      body: html(
        `Page ${i < 2 ? 'twin' : i}`,
        [1, 2, 3].map(part => prose(1000 * (i < 2 ? 1 : i) + 10 * count + part)),
      ),
    }));
  });
  await collection.crawl([`${pages.origin}/`], more);
  return paths.map(path => `${pages.origin}${path}`);
}

async function problems({ directory }: Collection): Promise<readonly string[]> {
  return (await inEach(directory, async ledger => (await verifyCollection(ledger)).problems)).flat();
}

const sum = (sizes: readonly number[]) => sizes.reduce((all, bytes) => all + bytes, 0);
const archiveBytes = ({ directory }: Collection) =>
  sum(partitionsOf(directory).flatMap(each => listSegments(join(each, 'archive')).map(({ bytes }) => bytes)));
const ledgerBytes = ({ directory }: Collection) =>
  sum(partitionsOf(directory).map(each => statSync(join(each, 'ledger.db')).size));

/** Bodies of the stored versions of a page, all of which must be readable. */
function versions(collection: Collection, url: string): string[] {
  const stored = collection.visits(url).filter(visit => visit.segment !== null);
  return collection.look(ledger => {
    const copies = openCopiesHere(ledger);
    const bodies = stored.map(visit => Buffer.from(copies.of(visit)!.decoded().bytes).toString());
    copies.close();
    return bodies;
  });
}

test('60 days with --keep-versions 3 stay within a bound that does not grow', async () => {
  await using pages = await openPages();
  using collection = makeCollection();
  const urls = await begin(collection, pages, { keepVersions: 3 });
  const archive: number[] = [];
  const ledger: number[] = [];
  for (let day = 1; day <= 60; day++) {
    collection.pass(1);
    await collection.refresh({ budget: '100%' });
    archive.push(archiveBytes(collection));
    ledger.push(ledgerBytes(collection));
  }
  const most = (sizes: readonly number[], from: number, to: number) => Math.max(...sizes.slice(from, to));
  assert.ok(most(archive, 30, 60) <= most(archive, 5, 30) * 1.1, `archive ${archive}`);
  assert.ok(most(ledger, 45, 60) <= most(ledger, 30, 45) * 1.1, `ledger ${ledger}`);
  for (const url of urls) {
    const bodies = versions(collection, url);
    assert.ok(bodies.length >= 1 && bodies.length <= 3, `${url} has ${bodies.length}`);
    assert.equal(new Set(bodies).size, bodies.length, 'each is another');
  }
  assert.ok(urls.some(url => versions(collection, url).length === 3));
  assert.deepEqual(await problems(collection), []);
});

test('days and disk are limits, too, and the newest copy of a page stays whatever they are', async () => {
  await using pages = await openPages();
  using collection = makeCollection();
  const urls = await begin(collection, pages, {});
  for (let day = 1; day <= 6; day++) {
    collection.pass(1);
    await collection.refresh({ budget: '100%' });
  }
  const newest = urls.map(url => versions(collection, url).at(-1));
  const all = urls.reduce((sum, url) => sum + versions(collection, url).length, 0);
  assert.ok(all > 3 * PAGES, `${all} versions`);
  const before = diskBytes(collection.directory);
  // Half of the copies may go; of the ledger, most is tables that stay.
  const most = before - Math.round(archiveBytes(collection) / 2);
  await collection.crawl([], { maxDisk: most });
  assert.ok(diskBytes(collection.directory) <= most, `${diskBytes(collection.directory)} of ${most}`);
  assert.deepEqual(await problems(collection), []);
  await collection.crawl([], { maxDisk: 1 });
  assert.deepEqual(
    urls.map(url => versions(collection, url)),
    newest.map(body => [body]),
  );
  assert.deepEqual(await problems(collection), []);
});

test('versions older than --keep-days go', async () => {
  await using pages = await openPages();
  using collection = makeCollection();
  const urls = await begin(collection, pages, { keepDays: 3 });
  for (let day = 1; day <= 7; day++) {
    collection.pass(1);
    await collection.refresh({ budget: '100%' });
  }
  const now = collection.clock.now();
  for (const url of urls) {
    const stored = collection.visits(url).filter(visit => visit.segment !== null);
    for (const { time } of stored.slice(0, -1)) assert.ok(now - time <= 3.1 * 86_400_000, url);
  }
  assert.deepEqual(await problems(collection), []);
});

/** Versions that each page has. */
const counts = (collection: Collection, urls: readonly string[]) =>
  urls.map(url => collection.visits(url).filter(visit => visit.segment !== null).length);

test('a watch that never stops keeps house while it runs, and goes on looking', async () => {
  await using pages = await openPages();
  using collection = makeCollection();
  const urls = await begin(collection, pages, {});
  for (let day = 1; day <= 6; day++) {
    collection.pass(1);
    await collection.refresh({ budget: '100%' });
  }
  assert.ok(
    counts(collection, urls).every(count => count > 3),
    `${counts(collection, urls)}`,
  );
  const stop = new AbortController();
  const options = chosen(collection.directory, { budget: '10000000', keepVersions: 2, signal: stop.signal });
  const { clockShift } = collection;
  const watch = keepFresh('watch', options, { clockShift });
  const until = async (holds: () => boolean) => {
    while (!holds()) await Promise.race([pause(50), watch]);
  };
  try {
    for (let day = 1; day <= 4; day++) {
      const visits = collection.look(ledger => ledger.visits.last);
      collection.pass(1);
      const now = collection.clock.now();
      await until(() => collection.look(ledger => (ledger.settings.get<number>('house-kept') ?? 0) >= now));
      await until(() => collection.look(ledger => ledger.visits.last) >= visits + PAGES);
      await pause(2500); // the watch notices that the pages are no longer due before the next day comes
      // Two, and what was found since.
      for (const url of urls) {
        const { length } = versions(collection, url);
        assert.ok(length >= 1 && length <= 3, `${url} has ${length} on day ${day}`);
      }
    }
  } finally {
    stop.abort();
    await watch;
  }
  assert.deepEqual(await problems(collection), []);
  const files = listSegments(join(collection.directory, 'archive')).map(({ id }) => id);
  assert.deepEqual(
    collection.look(ledger => ledger.storage.segments.all().map(({ id }) => id)),
    files,
  );
});

test('kill -9 while a watch keeps house loses nothing that is kept, and the next watch ends it', async () => {
  await using pages = await openPages();
  using collection = makeCollection();
  const urls = await begin(collection, pages, {});
  for (let day = 1; day <= 6; day++) {
    collection.pass(1);
    await collection.refresh({ budget: '100%' });
  }
  const newest = urls.map(url => versions(collection, url).at(-1));
  const data = collection.directory;
  const watch = ['watch', '--data', data, '--keep-versions', '1', '--budget', '1', ...fast];
  const waste = () =>
    collection.look(({ storage }) => storage.dropped.segments().length + storage.dropped.replaced().length);
  const begun = async () => {
    while (waste() === 0 && counts(collection, urls).some(count => count > 1)) await pause(1);
  };
  assert.ok(await killAt(begun(), watch), 'it was at work');
  await checkBooks(data, 'killed while it dropped');
  for (const wait of [0, 5, 20, 60]) {
    await killAt(
      begun().then(() => pause(wait)),
      watch,
    );
    await checkBooks(data, `killed ${wait} ms later`);
  }
  assert.deepEqual(
    urls.map(url => versions(collection, url).at(-1)),
    newest,
  );
  const done = async () => {
    while (counts(collection, urls).some(count => count > 1)) await pause(20);
  };
  await killAt(done(), watch);
  await checkBooks(data, 'killed at the end');
  assert.deepEqual(
    urls.map(url => versions(collection, url)),
    newest.map(body => [body]),
  );
});
