/**
 * What keeping a page costs: WARC records per CPU second for each effort, beside warcio's writer on the same pages in
 * the same run; then the archive itself (append, read back). Real pages:
 * Debian's documentation where it is installed, else the recorded sites.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { WARCRecord, WARCSerializer } from 'warcio';
import { openArchive } from '../src/archive/archive.ts';
import type { StoredPlace } from '../src/archive/read.ts';
import { openDisk } from '../src/archive/store/disk-segments.ts';
import { verifyArchive } from '../src/archive/verify.ts';
import { packer } from '../src/crawler/pack/pack.ts';
import type { Response } from '../src/crawler/stages.ts';
import type { RecordPlace } from '../src/errand/visit.ts';
import type { Effort } from '../src/errand/warc/gzip.ts';
import { payloadDigest } from '../src/errand/warc/warc.ts';
import { entriesOf, historiesAvailable, openBlobs } from './histories.ts';

const PAGES = 300;
const ROUNDS = 3;
const PARCEL_BYTES = 1 << 20;
const DOCUMENTS = ['/usr/share/doc/openjdk-17-jre-headless/api', '/usr/share/doc/postgresql-doc-15/html'];
const REQUEST = Buffer.from(
  'GET /docs/page.html HTTP/1.1\r\nHost: docs.test\r\nUser-Agent: Skein/0.1\r\nAccept: */*\r\n\r\n',
);

function bodies(): Buffer[] {
  const folder = DOCUMENTS.find(existsSync);
  if (folder === undefined) {
    const blob = openBlobs();
    const pages = entriesOf(0).filter(entry => entry.ct.startsWith('text/html'));
    return pages.slice(0, PAGES).map(entry => Buffer.from(blob(entry.b)));
  }
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.html'));
  const step = Math.max(1, Math.floor(names.length / PAGES));
  const some = names.filter((_, i) => i % step === 0).slice(0, PAGES);
  return some.map(name => readFileSync(path.join(folder, name)));
}

function response(page: Buffer, gzipped: boolean): Response {
  const body = gzipped ? gzipSync(page) : page;
  const headers = new Map([
    ['content-type', 'text/html; charset=utf-8'],
    ['content-length', String(body.length)],
    ['last-modified', 'Sun, 01 Mar 2026 10:00:00 GMT'],
    ['etag', '"65e1-3f2a"'],
    ...(gzipped ? [['content-encoding', 'gzip'] as const] : []),
  ]);
  const lines = [...headers].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const wire = { up: 0, down: 0, firstByte: 0, total: 0 };
  const head = Buffer.from(`HTTP/1.1 200 OK\r\n${lines}\r\n`);
  const rest = { status: 200, protocol: 'http/1.1', address: '127.0.0.1' } as const;
  return { kind: 'response', head, requestHead: REQUEST, headers, body, wire, ...rest };
}

interface Cost {
  /** Microseconds of CPU per page, median of the rounds. */
  readonly micros: number;
  readonly bytes: number;
}

async function costOf(work: () => Promise<number> | number, count: number, rounds = ROUNDS): Promise<Cost> {
  const times: number[] = [];
  let bytes = 0;
  await work(); // warm
  for (let round = 0; round < rounds; round++) {
    const before = process.cpuUsage();
    bytes = await work();
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / count);
  }
  return { micros: times.sort((a, b) => a - b)[rounds >> 1]!, bytes: Math.round(bytes / count) };
}

function packAll(responses: readonly Response[], effort: Effort): number {
  const pack = packer({ whenBusy: effort });
  let bytes = 0;
  for (const answer of responses) {
    const digest = payloadDigest(answer.body); // warcio's figure has it too
    pack.add({ url: 'http://docs.test/docs/page.html', time: 1_772_000_000_000, digest, response: answer }, true);
    if (pack.length < PARCEL_BYTES) continue;
    bytes += pack.length;
    pack.reuse(pack.take());
  }
  return bytes + pack.length;
}

/** The same two records with warcio. */
async function warcioAll(responses: readonly Response[]): Promise<number> {
  let bytes = 0;
  const common = {
    url: 'http://docs.test/docs/page.html',
    date: '2026-03-01T10:00:00.000Z',
    warcVersion: 'WARC/1.1',
  } as const;
  for (const { headers, body } of responses) {
    const httpHeaders = Object.fromEntries(headers);
    const answer = WARCRecord.create({ ...common, type: 'response', httpHeaders }, [body]);
    const host = { Host: 'docs.test' };
    const request = WARCRecord.create({ ...common, type: 'request', httpHeaders: host, statusline: 'GET / HTTP/1.1' });
    for (const record of [request, answer]) bytes += (await WARCSerializer.serialize(record, { gzip: true })).length;
  }
  return bytes;
}

async function writers(pages: readonly Buffer[]): Promise<void> {
  const plain = pages.map(page => response(page, false));
  const came = pages.map(page => response(page, true));
  const peer = await costOf(() => warcioAll(plain), pages.length, 1);
  const rows: [string, Cost][] = [
    ['body came gzipped', await costOf(() => packAll(came, 'small'), pages.length)],
    ['stored', await costOf(() => packAll(plain, 'stored'), pages.length)],
    ['fast', await costOf(() => packAll(plain, 'fast'), pages.length)],
    ['small', await costOf(() => packAll(plain, 'small'), pages.length)],
    ['warcio (gzip)', peer],
  ];
  console.log('\nwriter               µs CPU/page   pages/CPU-s   bytes/page   × warcio');
  for (const [name, { micros, bytes }] of rows) {
    const columns = [
      micros.toFixed(1).padStart(11),
      (1e6 / micros).toFixed(0).padStart(13),
      String(bytes).padStart(12),
    ];
    console.log(`${name.padEnd(20)} ${columns.join(' ')} ${(peer.micros / micros).toFixed(1).padStart(10)}`);
  }
}

async function archiving(pages: readonly Buffer[]): Promise<void> {
  const pack = packer({ whenBusy: 'fast' });
  const places: RecordPlace[] = pages.map((page, i) => {
    const answer = response(page, true);
    const digest = payloadDigest(answer.body);
    return pack.add({ url: `http://docs.test/${i}`, time: 1_772_000_000_000 + i, digest, response: answer }, true);
  });
  const members = pack.take();
  const arrivals = places.map(place => ({ place }));
  const directory = mkdtempSync(path.join(tmpdir(), 'skein-bench-'));
  try {
    const archive = openArchive(directory);
    let stored: StoredPlace[] = [];
    const append = await costOf(() => {
      stored = archive.appendParcel(members, arrivals);
      return members.length;
    }, pages.length);
    const read = await costOf(async () => {
      let sum = 0;
      for (const place of stored) sum += (await archive.read(place)).decoded().bytes.length;
      return sum;
    }, pages.length);
    await archive.close();
    const before = process.cpuUsage();
    const { records } = await verifyArchive(openDisk(directory)); // ids repeat, since the same parcel went in four times
    const { user, system } = process.cpuUsage(before);
    console.log(`\nappend a parcel      ${append.micros.toFixed(1).padStart(11)} µs CPU/page`);
    console.log(`read and decode      ${read.micros.toFixed(1).padStart(11)} µs CPU/page`);
    console.log(`verify               ${((user + system) / records).toFixed(1).padStart(11)} µs CPU/record`);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

if (!DOCUMENTS.some(existsSync) && !historiesAvailable) {
  console.log('notice: no real pages here (postgresql-doc-15 or the recorded sites); nothing measured');
} else {
  const pages = bodies();
  const mean = pages.reduce((sum, page) => sum + page.length, 0) / pages.length;
  console.log(`${pages.length} pages, ${(mean / 1000).toFixed(1)} kB on average`);
  await writers(pages);
  await archiving(pages);
}
