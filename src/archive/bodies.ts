/** When a record goes whose body others refer to, one of those takes the body over. */
import { appendMember, growing, peekMember } from '../errand/warc/gzip.ts';
import {
  archivedHead,
  dateOf,
  digestLabel,
  END,
  line,
  type Original,
  parseRecordHead,
  payloadDigest,
  recordMember,
} from '../errand/warc/warc.ts';
import type { Stored } from './read.ts';

/** Bytes of a member within which its record's header ends: room for two of the longest URLs. */
export const HEAD_BYTES = 10_240;

/** What a record refers to, read from the first bytes of its member; undefined = it has a body of its own, or is damaged. */
export function referenceIn(start: Uint8Array): Original | undefined {
  const seen = peekMember(start, HEAD_BYTES);
  const head = seen && parseRecordHead(seen);
  if (head?.kind !== 'head' || head.headers.get('warc-type') !== 'revisit') return undefined;
  const time = Date.parse(head.headers.get('warc-refers-to-date') ?? '');
  return { url: head.headers.get('warc-refers-to-target-uri') ?? '', time };
}

/** Makes a revisit a response that needs no other record. `from` holds the body that it referred to. */
export function withBody(revisit: Stored, from: Stored): Uint8Array {
  const { body } = from;
  const head = archivedHead(revisit.head, body.length);
  const address = revisit.record.get('warc-ip-address') ?? '';
  const truncated = from.record.get('warc-truncated');
  const text =
    `WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: ${revisit.record.get('warc-record-id')}\r\n` +
    `WARC-Payload-Digest: ${digestLabel(payloadDigest(body))}\r\n` +
    'Content-Type: application/http; msgtype=response\r\n' +
    `Content-Length: ${head.length + body.length}\r\nWARC-Date: ${dateOf(revisit.time)}\r\n` +
    `${truncated === undefined ? '' : line('WARC-Truncated', truncated)}` +
    `${line('WARC-Target-URI', revisit.url)}${address === '' ? '' : line('WARC-IP-Address', address)}\r\n`;
  const target = growing(body.length + 4096);
  appendMember(target, [Buffer.from(text), head, body, END], 'fast');
  return target.bytes.slice(0, target.length);
}

/** Makes a revisit refer to another record, which has the same body. */
export function referringTo(revisit: Stored, refersTo: Original): Uint8Array {
  const digest = Buffer.from(revisit.digest.replace(/^sha256:/, ''), 'hex');
  const address = revisit.record.get('warc-ip-address') ?? '';
  const { url, time, head } = revisit;
  const id = revisit.record.get('warc-record-id') ?? '';
  const profile = 'identical-payload-digest';
  return recordMember({ kind: 'revisit', id, time, url, address, profile, head, digest, refersTo }, 'stored');
}
