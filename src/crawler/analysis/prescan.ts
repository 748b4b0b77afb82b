/**
 * The HTML standard's prescan: the first meta element of some bytes that names an encoding. It looks at bytes as they are,
 * and makes a string of nothing but a value that may name one: most pages pass through here, and as text the same took
 * twice as long.
 */

/** What the attributes of a meta element say, as places in the bytes; -1 = not there. The first of a name counts. */
interface Attributes {
  charset: number;
  charsetEnd: number;
  httpEquiv: number;
  httpEquivEnd: number;
  content: number;
  contentEnd: number;
}

/** Of the element that is being read. */
const found: Attributes = { charset: -1, charsetEnd: 0, httpEquiv: -1, httpEquivEnd: 0, content: -1, contentEnd: 0 };

/** The encoding that the bytes name for themselves. */
export function prescan(bytes: Uint8Array): string | undefined {
  const { length } = bytes;
  let at = 0;
  while ((at = indexOf(bytes, LESS, at)) >= 0) {
    // Too few bytes for an element that says anything; to read beyond the end would slow down all that follow.
    if (at + 5 >= length) return undefined;
    const next = bytes[at + 1]!;
    if (next === EXCLAMATION && bytes[at + 2] === HYPHEN && bytes[at + 3] === HYPHEN) {
      at = afterComment(bytes, at + 2);
    } else if (isMeta(bytes, at)) {
      found.charset = found.httpEquiv = found.content = -1;
      at = readAttributes(bytes, at + 5, true);
      // A tag that the bytes do not show whole says nothing.
      const name = at < 0 ? undefined : metaEncoding(bytes);
      if (name !== undefined) return name;
    } else if (isLetter(next === SLASH ? bytes[at + 2]! : next)) {
      at++;
      while (at < length && bytes[at] !== GREATER && !isSpace(bytes[at]!)) at++;
      at = readAttributes(bytes, at, false);
    } else if (next === EXCLAMATION || next === SLASH || next === QUESTION) {
      at = indexOf(bytes, GREATER, at);
    } else at++;
    if (at < 0) return undefined;
  }
  return undefined;
}

/** By hand, as everything here: the way into the library takes longer than the few bytes to the next tag. */
function indexOf(bytes: Uint8Array, byte: number, from: number): number {
  const { length } = bytes;
  for (let at = from; at < length; at++) if (bytes[at] === byte) return at;
  return -1;
}

/** Behind `-->`, whose hyphens may be those with which the comment began; -1 when it does not end. */
function afterComment(bytes: Uint8Array, from: number): number {
  for (let at = from + 2; (at = indexOf(bytes, GREATER, at)) >= 0; at++) {
    if (bytes[at - 1] === HYPHEN && bytes[at - 2] === HYPHEN) return at + 1;
  }
  return -1;
}

function metaEncoding(bytes: Uint8Array): string | undefined {
  if (found.charset >= 0) return meaningOf(bytes, found.charset, found.charsetEnd, false);
  if (found.content < 0 || !isName(bytes, found.httpEquiv, found.httpEquivEnd, 'content-type')) return undefined;
  return meaningOf(bytes, found.content, found.contentEnd, true);
}

/** The value that was read last, and what it means: a site says the same on nearly all its pages. */
const last: { value: Uint8Array; pragma: boolean; name: string | undefined } = {
  value: new Uint8Array(0),
  pragma: false,
  name: undefined,
};

function meaningOf(bytes: Uint8Array, from: number, to: number, pragma: boolean): string | undefined {
  if (pragma !== last.pragma || !isLast(bytes, from, to)) {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('latin1');
    last.name = encodingName(pragma ? pragmaCharset(text) : text.trim());
    last.value = bytes.slice(from, to);
    last.pragma = pragma;
  }
  return last.name;
}

function isLast(bytes: Uint8Array, from: number, to: number): boolean {
  const { value } = last;
  if (value.length !== to - from) return false;
  for (let i = 0; i < value.length; i++) if (value[i] !== bytes[from + i]) return false;
  return true;
}

const names = new Map<string, string | undefined>();

/** The standard's name for a label; undefined when it is none that can be decoded. */
export function encodingName(label: string | undefined): string | undefined {
  if (!label || label.length > 40) return undefined;
  if (names.has(label)) return names.get(label);
  let name: string | undefined;
  try {
    name = new TextDecoder(label.trim()).encoding;
  } catch {
    name = undefined; // a label that nobody knows says nothing
  }
  if (names.size < 1000) names.set(label, name);
  return name;
}

/** The charset in the content of a pragma: quotes must be closed, otherwise up to a blank or semicolon. */
function pragmaCharset(content: string): string | undefined {
  const label = /charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|([^\t\n\f\r ;"']*))/i.exec(content);
  return label?.[1] ?? label?.[2] ?? label?.[3];
}

/** Goes over the attributes of a tag, and notes those of a meta element. Where the tag ends, -1 when that is not to be seen. */
function readAttributes(bytes: Uint8Array, from: number, meta: boolean): number {
  const { length } = bytes;
  let at = from;
  while (at < length) {
    const c = bytes[at]!;
    if (isSpace(c) || c === SLASH) {
      at++;
      continue;
    }
    if (c === GREATER) return at + 1;
    const start = at++;
    while (at < length && !endsName(bytes[at]!)) at++;
    const nameEnd = at;
    at = skipSpaces(bytes, at);
    let value = at;
    let valueEnd = at;
    if (at < length && bytes[at] === EQUALS) {
      value = skipSpaces(bytes, at + 1);
      const quote = value < length ? bytes[value]! : 0;
      if (quote === DOUBLE || quote === SINGLE) {
        valueEnd = indexOf(bytes, quote, ++value);
        if (valueEnd < 0) return -1;
        at = valueEnd + 1;
      } else {
        at = value;
        while (at < length && bytes[at] !== GREATER && !isSpace(bytes[at]!)) at++;
        valueEnd = at;
      }
    }
    if (meta) note(bytes, start, nameEnd, { value, valueEnd });
  }
  return -1;
}

function note(bytes: Uint8Array, from: number, to: number, place: { value: number; valueEnd: number }): void {
  if (found.charset < 0 && isName(bytes, from, to, 'charset')) {
    found.charset = place.value;
    found.charsetEnd = place.valueEnd;
  } else if (found.httpEquiv < 0 && isName(bytes, from, to, 'http-equiv')) {
    found.httpEquiv = place.value;
    found.httpEquivEnd = place.valueEnd;
  } else if (found.content < 0 && isName(bytes, from, to, 'content')) {
    found.content = place.value;
    found.contentEnd = place.valueEnd;
  }
}

/** Whether this is the name, whatever the case of its letters. */
function isName(bytes: Uint8Array, from: number, to: number, name: string): boolean {
  if (to - from !== name.length || from < 0) return false;
  for (let i = 0; i < name.length; i++) {
    const c = bytes[from + i]!;
    if ((c >= 0x41 && c <= 0x5a ? c + 0x20 : c) !== name.charCodeAt(i)) return false;
  }
  return true;
}

const EXCLAMATION = 0x21;
const DOUBLE = 0x22;
const SINGLE = 0x27;
const HYPHEN = 0x2d;
const SLASH = 0x2f;
const LESS = 0x3c;
const EQUALS = 0x3d;
const GREATER = 0x3e;
const QUESTION = 0x3f;

function isLetter(c: number): boolean {
  return (c | 0x20) >= 0x61 && (c | 0x20) <= 0x7a;
}

/** `<meta` and what ends a name. */
function isMeta(bytes: Uint8Array, at: number): boolean {
  if ((bytes[at + 1]! | 0x20) !== 0x6d || !isName(bytes, at + 1, at + 5, 'meta')) return false;
  const after = bytes[at + 5]!;
  return after === SLASH || isSpace(after);
}

function isSpace(c: number): boolean {
  return c === 0x20 || c === 0x0a || c === 0x09 || c === 0x0d || c === 0x0c;
}

function endsName(c: number): boolean {
  return c === SLASH || c === EQUALS || c === GREATER || isSpace(c);
}

function skipSpaces(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && isSpace(bytes[at]!)) at++;
  return at;
}
