/** Readers that we did not write accept every file, and find in it what went in. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createReadStream, createWriteStream, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createGunzip } from 'node:zlib';
import { WARCParser, WARCSerializer } from 'warcio';
import { openArchive } from '../../src/archive/archive.ts';
import { writeCdxj } from '../../src/archive/cdxj.ts';
import { exportWarcs } from '../../src/archive/export.ts';
import { listSegments } from '../../src/archive/segments.ts';
import { openDisk } from '../../src/archive/store/disk-segments.ts';
import { archivedHead } from '../../src/errand/warc/warc.ts';
import { type TestPage, temporary, testPage, testParcel } from './pages.ts';

const PAGES = 60;
const warcio = fileURLToPath(new URL('../../node_modules/.bin/warcio', import.meta.url));

/** Segments with 60 pages, of which every seventh is there a second time, as a revisit. */
async function archiveOf(context: TestContext): Promise<string> {
  const directory = temporary(context);
  const archive = openArchive(directory, { segmentBytes: 25_000 });
  const first = testParcel(0, PAGES / 2);
  const second = testParcel(PAGES / 2, PAGES);
  const again = testParcel(0, PAGES / 2);
  for (const { places, members } of [first, second])
    archive.appendParcel(
      members,
      places.map(place => ({ place })),
    );
  for (const [i, place] of again.places.entries()) {
    if (i % 7 !== 0) continue;
    const { url, time } = first.pages[i]!;
    const run = again.members.subarray(place.offset, place.offset + place.length);
    archive.appendParcel(run, [{ place: { ...place, offset: 0 }, sameAs: { url, time } }]);
  }
  await archive.close();
  return directory;
}

const pageOf = (url: string): TestPage => testPage(Number(/\/(\d+)\?/.exec(url)![1]));

test('npm warcio: every record, every payload, every digest', async context => {
  const directory = await archiveOf(context);
  const counts = { warcinfo: 0, request: 0, response: 0, revisit: 0 };
  const segments = listSegments(directory);
  assert.ok(segments.length > 1);
  for (const { file } of segments) {
    for await (const record of new WARCParser(createReadStream(file))) {
      counts[record.warcType as keyof typeof counts]++;
      if (record.warcType === 'revisit') assert.equal(record.warcRefersToTargetURI, record.warcTargetURI);
      if (record.warcType !== 'response') continue;
      const page = pageOf(record.warcTargetURI!);
      const said = record.warcPayloadDigest;
      assert.ok(page.body.equals(await record.readFully(false)), record.warcTargetURI!);
      const coding = page.response.headers.get('content-encoding') ?? '';
      // warcio itself decodes neither br nor zstd.
      if (!['br', 'zstd'].includes(coding))
        assert.ok(page.plain.equals(await record.readFully(true)), `decoded ${coding}`);
      assert.equal(said?.length, 'sha256:'.length + 64);
    }
    for await (const record of new WARCParser(createReadStream(file), { keepHeadersCase: true })) {
      if (record.warcType !== 'response') continue;
      const said = record.warcPayloadDigest;
      await new WARCSerializer(record).digestRecord({ recompute: true });
      assert.equal(record.warcPayloadDigest, said, 'the digest that warcio computes');
    }
  }
  assert.deepEqual(counts, { warcinfo: segments.length, request: PAGES + 5, response: PAGES, revisit: 5 });
});

test('the CDXJ index is the one that warcio makes', async context => {
  const directory = await archiveOf(context);
  const files = listSegments(directory).map(segment => segment.file);
  const theirs = execFileSync(process.execPath, [warcio, 'cdx-index', ...files, '--format', 'cdxj'], {
    encoding: 'utf8',
  });
  const count = await writeCdxj(openDisk(directory), directory);
  const ours = readFileSync(path.join(directory, 'index.cdxj'), 'utf8');
  assert.equal(count, PAGES + 5);
  assert.deepEqual(comparable(ours), comparable(theirs));
  assert.deepEqual(ours.split('\n').slice(0, -1), ours.split('\n').slice(0, -1).sort());
});

/** Sorted, without the name of the digest's algorithm (warcio drops it) and of the folder (warcio keeps it). */
function comparable(cdxj: string): unknown[] {
  const lines = cdxj.split('\n').slice(0, -1);
  return lines.sort().map(line => {
    const json = line.indexOf('{');
    const fields = JSON.parse(line.slice(json)) as Record<string, string>;
    const { digest, filename } = fields;
    return {
      ...fields,
      key: line.slice(0, json),
      digest: digest!.split(':').at(-1),
      filename: path.basename(filename!),
    };
  });
}

test('gzip accepts every segment', async context => {
  const directory = await archiveOf(context);
  if (spawnSync('gzip', ['--version']).error) return context.skip('no gzip here');
  for (const { file } of listSegments(directory)) execFileSync('gzip', ['--test', file]);
});

/** Everything as one WARC 1.0 file that is not compressed. */
async function exportOld(directory: string): Promise<string> {
  const file = path.join(directory, 'old.warc');
  const out = createGunzip();
  const written = pipeline(out, createWriteStream(file));
  await exportWarcs([{ source: openDisk(directory) }], out, { version: '1.0' });
  out.end();
  await written;
  return file;
}

function filesBelow(folder: string): Buffer[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => path.join(folder, name))
    .filter(name => statSync(name).isFile())
    .map(name => readFileSync(name));
}

test('libarchive (bsdtar) extracts every response from an export as WARC 1.0', async context => {
  if (spawnSync('bsdtar', ['--version']).error)
    return context.skip('no bsdtar: scripts/install-debian.sh libarchive-tools');
  const directory = await archiveOf(context);
  const folder = path.join(directory, 'extracted');
  mkdirSync(folder);
  const file = await exportOld(directory);
  assert.ok(statSync(file).size > 1 << 16, 'more than one buffer of libarchive');
  // It takes a header that lies across the end of what it has read for a bad one: it is told to read 4 MB at once.
  execFileSync('bsdtar', ['-b', '8192', '-xf', file, '-C', folder]);
  const expected = Array.from({ length: PAGES }, (_, i) => {
    const { response, body } = testPage(i);
    return Buffer.concat([archivedHead(response.head, body.length), body]);
  });
  assert.deepEqual(filesBelow(folder).sort(Buffer.compare), expected.sort(Buffer.compare));
});
