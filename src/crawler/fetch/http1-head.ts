/**
 * The heads that we send: request line and header lines of HTTP/1.1 for an ask, built so that nothing a page author
 * chose (URL, validators) can add a line to them.
 */
import type { Ask } from '../stages.ts';

/** Short, because it is sent with every request; whoever writes XHTML sends it as well for this. */
const defaultAccept = 'text/html,*/*;q=0.8';

const CODINGS = 'gzip, deflate, br, zstd';
/** Zstandard against a dictionary that both ends hold (RFC 9842). */
const DIFFERENCE = 'dcz';

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
    ` HTTP/1.1\r\nHost: ${target.authority}\r\nUser-Agent: ${userAgent}\r\n` + `Accept-Encoding: ${CODINGS}\r\nAccept: `
  );
}

export function writeRequest(path: string, fixed: string, ask: Ask): Buffer {
  const codings = `\r\nAccept-Encoding: ${CODINGS}`;
  const lines = ask.dictionary === undefined ? fixed : fixed.replace(codings, `${codings}, ${DIFFERENCE}`);
  let text = `${ask.method ?? 'GET'} ${path}${lines}${acceptOf(ask)}\r\n`;
  for (const [name, value] of conditions(ask)) text += `${name}: ${value}\r\n`;
  for (const [name, value] of extras(ask)) text += `${name}: ${value}\r\n`;
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

export function codingsOf(ask: Ask): string {
  return ask.dictionary === undefined ? CODINGS : `${CODINGS}, ${DIFFERENCE}`;
}

/** What says who asks, which version is held here, and what the body is that goes along. */
export function extras(ask: Ask): readonly (readonly [string, string])[] {
  const { content, authorization, dictionary } = ask;
  if (content === undefined && authorization === undefined && dictionary === undefined) return ask.headers ?? none;
  const lines: (readonly [string, string])[] = [...(ask.headers ?? none)];
  if (dictionary !== undefined && isFieldValue(dictionary)) lines.push(['Available-Dictionary', dictionary]);
  if (ask.authorization !== undefined && isFieldValue(ask.authorization))
    lines.push(['Authorization', ask.authorization]);
  if (ask.content === undefined) return lines;
  if (isFieldValue(ask.content.type)) lines.push(['Content-Type', ask.content.type]);
  lines.push(['Content-Length', String(ask.content.bytes.length)]);
  return lines;
}

export function acceptOf(ask: Ask): string {
  return ask.accept !== undefined && isFieldValue(ask.accept) ? ask.accept : defaultAccept;
}

export function isFieldValue(value: string): boolean {
  return value !== '' && /^[\x20-\x7e\x80-\xff\t]*$/.test(value);
}
