/**
 * What was exchanged besides the page itself to make it: redirects that a fetcher followed, what a browser asked for. Each
 * exchange is request and response, as with a page, and stands before the page's own request. Its response names that of
 * the page in `Skein-Part-Of`, so that nobody takes it for a page of the ledger's.
 */

import { appendMember, type Effort, type Growing } from './gzip.ts';
import { archivedHead, dateOf, digestLabel, END, line, newRecordId, payloadDigest } from './warc.ts';

/** One request and its answer, of several that made a page. */
export interface PartExchange {
  readonly url: string;
  /** When the answer was complete, milliseconds since 1970. */
  readonly time: number;
  readonly response: KeptResponse;
}

export interface KeptResponse {
  /** IP address of the server, empty = unknown. */
  readonly address: string;
  /** `http/1.1`, `h2`; empty = unknown. */
  readonly protocol: string;
  /** The request as sent, blank line included. */
  readonly requestHead: Uint8Array;
  /** Status line and header lines as received, blank line included. */
  readonly head: Uint8Array;
  /** What the lines say, where they have been read. */
  readonly headers?: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
  readonly truncated?: 'length' | 'time' | 'disconnect' | undefined;
}

/** The header of a response that is part of a page's, in lower case. */
export const PART_OF = 'skein-part-of';

/** `id`: of the page's response, with its brackets. */
export function appendPart(target: Growing, { url, time, response }: PartExchange, id: string, effort: Effort): void {
  const { requestHead, body, address, protocol, truncated } = response;
  const head = archivedHead(response.head, body.length);
  const own = newRecordId();
  const common =
    `WARC-Date: ${dateOf(time)}\r\n${line('WARC-Target-URI', url)}` +
    (address === '' ? '' : line('WARC-IP-Address', address));
  const request = recordHead('request', newRecordId(), `WARC-Concurrent-To: ${own}\r\n${common}`, requestHead.length);
  appendMember(target, [request, requestHead, END], 'stored');
  const about =
    `${line('Skein-Part-Of', id)}WARC-Payload-Digest: ${digestLabel(payloadDigest(body))}\r\n` +
    (protocol === '' ? '' : line('WARC-Protocol', protocol)) +
    (truncated === undefined ? '' : line('WARC-Truncated', truncated));
  appendMember(
    target,
    [recordHead('response', own, about + common, head.length + body.length), head, body, END],
    effort,
  );
}

function recordHead(kind: 'request' | 'response', id: string, lines: string, length: number): Uint8Array {
  return Buffer.from(
    `WARC/1.1\r\nWARC-Type: ${kind}\r\nWARC-Record-ID: ${id}\r\n${lines}` +
      `Content-Type: application/http; msgtype=${kind}\r\nContent-Length: ${length}\r\n\r\n`,
  );
}
