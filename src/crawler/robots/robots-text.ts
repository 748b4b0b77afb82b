/** robots.txt as it came, as text that can be kept: whole up to the limit, or not at all. */
import { isUtf8 } from 'node:buffer';
import { decodeBody } from '../../errand/warc/decode.ts';
import type { Response } from '../stages.ts';
import { ROBOTS_LIMIT } from './robots.ts';

const LINE_FEED = 10;
const RETURN = 13;

/**
 * Undefined: what came is not what the server meant to send (it broke off, or its coding is broken), so that the rules are
 * as unknown as if nothing had come (RFC 9309 §2.3.1.4). What is longer than the limit loses the line across the border:
 * half a rule is another rule.
 */
export function robotsText({ body, headers, truncated }: Response): string | undefined {
  if (truncated === 'time' || truncated === 'disconnect') return undefined;
  const decoded = decodeBody(body, headers.get('content-encoding'), { bodyBytes: 2 * ROBOTS_LIMIT });
  if (decoded.kind === 'failed' || decoded.doubtful) return undefined;
  if (decoded.truncated === 'input' && truncated !== 'length') return undefined;
  const { bytes } = decoded;
  const cut = truncated === 'length' || decoded.truncated !== undefined || bytes.length > ROBOTS_LIMIT;
  return textOf(cut ? wholeLines(bytes.subarray(0, ROBOTS_LIMIT)) : bytes);
}

function wholeLines(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, Math.max(bytes.lastIndexOf(LINE_FEED), bytes.lastIndexOf(RETURN)) + 1);
}

/**
 * Rules are compared as octets. Text that is not UTF-8 (Latin-1, mostly) would lose them, so each that is not ASCII is
 * written as a URL writes it, which means the same.
 */
function textOf(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isUtf8(buffer)) return buffer.toString('utf8');
  return buffer
    .toString('latin1')
    .replace(/[\x80-\xff]/g, octet => `%${octet.charCodeAt(0).toString(16).toUpperCase()}`);
}
