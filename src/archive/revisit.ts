/** Exact duplicates: a response whose body the archive has already becomes a revisit record. */
import { peekMember, readMember } from '../errand/warc/gzip.ts';
import { type Original, parseHttp, parseRecordHead, recordMember } from '../errand/warc/warc.ts';

/** Covers the record's own header and that of nearly every server. */
const PEEK_BYTES = 8192;
const MEMBER_LIMIT = 2 ** 28;

/**
 * The revisit member for a response member: same URL, time, address, digest and HTTP header, no body. Undefined when
 * the member is not a response that can be read; the caller then keeps it as it is, which is never wrong.
 */
export function revisitOf(response: Uint8Array, refersTo: Original): Uint8Array | undefined {
  const head = headOf(response);
  if (head === undefined || head.headers.get('warc-type') !== 'response') return undefined;
  const digest = /^sha256:([0-9a-f]{64})$/.exec(head.headers.get('warc-payload-digest') ?? '')?.[1];
  const time = Date.parse(head.headers.get('warc-date') ?? '');
  const url = head.headers.get('warc-target-uri');
  const id = head.headers.get('warc-record-id');
  if (id === undefined || digest === undefined || url === undefined || Number.isNaN(time)) return undefined;
  return recordMember(
    {
      kind: 'revisit',
      id, // the response's own: the request before it names that
      time,
      url,
      address: head.headers.get('warc-ip-address') ?? '',
      profile: 'identical-payload-digest',
      head: head.http,
      digest: Buffer.from(digest, 'hex'),
      refersTo,
    },
    'stored',
  );
}

interface RecordHeads {
  readonly headers: ReadonlyMap<string, string>;
  readonly http: Uint8Array;
}

/** The first bytes nearly always do, and cost a tenth of the whole. */
function headOf(member: Uint8Array): RecordHeads | undefined {
  const seen = split(peekMember(member, PEEK_BYTES));
  if (seen) return seen;
  const read = readMember(member, MEMBER_LIMIT);
  return read.kind === 'member' ? split(read.data) : undefined;
}

function split(data: Uint8Array | undefined): RecordHeads | undefined {
  const head = data && parseRecordHead(data);
  if (data === undefined || head?.kind !== 'head') return undefined;
  const message = parseHttp(data.subarray(head.start, head.start + head.length));
  return message && { headers: head.headers, http: message.head };
}
