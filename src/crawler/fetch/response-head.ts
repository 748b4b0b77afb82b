/**
 * What the head of an HTTP/1.x response says. A server sends nearly the same lines with every answer, so a reader
 * remembers those of the last head and takes a line apart only where it differs: half the time for eight lines, of
 * which four are the same and the others differ in their values.
 */
import { addHeader } from '../../errand/header-lines.ts';

/** Beyond this many header lines a response is an attack or a mistake. */
const maxLines = 512;
/** Lines remembered, of heads of so many characters: each may keep the whole head alive that it was cut out of. */
const maxRemembered = 24;
const maxRememberedHead = 2048;

export interface ResponseHead {
  readonly status: number;
  /** HTTP/1.1, as opposed to 1.0. */
  readonly modern: boolean;
  readonly headers: Map<string, string>;
}

interface HeaderLine {
  /** With its newline, and up to its colon. */
  readonly text: string;
  readonly start: string;
  readonly name: string;
  readonly value: string;
}

/** Reads the heads of one connection, one after another. */
export class HeadReader {
  /** Of the last head, by their place in it. */
  readonly #lines: (HeaderLine | undefined)[] = [];

  /**
   * Reads a head (blank line included). Lines that are not headers are passed over, as browsers do, because they change
   * nothing; what would change where the body ends is judged by the caller. A string says why it is not HTTP.
   */
  read(text: string): ResponseHead | string {
    const status = statusOf(text);
    if (status < 0) return 'the status line is not HTTP';
    if (text.includes('\0')) return 'a NUL byte in the head';
    const headers = new Map<string, string>();
    const remembered = text.length <= maxRememberedHead ? maxRemembered : 0;
    let name = '';
    let start = text.indexOf('\n') + 1;
    for (let at = 0; start < text.length; at++) {
      if (at === maxLines) return 'too many header lines';
      const known = this.#lines[at];
      if (known !== undefined && text.startsWith(known.text, start)) {
        name = known.name;
        addHeader(headers, name, known.value);
        start += known.text.length;
        continue;
      }
      const newline = text.indexOf('\n', start);
      const first = text.charCodeAt(start);
      if (first === 0x20 || first === 0x09) {
        // An obsolete fold: the value goes on in this line.
        if (name !== '') headers.set(name, `${headers.get(name)} ${text.slice(start, newline).trim()}`.trim());
      } else {
        const line = lineOf(text.slice(start, newline + 1), known);
        if (line !== undefined) addHeader(headers, line.name, line.value);
        if (at < remembered) this.#lines[at] = line;
        name = line?.name ?? '';
      }
      start = newline + 1;
    }
    return { status, modern: text.charCodeAt(7) === 0x31, headers };
  }
}

/** Undefined when the line is no header. `before`: the line that stood in its place. */
function lineOf(text: string, before: HeaderLine | undefined): HeaderLine | undefined {
  if (before !== undefined && text.startsWith(before.start)) {
    return { text, start: before.start, name: before.name, value: text.slice(before.start.length).trim() };
  }
  const colon = text.indexOf(':');
  if (colon <= 0) return undefined;
  const name = text.slice(0, colon).trimEnd().toLowerCase();
  return { text, start: text.slice(0, colon + 1), name, value: text.slice(colon + 1).trim() };
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
