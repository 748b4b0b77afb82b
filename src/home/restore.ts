/**
 * The end of a parcel's way from another machine: pages become WARC records again, and what the outpost left out is read
 * from them. Runs in a thread of its own (unpack-thread.ts): home's thread neither parses nor compresses.
 */
import { hash } from 'node:crypto';
import { SkeinError } from '../base/errors.ts';
import { derive } from '../crawler/derive.ts';
import type { Errand } from '../errand/errand.ts';
import { type Growing, growing } from '../errand/gzip.ts';
import type { Parcel } from '../errand/parcel.ts';
import type { RecordPlace, Visit } from '../errand/visit.ts';
import { appendRecord, newRecordId, parseHttp, type ResponseRecord } from '../errand/warc.ts';
import { derivedCheck, type Sent, type SentPage, type SentVisit } from '../transfer/sent.ts';

/** Below this, or where it would not shrink, a body is stored as it is. */
const SMALL_BODY = 512;
const TEXT = /^(?:text\/|image\/svg|application\/(?:[\w.-]+\+)?(?:xml|json|javascript|xhtml))/;

export interface ParcelName {
  readonly sequence: number;
  readonly done: boolean;
}

export function restoreParcel(sent: Sent, errand: Errand, name: ParcelName, agentToken: string): Parcel {
  const members = growing(1 << 20);
  const visits = sent.visits.map(each => restoreVisit(each, errand, members, agentToken));
  return {
    errand: errand.id,
    sequence: name.sequence,
    done: name.done,
    visits,
    members: members.bytes.slice(0, members.length),
    ...(sent.server && { server: sent.server }),
  };
}

function restoreVisit(sent: SentVisit, errand: Errand, members: Growing, agentToken: string): Visit {
  const { visit, page } = sent;
  if (!page) return visit;
  const digest = hash('sha256', page.body, 'buffer');
  const record = appendPage(members, visit, page, digest);
  if (sent.derive === undefined) return { ...visit, record };
  const headers = parseHttp(Buffer.concat([page.head, page.body.subarray(0, 1)]))?.headers;
  if (!headers) throw new SkeinError('bad-frame', 'A page in a parcel has no header.');
  const raw = page.raw.length === 16 ? page.raw : digest.subarray(0, 16);
  const derived = derive({ url: visit.url, headers, body: page.body, raw }, errand, agentToken);
  if (derivedCheck(derived) !== sent.derive) {
    throw new SkeinError('not-found', `${visit.url} does not say here what it said at the outpost.`);
  }
  return { ...visit, ...derived, record };
}

function appendPage(members: Growing, visit: Visit, page: SentPage, digest: Uint8Array): RecordPlace {
  const { url, time } = visit;
  const { address, protocol, head, body, truncated, requestHead } = page;
  const offset = members.length;
  const id = newRecordId();
  const request = {
    kind: 'request',
    id: newRecordId(),
    time,
    url,
    address,
    head: requestHead,
    concurrentTo: id,
  } as const;
  const requestLength = appendRecord(members, request, 'stored');
  const cut = truncated === 'length' || truncated === 'time' || truncated === 'disconnect' ? truncated : undefined;
  const response: ResponseRecord = {
    kind: 'response',
    id,
    time,
    url,
    address,
    protocol,
    head,
    body,
    digest,
    truncated: cut,
  };
  // Small effort: this thread has time, and the archive is for long.
  const text = body.length >= SMALL_BODY && TEXT.test(typeOf(head));
  const length = appendRecord(members, response, text ? 'small' : 'stored');
  return { offset, length: requestLength + length, requestLength };
}

function typeOf(head: Uint8Array): string {
  return /\ncontent-type[ \t]*:[ \t]*([^\r\n;]*)/i.exec(Buffer.from(head).toString('latin1'))?.[1]?.toLowerCase() ?? '';
}
