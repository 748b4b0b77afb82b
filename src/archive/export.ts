/** Takes stored records out of the archive: as one WARC file, or page by page for other formats. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { appendMember, growing } from '../errand/warc/gzip.ts';
import { PART_OF } from '../errand/warc/part-records.ts';
import { dateOf, END, line, newRecordId, type ParsedRecord, parseRecord, recordMember } from '../errand/warc/warc.ts';
import { mediaType, type Stored, storedOf } from './read.ts';
import { openReader, type ReadEntry } from './reader.ts';
import type { SegmentSource } from './store/segment-store.ts';

/** One response or revisit. */
interface ArchivedPage {
  /** `resource`: it came through the site's own face, not as an answer to a request. */
  readonly kind: 'response' | 'revisit' | 'resource';
  readonly url: string;
  readonly time: number;
  readonly status: number;
  readonly mediaType: string;
  readonly digest: string;
  readonly segment: number;
  readonly offset: number;
  readonly stored: Stored;
}

/** What a filter may look at: all of it is in an index line. */
export type ExportCandidate = Pick<ArchivedPage, 'url' | 'time' | 'segment' | 'offset'>;
export type Filter = (page: ExportCandidate) => boolean;

interface WarcOptions {
  /** `1.0` for readers that know nothing newer (libarchive): dates lose their milliseconds. Default `1.1`. */
  readonly version?: '1.0' | '1.1';
  /** Both are named in the file's first record. */
  readonly filename?: string;
  readonly software?: string;
}

/** An archive, and which of its pages to export. */
export interface ExportedArchive {
  readonly source: SegmentSource;
  /** Default: everything. The original that a revisit refers to comes along, so that the file is whole by itself. */
  readonly filter?: Filter | undefined;
  /** Copies kept as deltas because they differ from a stored version only by noise; they come last. */
  readonly followed?: AsyncIterable<Stored> | undefined;
}

/** All stored responses and revisits, oldest segment first. Damaged records are passed over; verify reports them. */
export async function* archivedPages(source: SegmentSource): AsyncGenerator<ArchivedPage> {
  for await (const { page } of pages(source)) yield page;
}

/** Writes one .warc.gz with the pages that pass, archive after archive, each page with its request; returns how many. */
export async function exportWarcs(
  archives: readonly ExportedArchive[],
  out: Writable,
  options: WarcOptions = {},
): Promise<number> {
  const { version = '1.1', filename = 'export.warc.gz', software = 'Skein' } = options;
  const lines = new Map([
    ['software', software],
    ['format', `WARC File Format ${version}`],
  ]);
  const asked = (entry: RecordBytes) => (version === '1.0' ? downgraded(entry) : entry.member);
  await write(out, asked(infoEntry(filename, lines)));
  let count = 0;
  for (const { source, filter, followed } of archives) {
    const originals = filter ? await originalsOf(source, filter) : new Set<string>();
    for await (const { page, before, response } of pages(source)) {
      if (filter && !filter(page) && !originals.has(`${page.time} ${page.url}`)) continue;
      for (const record of before) await write(out, asked(record));
      await write(out, asked(response));
      count++;
    }
    for await (const copy of followed ?? []) {
      await write(out, asked(responseEntry(copy)));
      count++;
    }
  }
  return count;
}

/** Time and URL of each copy that a revisit among the chosen ones refers to. */
async function originalsOf(source: SegmentSource, filter: Filter): Promise<Set<string>> {
  const originals = new Set<string>();
  for await (const { page, response } of pages(source)) {
    if (page.kind !== 'revisit' || !filter(page)) continue;
    const { headers } = response.record;
    const time = Date.parse(headers.get('warc-refers-to-date') ?? '');
    originals.add(`${time} ${headers.get('warc-refers-to-target-uri')}`);
  }
  return originals;
}

type RecordEntry = Extract<ReadEntry, { kind: 'record' }>;

interface PageRecords {
  readonly page: ArchivedPage;
  /** Exchanges that are parts of the page, and its request, in the order in which they stand before the response. */
  readonly before: readonly RecordEntry[];
  readonly response: RecordEntry;
}

async function* pages(source: SegmentSource): AsyncGenerator<PageRecords> {
  for (const segment of await source.list()) {
    let before: RecordEntry[] = [];
    for await (const entry of openReader(source, segment)) {
      if (entry.kind === 'problem') continue;
      const { headers } = entry.record;
      const kind = headers.get('warc-type');
      const isPage = (kind === 'response' || kind === 'revisit' || kind === 'resource') && !headers.has(PART_OF);
      if (!isPage) {
        before.push(entry);
        continue;
      }
      const stored = storedOf(entry.record);
      const { url, time, status, digest } = stored;
      const at = { segment: segment.id, offset: entry.offset };
      const page = { ...at, kind, url, time, status, mediaType: mediaType(stored.headers), digest, stored } as const;
      yield { page, before: belonging(before, entry), response: entry };
      before = [];
    }
  }
}

/** The records between two pages that belong to the second. */
function belonging(before: readonly RecordEntry[], response: RecordEntry): RecordEntry[] {
  const id = response.record.headers.get('warc-record-id');
  const wanted = new Set(id === undefined ? [] : [id]);
  const found: RecordEntry[] = [];
  for (const entry of before.toReversed()) {
    const { headers } = entry.record;
    const isPart = wanted.has(headers.get(PART_OF) ?? '');
    if (!isPart && !wanted.has(headers.get('warc-concurrent-to') ?? '')) continue;
    if (isPart) wanted.add(headers.get('warc-record-id') ?? '');
    found.unshift(entry);
  }
  return found;
}

/** Waits when the receiver is slower than the disk. */
async function write(out: Writable, bytes: Uint8Array): Promise<void> {
  if (!out.write(bytes)) await once(out, 'drain');
}

type RecordBytes = Pick<RecordEntry, 'member' | 'data' | 'record'>;

function infoEntry(filename: string, lines: ReadonlyMap<string, string>): RecordBytes {
  const member = recordMember({ kind: 'warcinfo', id: newRecordId(), time: Date.now(), filename, lines }, 'stored');
  const data = gunzipSync(member);
  return { member, data, record: parseRecord(data) as ParsedRecord };
}

/** A response that was fetched and kept as a delta: without content coding, and without its request. */
function responseEntry({ url, time, digest, head, body }: Stored): RecordBytes {
  const lines = [
    `WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: ${newRecordId()}\r\nWARC-Date: ${dateOf(time)}\r\n`,
    line('WARC-Target-URI', url),
    line('WARC-Payload-Digest', digest),
    `Content-Type: application/http; msgtype=response\r\nContent-Length: ${head.length + body.length}\r\n\r\n`,
  ];
  const data = Buffer.concat([Buffer.from(lines.join('')), head, body, END]);
  const target = growing(data.length + 1024);
  appendMember(target, [data], 'fast');
  return { member: target.bytes.subarray(0, target.length), data, record: parseRecord(data) as ParsedRecord };
}

/** The same record as WARC 1.0 has it. Recompressed, since its header changes. */
function downgraded(entry: RecordBytes): Uint8Array {
  const start = entry.data.length - entry.record.block.length - END_BYTES;
  const head = Buffer.from(entry.data.subarray(0, start))
    .toString('utf8')
    .replace(/^WARC\/1\.1/, 'WARC/1.0')
    .replace(/^(WARC-(?:Refers-To-)?Date: [-\d]+T[\d:]+)\.\d+Z/gim, '$1Z')
    .replace('//netpreserve.org/warc/1.1/revisit/', '//netpreserve.org/warc/1.0/revisit/');
  const target = growing(entry.data.length + 1024);
  appendMember(target, [Buffer.from(head), entry.data.subarray(start)], 'fast');
  return target.bytes.subarray(0, target.length);
}

/** The blank lines behind a record's block. */
const END_BYTES = 4;
