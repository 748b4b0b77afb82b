/**
 * Makes a parcel ready for the way home from another machine: the WARC members are opened, bodies lose their content
 * coding (compressed bytes share nothing with those of an older version), and what home can find out by itself is left
 * out. The header keeps the coding's name as `X-Archive-Orig-Content-Encoding`, as it does for other lines that no
 * longer describe the stored bytes.
 */

import { SkeinError } from '../../base/errors.ts';
import type { Errand } from '../../errand/errand.ts';
import type { Parcel } from '../../errand/parcel.ts';
import type { RecordPlace, Visit } from '../../errand/visit.ts';
import { decodeBody } from '../../errand/warc/decode.ts';
import { readMember } from '../../errand/warc/gzip.ts';
import { archivedHead, type HttpMessage, type ParsedRecord, parseHttp, parseRecord } from '../../errand/warc/warc.ts';
import { type Sent, type SentPage, type SentVisit, withoutDerived } from '../../transfer/wire/wire-visit.ts';

const RECORD_LIMIT = 2 ** 28;

export function recode(parcel: Parcel, errand: Errand): Sent {
  const visits = parcel.visits.map(visit => recodeVisit(visit, parcel.members, errand));
  return { visits, ...(parcel.server && { server: parcel.server }) };
}

function recodeVisit(visit: Visit, members: Uint8Array, errand: Errand): SentVisit {
  const { record, ...bare } = visit;
  if (!record) return { visit: bare };
  const page = readPage(members, record, errand);
  // Home reads all of it from the page. Only the look and code of an image are worth sending: they take long to find out.
  const look = visit.cost.cause === 'image' && visit.facts ? { facts: visit.facts } : undefined;
  return { visit: { ...withoutDerived(visit), ...look }, page };
}

function readPage(members: Uint8Array, place: RecordPlace, errand: Errand): SentPage {
  const middle = place.offset + place.requestLength;
  const request = lastRecord(members.subarray(place.offset, middle));
  const response = recordAt(members.subarray(middle, place.offset + place.length));
  const message = parseHttp(response.block);
  if (!message) throw new SkeinError('internal', 'A page in a parcel is not HTTP.');
  const { headers } = response;
  const truncated = headers.get('warc-truncated') ?? '';
  const decoded = truncated === '' ? uncoded(message, errand) : undefined;
  const body = decoded ?? message.body;
  const head = decoded ? Buffer.from(renamed(message.head), 'latin1') : message.head;
  return {
    protocol: headers.get('warc-protocol') ?? '',
    address: headers.get('warc-ip-address') ?? '',
    truncated,
    requestHead: request.block,
    head: archivedHead(head, body.length),
    body,
  };
}

/** The body without its content coding; undefined = it has none, or cannot be had whole. */
function uncoded({ headers, body }: HttpMessage, errand: Errand): Uint8Array | undefined {
  const coding = headers.get('content-encoding');
  if (coding === undefined) return undefined;
  const decoded = decodeBody(body, coding, { bodyBytes: errand.limits.bodyBytes });
  return decoded.kind === 'ok' && decoded.truncated === undefined ? decoded.bytes : undefined;
}

function renamed(head: Uint8Array): string {
  const text = Buffer.from(head).toString('latin1');
  return text.replace(/\ncontent-encoding(?=[ \t]*:)/gi, '\nX-Archive-Orig-Content-Encoding');
}

/** What stands right before the response. Parts of a page that stand before that do not travel. */
function lastRecord(members: Uint8Array): ParsedRecord {
  for (let rest = members; ; ) {
    const read = readMember(rest, RECORD_LIMIT);
    if (read.kind !== 'member' || read.length === rest.length) return recordAt(rest);
    rest = rest.subarray(read.length);
  }
}

function recordAt(member: Uint8Array): ParsedRecord {
  const read = readMember(member, RECORD_LIMIT);
  const record = read.kind === 'member' ? parseRecord(read.data) : undefined;
  if (record?.kind !== 'record') throw new SkeinError('internal', 'A page in a parcel cannot be read back.');
  return record;
}
