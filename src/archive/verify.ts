/** Checks the archive by itself; what the ledger says of it is checked by whoever has both. */
import { digestLabel, type ParsedRecord, parseHttp, payloadDigest } from '../errand/warc/warc.ts';
import { openReader } from './reader.ts';
import type { SegmentInfo, SegmentSource } from './store/segment-store.ts';

export interface ArchiveProblem {
  readonly segment: number;
  readonly offset: number;
  readonly problem: string;
}

/** A record that was read, with its place. */
export interface VerifiedRecord {
  readonly segment: number;
  readonly offset: number;
  readonly length: number;
  readonly record: ParsedRecord;
  /** Its payload matches its digest. */
  readonly whole: boolean;
}

export interface ArchiveCheck {
  readonly segments: number;
  readonly records: number;
  readonly bytes: number;
  /** Payload digests computed and compared. */
  readonly digests: number;
  /** Bytes of each segment that is there. */
  readonly lengths: ReadonlyMap<number, number>;
  /** Where the last whole record of each segment ends. */
  readonly ends: ReadonlyMap<number, number>;
  readonly problems: readonly ArchiveProblem[];
}

/** Problems that are listed: an archive with more is lost anyway. */
const PROBLEM_LIMIT = 1000;

/**
 * Every member decompresses to one record of the length it says, payload digests are right, record ids are unique
 * within a segment, each segment begins with a warcinfo record, and each revisit says what it refers to. Which segments
 * there should be is the ledger's to know. `ends`: up to where each segment is to be checked; what is behind that, or in
 * other segments, may just be being written. Undefined = all there is.
 */
export async function verifyArchive(
  source: SegmentSource,
  onRecord: (record: VerifiedRecord) => void = () => {},
  ends?: ReadonlyMap<number, number>,
): Promise<ArchiveCheck> {
  const problems: ArchiveProblem[] = [];
  const counts = { segments: 0, records: 0, bytes: 0, digests: 0 };
  const report = (problem: ArchiveProblem) => {
    if (problems.length < PROBLEM_LIMIT) problems.push(problem);
  };
  const lengths = new Map<number, number>();
  const whole = new Map<number, number>();
  for (const file of await source.list()) {
    const end = ends ? ends.get(file.id) : file.bytes;
    if (end === undefined) continue;
    const segment = { ...file, bytes: Math.min(file.bytes, end) };
    lengths.set(segment.id, file.bytes);
    counts.segments++;
    counts.bytes += segment.bytes;
    await verifySegment({ source, segment, report }, record => {
      counts.records++;
      whole.set(segment.id, record.offset + record.length);
      if (hasBody(record.record)) counts.digests++;
      onRecord(record);
    });
  }
  return { ...counts, lengths, ends: whole, problems };
}

interface SegmentCheck {
  readonly source: SegmentSource;
  readonly segment: SegmentInfo;
  readonly report: (problem: ArchiveProblem) => void;
}

/** Goes through one segment. */
async function verifySegment(
  { source, segment, report }: SegmentCheck,
  onRecord: (record: VerifiedRecord) => void = () => {},
): Promise<void> {
  const ids = new Set<string>();
  for await (const entry of openReader(source, segment)) {
    const { offset, length } = entry;
    const wrong = (problem: string) => report({ segment: segment.id, offset, problem });
    if (entry.kind === 'problem') {
      wrong(entry.problem);
      continue;
    }
    const { record } = entry;
    const type = record.headers.get('warc-type') ?? '';
    if ((offset === 0) !== (type === 'warcinfo')) wrong('a segment must begin with its only warcinfo record');
    const id = record.headers.get('warc-record-id') ?? '';
    if (!/^<urn:uuid:[0-9a-f-]{36}>$/.test(id)) wrong('no record id');
    else if (ids.has(id)) wrong('record id is not unique');
    ids.add(id);
    if (type !== 'warcinfo' && !record.headers.has('warc-target-uri')) wrong('no target URI');
    if (Number.isNaN(Date.parse(record.headers.get('warc-date') ?? ''))) wrong('no date');
    if (type === 'revisit' && !record.headers.has('warc-refers-to-date'))
      wrong('a revisit record does not say which record it refers to');
    const flaw = hasBody(record) ? flawOf(record) : undefined;
    if (flaw !== undefined) wrong(flaw);
    onRecord({ segment: segment.id, offset, length, record, whole: flaw === undefined });
  }
}

function hasBody({ headers }: ParsedRecord): boolean {
  const type = headers.get('warc-type');
  return type === 'response' || type === 'resource';
}

function flawOf(response: ParsedRecord): string | undefined {
  const isHttp = response.headers.get('warc-type') === 'response';
  const body = isHttp ? parseHttp(response.block)?.body : response.block;
  if (body === undefined) return 'a response is not HTTP';
  const right = response.headers.get('warc-payload-digest') === digestLabel(payloadDigest(body));
  return right ? undefined : 'the payload digest does not match';
}
