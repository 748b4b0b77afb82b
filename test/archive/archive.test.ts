import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { openArchive } from '../../src/archive/archive.ts';
import { followRevisit, type Resolver, readLater } from '../../src/archive/read.ts';
import { openReader } from '../../src/archive/reader.ts';
import { segmentName } from '../../src/archive/segments.ts';
import { openDisk } from '../../src/archive/store/disk-segments.ts';
import { temporary, testParcel, verified } from './pages.ts';

const arrivals = (places: ReturnType<typeof testParcel>['places']) => places.map(place => ({ place }));

async function filled(context: TestContext, segmentBytes: number) {
  const directory = temporary(context);
  const archive = openArchive(directory, { segmentBytes });
  const parcels = [0, 10, 20, 30, 40].map(from => testParcel(from, from + 10));
  const places = parcels.map(({ members, places }) => archive.appendParcel(members, arrivals(places)));
  await archive.sync();
  return { directory, archive, pages: parcels.flatMap(({ pages }) => pages), places: places.flat() };
}

test('what was appended is read back by its place, over several segments', async context => {
  const { directory, archive, pages, places } = await filled(context, 20_000);
  assert.ok(archive.ends(0).at(-1)!.segment > 2, 'rolled');
  for (const [i, page] of pages.entries()) {
    const stored = await archive.read(places[i]!);
    assert.equal(stored.type, 'response');
    assert.equal(stored.url, page.url);
    assert.equal(stored.time, page.time);
    assert.equal(stored.status, 200);
    assert.ok(page.body.equals(stored.body));
    assert.deepEqual(stored.decoded().problem, undefined);
    assert.ok(page.plain.equals(stored.decoded().bytes));
  }
  await archive.close();
  for (const name of readdirSync(directory)) {
    assert.ok(statSync(path.join(directory, name)).size <= 20_000, 'no segment outgrows its limit');
  }
  const check = await verified(directory);
  assert.deepEqual(check.problems, []);
  assert.equal(check.digests, pages.length);
  assert.equal(check.records, 2 * pages.length + check.segments);
});

test('a body that the archive has becomes a revisit that leads to it', async context => {
  const directory = temporary(context);
  const archive = openArchive(directory);
  const { pages, places, members } = testParcel(0, 8);
  const [first] = archive.appendParcel(members, arrivals(places));
  const original = { url: pages[0]!.url, time: pages[0]!.time };
  const second = testParcel(0, 8);
  const again = archive.appendParcel(
    second.members,
    second.places.map((place, i) => ({ place, sameAs: i === 2 || i === 5 ? original : undefined })),
  );
  for (const [i, place] of again.entries()) {
    const stored = await archive.read(place);
    assert.equal(stored.type, i === 2 || i === 5 ? 'revisit' : 'response');
    assert.equal(stored.url, pages[i]!.url);
    assert.equal(stored.status, 200);
    if (stored.type === 'response') assert.ok(pages[i]!.body.equals(stored.body));
  }
  const revisit = await archive.read(again[2]!);
  assert.deepEqual(revisit.original, original);
  assert.equal(revisit.body.length, 0);
  const follow = (resolve: Resolver) => readLater(archive, followRevisit(revisit, resolve));
  const led = await follow(asked => (asked.url === original.url ? first : undefined));
  assert.ok(pages[0]!.body.equals(led!.body));
  assert.equal(await follow(() => again[2]), undefined, 'a circle ends');
  assert.equal(await follow(() => undefined), undefined);
  await archive.close();
  assert.deepEqual((await verified(directory)).problems, []);
});

test('recover cuts what the ledger does not know, and goes on there', async context => {
  const { directory, archive } = await filled(context, 30_000);
  const end = archive.ends(0).at(-1)!;
  const { members, places } = testParcel(100, 130);
  archive.appendParcel(members, arrivals(places)); // fills further segments that nobody commits
  await archive.close();
  appendFileSync(path.join(directory, segmentName(end.segment)), 'torn');
  const again = openArchive(directory, { segmentBytes: 60_000 });
  again.recover(end);
  assert.deepEqual(again.ends(0).at(-1)!, end);
  const [place] = again.appendParcel(members.subarray(0, places[0]!.length), arrivals(places.slice(0, 1)));
  assert.deepEqual([place!.segment, place!.offset], [end.segment, end.length]);
  assert.equal((await again.read(place!)).status, 200);
  await again.close();
  assert.deepEqual((await verified(directory)).problems, []);
});

test('without recover, nothing is written behind a tail that may be torn', async context => {
  const { directory, archive } = await filled(context, 1e9);
  await archive.close();
  appendFileSync(path.join(directory, segmentName(1)), 'torn');
  const again = openArchive(directory);
  assert.throws(() => again.ends(0).at(-1)!, { code: 'internal' });
  assert.equal(again.append(testParcel(0, 1).members).segment, 2);
  await again.close();
});

test('recover refuses what no crash explains', async context => {
  const { directory, archive } = await filled(context, 1e9);
  const end = archive.ends(0).at(-1)!;
  await archive.close();
  assert.throws(() => openArchive(directory, { maxTailBytes: 100 }).recover({ segment: 0, length: 0 }), {
    code: 'damaged',
  });
  assert.throws(() => openArchive(directory).recover({ segment: 7, length: 10 }), { code: 'damaged' });
  truncateSync(path.join(directory, segmentName(1)), end.length - 1);
  assert.throws(() => openArchive(directory).recover(end), { code: 'damaged' });
});

test('a place that is wrong is named as damage', async context => {
  const { archive, places, directory } = await filled(context, 1e9);
  const place = places[3]!;
  for (const wrong of [
    { ...place, offset: place.offset + 1 },
    { ...place, length: place.length - 1 },
    { ...place, length: place.length + 30 },
    { ...place, segment: 99 },
    { ...place, offset: 1e9 },
  ]) {
    await assert.rejects(archive.read(wrong), { code: 'damaged' });
  }
  assert.throws(() => archive.appendParcel(Buffer.alloc(10), [{ place }]), { code: 'bad-frame' });
  await archive.close();
  writeFileSync(path.join(directory, 'notes.txt'), 'not a segment');
  assert.equal((await verified(directory)).segments, 1);
});

test('damage is reported where it is, and the records around it are still read', async context => {
  const { directory, archive, places } = await filled(context, 1e9);
  await archive.close();
  const file = path.join(directory, segmentName(1));
  const bytes = readFileSync(file);
  const at = places[10]!.offset + places[10]!.requestLength;
  bytes.fill(0xee, at, at + 40);
  writeFileSync(file, bytes);
  const check = await verified(directory);
  assert.equal(check.problems.length, 1);
  assert.equal(check.problems[0]!.offset, at);
  assert.equal(check.digests, places.length - 1);
  let last = 0;
  for await (const entry of openReader(openDisk(directory), { id: 1, bytes: bytes.length }))
    last = entry.offset + entry.length;
  assert.equal(last, bytes.length);
});
