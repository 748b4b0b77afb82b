/** Pages for the archive's tests: packed as the crawler packs them, in several codings, with what went in kept aside. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import * as zlib from 'node:zlib';
import { openDisk } from '../../src/archive/store/disk-segments.ts';
import { type ArchiveCheck, verifyArchive } from '../../src/archive/verify.ts';
import { type Packer, packer } from '../../src/crawler/pack/pack.ts';
import type { Response } from '../../src/crawler/stages.ts';
import type { RecordPlace } from '../../src/errand/visit.ts';
import { payloadDigest } from '../../src/errand/warc/warc.ts';

export interface TestPage {
  readonly url: string;
  readonly time: number;
  /** As it came. */
  readonly body: Buffer;
  readonly plain: Buffer;
  readonly response: Response;
}

const START = Date.UTC(2026, 2, 1);
const codings = ['', 'gzip', 'br', 'zstd', 'deflate'] as const;

export function testPage(index: number): TestPage {
  const words = Array.from({ length: 20 + ((index * 37) % 400) }, (_, i) => `word${(i * 7919 + index) % 997}`);
  const plain = Buffer.from(`<title>Page ${index}</title><p>grüße ${words.join(' ')}</p>`);
  const coding = codings[index % codings.length]!;
  const body = {
    '': plain,
    gzip: zlib.gzipSync(plain),
    br: zlib.brotliCompressSync(plain, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }),
    zstd: zlib.zstdCompressSync(plain),
    deflate: zlib.deflateSync(plain),
  }[coding];
  const headers: Record<string, string> = { 'content-type': 'text/html; charset=utf-8', server: 'test' };
  if (coding !== '') headers['content-encoding'] = coding;
  if (index % 3 === 0) headers['transfer-encoding'] = 'chunked';
  else headers['content-length'] = String(body.length);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const url = `http://www.example.org:8080/Path/${index}?b=${index}&a=1`;
  const response: Response = {
    kind: 'response',
    status: 200,
    head: Buffer.from(`HTTP/1.1 200 OK\r\n${lines.join('')}\r\n`),
    requestHead: Buffer.from(`GET /Path/${index} HTTP/1.1\r\nHost: www.example.org\r\n\r\n`),
    headers: new Map(Object.entries(headers)),
    body,
    protocol: index % 2 === 0 ? 'http/1.1' : 'h2',
    address: '192.0.2.1',
    wire: { up: 0, down: 0, firstByte: 0, total: 0 },
  };
  return { url, time: START + index * 1001, body, plain, response };
}

export function addPage(pack: Packer, page: TestPage): RecordPlace {
  const { url, time, response } = page;
  return pack.add({ url, time, digest: payloadDigest(page.body), response }, time % 2 === 0);
}

/** Pages `from` … `to - 1` as one parcel's member section. */
export function testParcel(from: number, to: number) {
  const pack = packer({ firstBytes: 1024 });
  const pages = Array.from({ length: to - from }, (_, i) => testPage(from + i));
  const places = pages.map(page => addPage(pack, page));
  return { pages, places, members: pack.take() };
}

/** A directory that goes when the test ends. */
export function temporary(context: TestContext): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'skein-archive-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Checks what a directory holds, and leaves no file open. */
export async function verified(directory: string): Promise<ArchiveCheck> {
  const segments = openDisk(directory);
  try {
    return await verifyArchive(segments);
  } finally {
    segments.close();
  }
}
