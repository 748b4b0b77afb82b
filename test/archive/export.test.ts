import assert from 'node:assert/strict';
import { createWriteStream, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { test } from 'node:test';
import { getSurt, WARCParser } from 'warcio';
import { type Archive, openArchive } from '../../src/archive/archive.ts';
import { surt, writeCdxj } from '../../src/archive/cdxj.ts';
import { archivedPages, exportWarcs } from '../../src/archive/export.ts';
import { storedOf } from '../../src/archive/read.ts';
import { openReader } from '../../src/archive/reader.ts';
import { openDisk } from '../../src/archive/store/disk-segments.ts';
import { temporary, testPage, testParcel } from './pages.ts';

function put(archive: Archive, from: number, to: number) {
  const { members, places } = testParcel(from, to);
  return archive.appendParcel(
    members,
    places.map(place => ({ place })),
  );
}

test('an export holds what was asked for, with the requests, and nothing else', async context => {
  const directory = temporary(context);
  const archive = openArchive(directory, { segmentBytes: 15_000 });
  put(archive, 0, 15);
  put(archive, 15, 30);
  await archive.close();
  const file = path.join(directory, 'some.warc.gz');
  const out = createWriteStream(file, { highWaterMark: 512 }); // small, so that it has to wait
  const some = { source: openDisk(directory), filter: (page: { time: number }) => page.time % 2 === 0 };
  const count = await exportWarcs([some], out, { filename: 'some.warc.gz' });
  out.end();
  await finished(out);
  const wanted = Array.from({ length: 30 }, (_, i) => testPage(i)).filter(page => page.time % 2 === 0);
  assert.equal(count, wanted.length);
  const seen: string[] = [];
  for await (const record of new WARCParser([readFileSync(file)])) {
    if (record.warcType === 'warcinfo') assert.equal(record.warcHeader('WARC-Filename'), 'some.warc.gz');
    seen.push(`${record.warcType} ${record.warcTargetURI ?? ''}`);
  }
  assert.deepEqual(seen, ['warcinfo ', ...wanted.flatMap(({ url }) => [`request ${url}`, `response ${url}`])]);
});

test('a receiver that fails ends the export with its error', async context => {
  const directory = temporary(context);
  const archive = openArchive(directory);
  put(archive, 0, 5);
  await archive.close();
  const out = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => done(new Error('pipe closed')) });
  await assert.rejects(exportWarcs([{ source: openDisk(directory) }], out), /pipe closed/);
});

test('stored pages come with their bodies', async context => {
  const directory = temporary(context);
  const archive = openArchive(directory, { segmentBytes: 9000 });
  put(archive, 0, 12);
  put(archive, 12, 20);
  await archive.close();
  let index = 0;
  for await (const page of archivedPages(openDisk(directory))) {
    const expected = testPage(index++);
    assert.equal(page.url, expected.url);
    assert.equal(page.mediaType, 'text/html');
    assert.ok(expected.plain.equals(page.stored.decoded().bytes));
  }
  assert.equal(index, 20);
});

test('the index grows with the archive, and is cut with it', async context => {
  const directory = temporary(context);
  const index = path.join(directory, 'index.cdxj');
  const lines = () => readFileSync(index, 'utf8').split('\n').slice(0, -1);
  const archive = openArchive(directory, { segmentBytes: 12_000 });
  put(archive, 0, 10);
  assert.equal(await writeCdxj(openDisk(directory), directory), 10);
  const end = archive.ends(0).at(-1)!;
  put(archive, 10, 12);
  put(archive, 12, 30);
  assert.equal(await writeCdxj(openDisk(directory), directory), 30);
  assert.equal(new Set(lines()).size, 30);
  assert.deepEqual(lines(), lines().sort());
  const again = temporary(context);
  await writeCdxj(openDisk(directory), directory, path.join(again, 'other.cdxj'));
  assert.deepEqual(readFileSync(path.join(again, 'other.cdxj'), 'utf8'), readFileSync(index, 'utf8'));
  await archive.close();
  const recovered = openArchive(directory, { segmentBytes: 12_000 });
  recovered.recover(end);
  put(recovered, 50, 80);
  await recovered.close();
  assert.equal(await writeCdxj(openDisk(directory), directory), 40);
  const numbers = lines().map(line => Number(/Path\/(\d+)/.exec(line)![1]));
  const expected = Array.from({ length: 40 }, (_, i) => (i < 10 ? i : i + 40));
  assert.deepEqual(
    numbers.sort((a, b) => a - b),
    expected,
    'no line of what was cut',
  );
  assert.deepEqual(
    readdirSync(directory).filter(name => name.endsWith('.new')),
    [],
  );
});

test('sort-friendly URLs are those of warcio', () => {
  for (const url of [
    'http://www.Example.org:8080/A/b?c=1&B=2',
    'https://www2.example.org/',
    'https://example.org/?',
    'http://127.0.0.1/x%20y',
    'http://[::1]:81/',
    'http://münchen.example/ä?ö=ü',
    'ftp://example.org/a',
    'not a url',
  ]) {
    assert.equal(surt(url), getSurt(url), url);
  }
});

test('sort-friendly URLs are those of pywb where a path has slashes to spare', () => {
  assert.equal(surt('http://example.org/a/'), 'org,example)/a');
  assert.equal(surt('http://example.org//a///b/?x=//'), 'org,example)/a/b?x=//');
  assert.equal(surt('http://example.org/'), 'org,example)/');
  assert.equal(surt('http://example.org//'), 'org,example)/');
});

test('a body that does not decode is data, and one that decoded when it came decodes again', () => {
  const { body, plain } = testPage(1);
  const stored = (bytes: Uint8Array, coding: string) => {
    const head = Buffer.from(`HTTP/1.1 200 OK\r\nContent-Encoding: ${coding}\r\n\r\n`);
    const headers = new Map([['content-type', 'application/http; msgtype=response']]);
    return storedOf({ kind: 'record', version: '1.1', headers, block: Buffer.concat([head, bytes]) });
  };
  assert.equal(stored(body, 'gzip').decoded(plain.length - 100).problem, 'too-large');
  assert.equal(stored(body, 'identity').decoded(10).bytes.length, 10);
  const part = stored(body.subarray(0, body.length - 30), 'gzip').decoded();
  assert.equal(part.problem, 'cut-short');
  assert.ok(part.bytes.length > 0 && plain.subarray(0, part.bytes.length).equals(part.bytes));
  assert.deepEqual(stored(plain, 'br').decoded(), { bytes: new Uint8Array(0), problem: 'bad-coding' });
  const appended = Buffer.concat([body, Buffer.from('<!-- served in 3 ms -->')]);
  assert.ok(plain.equals(stored(appended, 'gzip').decoded().bytes), 'servers append lines to what they compressed');
});

test('a record beyond the limit is a problem, and the next one is read', async context => {
  const directory = temporary(context);
  const archive = openArchive(directory);
  put(archive, 0, 10);
  await archive.close();
  const kinds: string[] = [];
  const segments = openDisk(directory);
  const [first] = await segments.list();
  for await (const entry of openReader(segments, first!, { limit: 900 })) {
    kinds.push(entry.kind);
  }
  assert.ok(kinds.includes('problem') && kinds.at(-1) !== undefined);
  assert.ok(kinds.filter(kind => kind === 'record').length >= 10, 'requests are small');
});
