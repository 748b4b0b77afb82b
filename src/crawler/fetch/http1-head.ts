/**
 * The heads of HTTP/1.1, both ways: what we send for an ask, and what a response head says. Requests are built so
 * that nothing a page author chose (URL, validators) can add a line to them.
 */
import { addHeader } from '../../errand/header-lines.ts';
import type { Ask } from '../stages.ts';

/** Short, because it is sent with every request; whoever writes XHTML sends it as well for this. */
const defaultAccept = 'text/html,*/*;q=0.8';
/** Beyond this many header lines a response is an attack or a mistake. */
const maxLines = 512;

/** The server side of a URL, taken apart once per origin. */
export interface Target {
  readonly origin: string;
  readonly secure: boolean;
  /** Name or literal to resolve and connect to; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** Value of the Host header. */
  readonly authority: string;
}

export function parseTarget(origin: string): Target | undefined {
  let url: URL;
  try {
    url = new URL(origin);
  } catch {
    return undefined; // the caller answers bad-url
  }
  const secure = url.protocol === 'https:';
  if ((!secure && url.protocol !== 'http:') || url.hostname === '') return undefined;
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  return { origin, secure, host, port, authority: url.host };
}

/** Path and query of a normalised URL as the request line takes them; undefined when they would break the line. */
export function pathOf(url: string, origin: string): string | undefined {
  const hash = url.indexOf('#', origin.length);
  const path = hash < 0 ? url.slice(origin.length) : url.slice(origin.length, hash);
  if (path === '') return '/';
  return path.charCodeAt(0) === 0x2f && /^[\x21-\x7e]+$/.test(path) ? path : undefined;
}

/** The header lines that are the same for every request to a target; the caller keeps them with the origin. */
export function fixedLines(target: Target, userAgent: string): string {
  return (
    ` HTTP/1.1\r\nHost: ${target.authority}\r\nUser-Agent: ${userAgent}\r\n` +
    'Accept-Encoding: gzip, deflate, br, zstd\r\nAccept: '
  );
}

export function writeRequest(path: string, fixed: string, ask: Ask): Buffer {
  let text = `${ask.method ?? 'GET'} ${path}${fixed}${acceptOf(ask)}\r\n`;
  for (const [name, value] of conditions(ask)) text += `${name}: ${value}\r\n`;
  return Buffer.from(`${text}\r\n`, 'latin1');
}

const none: readonly (readonly [string, string])[] = [];

/** The conditional header lines of an ask. A validator that no server could have sent is left out, not escaped. */
export function conditions(ask: Ask): readonly (readonly [string, string])[] {
  if (ask.etag === undefined && ask.lastModified === undefined) return none;
  const lines: [string, string][] = [];
  if (ask.etag !== undefined && isFieldValue(ask.etag)) lines.push(['If-None-Match', ask.etag]);
  if (ask.lastModified !== undefined && isFieldValue(ask.lastModified))
    lines.push(['If-Modified-Since', ask.lastModified]);
  return lines;
}

export function acceptOf(ask: Ask): string {
  return ask.accept !== undefined && isFieldValue(ask.accept) ? ask.accept : defaultAccept;
}

export function isFieldValue(value: string): boolean {
  return value !== '' && /^[\x20-\x7e\x80-\xff\t]*$/.test(value);
}

export interface ResponseHead {
  readonly status: number;
  /** HTTP/1.1, as opposed to 1.0. */
  readonly modern: boolean;
  readonly headers: Map<string, string>;
}

/**
 * Reads a head (blank line included). Lines that are not headers are passed over, as browsers do, because they change
 * nothing; what would change where the body ends is judged by the reader. A string says why it is not HTTP.
 */
export function parseHead(text: string): ResponseHead | string {
  const status = statusOf(text);
  if (status < 0) return 'the status line is not HTTP';
  if (text.includes('\0')) return 'a NUL byte in the head';
  const headers = new Map<string, string>();
  let name = '';
  let lines = 0;
  let start = text.indexOf('\n') + 1;
  while (start < text.length) {
    const newline = text.indexOf('\n', start);
    const end = newline > start && text.charCodeAt(newline - 1) === 0x0d ? newline - 1 : newline;
    if (++lines > maxLines) return 'too many header lines';
    const first = text.charCodeAt(start);
    if (first === 0x20 || first === 0x09) {
      // An obsolete fold: the value goes on in this line.
      if (name !== '') headers.set(name, `${headers.get(name)} ${text.slice(start, end).trim()}`.trim());
    } else {
      name = addLine(headers, text, start, end);
    }
    start = newline + 1;
  }
  return { status, modern: text.charCodeAt(7) === 0x31, headers };
}

/** Returns the name of the header added, empty when the line is none. */
function addLine(headers: Map<string, string>, text: string, start: number, end: number): string {
  const colon = text.indexOf(':', start);
  if (colon <= start || colon >= end) return '';
  const name = text.slice(start, colon).trimEnd().toLowerCase();
  const value = text.slice(colon + 1, end).trim();
  addHeader(headers, name, value);
  return name;
}

/** Status of `HTTP/1.x NNN…`, -1 when the line is not that. */
function statusOf(text: string): number {
  if (!text.startsWith('HTTP/1.') || text.charCodeAt(8) !== 0x20) return -1;
  const minor = text.charCodeAt(7);
  const after = text.charCodeAt(12);
  if ((minor !== 0x30 && minor !== 0x31) || (after !== 0x20 && after !== 0x0d && after !== 0x0a)) return -1;
  let status = 0;
  for (let i = 9; i < 12; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    status = status * 10 + digit;
  }
  return status < 100 ? -1 : status;
}
