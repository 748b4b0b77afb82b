/** Stored records out of the archive again: as one WARC file, or page by page for other formats. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { appendMember, growing } from '../errand/warc/gzip.ts';
import { newRecordId, type ParsedRecord, parseRecord, recordMember } from '../errand/warc/warc.ts';
import { mediaType, type Stored, storedOf } from './read.ts';
import { openReader, type ReadEntry } from './reader.ts';
import { listSegments } from './segments.ts';

/** One response or revisit. */
export interface StoredPage {
  readonly kind: 'response' | 'revisit';
  readonly url: string;
  readonly time: number;
  readonly status: number;
  readonly mediaType: string;
  readonly digest: string;
  readonly segment: number;
  readonly offset: number;
  readonly stored: Stored;
}

/** What a filter may look at: an index line has as much. */
export type Candidate = Pick<StoredPage, 'url' | 'time' | 'segment' | 'offset'>;
export type Filter = (page: Candidate) => boolean;

export interface ExportOptions {
  /** Default: everything. The original that a revisit refers to comes along, so that the file is whole by itself. */
  readonly filter?: Filter;
  /** `1.0` for readers that know nothing newer (libarchive): dates lose their milliseconds. Default `1.1`. */
  readonly version?: '1.0' | '1.1';
  /** Both are named in the file's first record. */
  readonly filename?: string;
  readonly software?: string;
}

/** All stored responses and revisits, oldest segment first. Damaged records are passed over; verify reports them. */
export async function* storedPages(directory: string): AsyncGenerator<StoredPage> {
  for await (const { page } of pairs(directory)) yield page;
}

/** Writes one .warc.gz with the pages that pass, each with its request; returns how many pages. */
export async function exportWarc(directory: string, out: Writable, options: ExportOptions = {}): Promise<number> {
  const { filter = () => true, version = '1.1', filename = 'export.warc.gz', software = 'Skein' } = options;
  const lines = new Map([
    ['software', software],
    ['format', `WARC File Format ${version}`],
  ]);
  const asked = (entry: Bytes) => (version === '1.0' ? downgraded(entry) : entry.member);
  await write(out, asked(infoEntry(filename, lines)));
  const originals = options.filter ? await originalsOf(directory, options.filter) : new Set<string>();
  let count = 0;
  for await (const { page, request, response } of pairs(directory)) {
    if (!filter(page) && !originals.has(`${page.time} ${page.url}`)) continue;
    if (request) await write(out, asked(request));
    await write(out, asked(response));
    count++;
  }
  return count;
}

/** Time and URL of each copy that a revisit among the chosen ones refers to. */
async function originalsOf(directory: string, filter: Filter): Promise<Set<string>> {
  const originals = new Set<string>();
  for await (const { page, response } of pairs(directory)) {
    if (page.kind !== 'revisit' || !filter(page)) continue;
    const { headers } = response.record;
    const time = Date.parse(headers.get('warc-refers-to-date') ?? '');
    originals.add(`${time} ${headers.get('warc-refers-to-target-uri')}`);
  }
  return originals;
}

type RecordEntry = Extract<ReadEntry, { kind: 'record' }>;

interface Pair {
  readonly page: StoredPage;
  /** The request stands right before its response. */
  readonly request: RecordEntry | undefined;
  readonly response: RecordEntry;
}

async function* pairs(directory: string): AsyncGenerator<Pair> {
  for (const segment of listSegments(directory)) {
    let before: RecordEntry | undefined;
    for await (const entry of openReader(segment.file, { end: segment.bytes })) {
      if (entry.kind === 'problem') continue;
      const kind = entry.record.headers.get('warc-type');
      if (kind === 'response' || kind === 'revisit') {
        const stored = storedOf(entry.record);
        const { url, time, status, digest, headers } = stored;
        const request = isRequestOf(before, entry) ? before : undefined;
        const at = { segment: segment.id, offset: entry.offset };
        const page = { ...at, kind, url, time, status, mediaType: mediaType(headers), digest, stored } as const;
        yield { page, request, response: entry };
      }
      before = entry;
    }
  }
}

function isRequestOf(before: RecordEntry | undefined, response: RecordEntry): boolean {
  return before?.record.headers.get('warc-concurrent-to') === response.record.headers.get('warc-record-id');
}

/** Waits when the receiver is slower than the disk. */
async function write(out: Writable, bytes: Uint8Array): Promise<void> {
  if (!out.write(bytes)) await once(out, 'drain');
}

type Bytes = Pick<RecordEntry, 'member' | 'data' | 'record'>;

function infoEntry(filename: string, lines: ReadonlyMap<string, string>): Bytes {
  const member = recordMember({ kind: 'warcinfo', id: newRecordId(), time: Date.now(), filename, lines }, 'stored');
  const data = gunzipSync(member);
  return { member, data, record: parseRecord(data) as ParsedRecord };
}

/** The same record as WARC 1.0 has it. Recompressed, since its header changes. */
function downgraded(entry: Bytes): Uint8Array {
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
