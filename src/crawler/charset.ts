/**
 * Which characters the bytes of a page mean: byte order mark, then the server's word, then the page's own, then what
 * the bytes look like. Pages in UTF-8 or plain ASCII, nearly all, are never copied.
 */
import { isAscii, isUtf8 } from 'node:buffer';

export interface Charset {
  /** Name by the Encoding standard, in lower case. */
  readonly name: string;
  readonly source: 'bom' | 'http' | 'meta' | 'xml' | 'bytes' | 'default';
}

/** Bytes in which a declaration is looked for: the standard's first 1,024, and then further, where a parser would find it. */
const PRESCAN = [1024, 16_384] as const;

/** The character encoding of a body, by the order of the HTML standard. */
export function charsetOf(body: Uint8Array, contentType: string | undefined): Charset {
  const mark = byteOrderMark(body);
  if (mark !== undefined) return { name: mark, source: 'bom' };
  const announced = encodingName(charsetParameter(contentType));
  if (announced !== undefined) return { name: announced, source: 'http' };
  let start = '';
  for (const length of PRESCAN) {
    if (start !== '' && body.length <= start.length) break;
    start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, length)).toString('latin1');
    const declared = metaCharset(start);
    if (declared !== undefined) return { name: declared, source: 'meta' };
  }
  const xml = encodingName(/^<\?xml[^>]*?\sencoding\s*=\s*["']([^"']+)/.exec(start)?.[1]);
  if (xml !== undefined) return { name: withoutWide(xml), source: 'xml' };
  if (isAscii(body)) return looksJapanese7(body) ?? { name: 'windows-1252', source: 'default' };
  if (isUtf8(body) || isUtf8(withoutCutEnd(body))) return { name: 'utf-8', source: 'bytes' };
  return guess(body);
}

/** The body as UTF-8 without byte order mark; the same bytes when they are that already. */
export function toUtf8(body: Uint8Array, charset: string): Uint8Array {
  if (charset === 'utf-8') return body[0] === 0xef && byteOrderMark(body) === 'utf-8' ? body.subarray(3) : body;
  const stateful = charset === 'iso-2022-jp' || charset.startsWith('utf-16');
  if (!stateful && isAscii(body)) return body;
  return Buffer.from(new TextDecoder(charset).decode(body));
}

function byteOrderMark(body: Uint8Array): string | undefined {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return 'utf-8';
  if (body[0] === 0xff && body[1] === 0xfe) return 'utf-16le';
  if (body[0] === 0xfe && body[1] === 0xff) return 'utf-16be';
  return undefined;
}

function charsetParameter(contentType: string | undefined): string | undefined {
  if (contentType === undefined) return undefined;
  const found = /;\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^;\s]*))/i.exec(contentType);
  return found?.[1] ?? found?.[2] ?? found?.[3];
}

const known = new Map<string, string | undefined>();

/** The standard's name for a label; undefined when it is none that can be decoded. */
function encodingName(label: string | undefined): string | undefined {
  if (!label || label.length > 40) return undefined;
  if (known.has(label)) return known.get(label);
  let name: string | undefined;
  try {
    name = new TextDecoder(label.trim()).encoding;
  } catch {
    name = undefined; // a label that nobody knows says nothing
  }
  if (known.size < 1000) known.set(label, name);
  return name;
}

/** A declaration that could be read as ASCII cannot mean UTF-16. */
function withoutWide(name: string): string {
  if (name.startsWith('utf-16')) return 'utf-8';
  return name === 'x-user-defined' ? 'windows-1252' : name;
}

/** The standard's prescan of the first bytes for a meta element that names an encoding. */
function metaCharset(start: string): string | undefined {
  if (!/charset/i.test(start)) return undefined;
  let at = 0;
  while ((at = start.indexOf('<', at)) >= 0) {
    if (start.startsWith('<!--', at)) {
      const end = start.indexOf('-->', at + 2);
      if (end < 0) return undefined;
      at = end + 3;
    } else if (isMeta(start, at)) {
      const values = new Map<string, string>();
      at = readAttributes(start, at + 5, values);
      // A tag that the first bytes do not show whole says nothing.
      if (at < 0) return undefined;
      const name = metaEncoding(values);
      if (name !== undefined) return withoutWide(name);
    } else if (isLetter(start.charCodeAt(start.charCodeAt(at + 1) === SLASH ? at + 2 : at + 1))) {
      at++;
      while (at < start.length && start.charCodeAt(at) !== GREATER && !isSpace(start.charCodeAt(at))) at++;
      at = readAttributes(start, at, undefined);
      if (at < 0) return undefined;
    } else if ('!/?'.includes(start.charAt(at + 1) || ' ')) {
      at = start.indexOf('>', at);
      if (at < 0) return undefined;
    } else at++;
  }
  return undefined;
}

function metaEncoding(values: ReadonlyMap<string, string>): string | undefined {
  const charset = values.get('charset');
  if (charset !== undefined) return encodingName(charset.trim());
  if (values.get('http-equiv')?.toLowerCase() !== 'content-type') return undefined;
  return encodingName(pragmaCharset(values.get('content') ?? ''));
}

/** The charset in the content of a pragma: quotes must be closed, otherwise up to a blank or semicolon. */
function pragmaCharset(content: string): string | undefined {
  const found = /charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|([^\t\n\f\r ;"']*))/i.exec(content);
  return found?.[1] ?? found?.[2] ?? found?.[3];
}

/**
 * Puts the attributes of a tag into `values`, where someone wants them; every tag before the declaration is read this
 * way, so nothing is cut out of the text otherwise. Returns where the tag ends, -1 when its end is not to be seen.
 */
function readAttributes(text: string, from: number, values: Map<string, string> | undefined): number {
  let at = from;
  while (at < text.length) {
    const c = text.charCodeAt(at);
    if (isSpace(c) || c === SLASH) {
      at++;
      continue;
    }
    if (c === GREATER) return at + 1;
    const start = at++;
    while (at < text.length && !endsName(text.charCodeAt(at))) at++;
    const nameEnd = at;
    at = skipSpaces(text, at);
    let value = at;
    let valueEnd = at;
    if (text.charCodeAt(at) === EQUALS) {
      value = skipSpaces(text, at + 1);
      const quote = text[value];
      if (quote === '"' || quote === "'") {
        valueEnd = text.indexOf(quote, ++value);
        if (valueEnd < 0) return -1;
        at = valueEnd + 1;
      } else {
        at = value;
        while (at < text.length && text.charCodeAt(at) !== GREATER && !isSpace(text.charCodeAt(at))) at++;
        valueEnd = at;
      }
    }
    if (values === undefined) continue;
    const name = text.slice(start, nameEnd).toLowerCase();
    if (!values.has(name)) values.set(name, text.slice(value, valueEnd));
  }
  return -1;
}

const SLASH = 0x2f;
const EQUALS = 0x3d;
const GREATER = 0x3e;

function isLetter(c: number): boolean {
  return (c | 0x20) >= 0x61 && (c | 0x20) <= 0x7a;
}

/** `<meta` and what ends a name. Letter by letter: this is asked at every tag of every page before its declaration. */
function isMeta(text: string, at: number): boolean {
  if ((text.charCodeAt(at + 1) | 0x20) !== 0x6d || text.slice(at + 2, at + 5).toLowerCase() !== 'eta') return false;
  const after = text.charCodeAt(at + 5);
  return after === SLASH || isSpace(after);
}

function isSpace(c: number): boolean {
  return c === 0x20 || c === 0x0a || c === 0x09 || c === 0x0d || c === 0x0c;
}

function endsName(c: number): boolean {
  return c === SLASH || c === EQUALS || c === GREATER || isSpace(c);
}

function skipSpaces(text: string, from: number): number {
  let at = from;
  while (at < text.length && isSpace(text.charCodeAt(at))) at++;
  return at;
}

/** A body cut at a limit may end inside a character. */
function withoutCutEnd(body: Uint8Array): Uint8Array {
  let end = body.length;
  while (end > 0 && end > body.length - 4 && (body[end - 1]! & 0xc0) === 0x80) end--;
  return body.subarray(0, Math.max(0, end - 1));
}

/** ISO-2022-JP is all ASCII bytes, with escapes. */
function looksJapanese7(body: Uint8Array): Charset | undefined {
  const at = body.indexOf(0x1b);
  if (at < 0 || body[at + 1] !== 0x24) return undefined;
  return { name: 'iso-2022-jp', source: 'bytes' };
}

/** Bytes that a guess looks at. */
const SAMPLE = 8192;

/**
 * Each candidate with the characters that text in it consists of, and the share of them that convinces. For Chinese
 * these are only the commonest characters, for alphabets the small (and for Cyrillic
 * the commonest) letters.
 */
const candidates: readonly (readonly [name: string, common: RegExp, share: number])[] = [
  ['euc-jp', /[\u3040-\u30ff]/g, 0.25],
  ['shift_jis', /[\u3040-\u30ff]/g, 0.25],
  ['euc-kr', /[\uac00-\ud7a3]/g, 0.8],
  ['gb18030', /[的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年]/g, 0.12],
  ['big5', /[的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年]/g, 0.12],
  ['windows-1251', /[оеаинтсрвлкмду]/g, 0.55],
  ['koi8-r', /[оеаинтсрвлкмду]/g, 0.55],
  ['windows-1253', /[α-ωάέήίόύώϊϋ]/g, 0.7],
  ['windows-1255', /[א-ת]/g, 0.7],
  ['windows-1256', /[ء-ي]/g, 0.7],
  ['windows-874', /[ก-๛]/g, 0.8],
];

/** By the look of the bytes; windows-1252 when nothing else convinces. */
function guess(body: Uint8Array): Charset {
  const sample = sampleOf(body);
  let best: Charset = { name: 'windows-1252', source: 'default' };
  let bestScore = 0;
  for (const [name, common, share] of candidates) {
    const text = new TextDecoder(name).decode(sample).replace(/[\x00-\x7f]+/g, '');
    if (text.length < 4) continue;
    const wrong = text.match(/[\ufffd\ue000-\uf8ff\x80-\x9f]/g)?.length ?? 0;
    // A cut sample may have one wrong character at its end.
    if (wrong > 1 + text.length / 50) continue;
    const score = ((text.match(common)?.length ?? 0) - wrong * 5) / text.length / share;
    if (score >= 1 && score > bestScore) {
      bestScore = score;
      best = { name, source: 'bytes' };
    }
  }
  return best;
}

/** The first stretch of the body that has bytes beyond ASCII. */
function sampleOf(body: Uint8Array): Uint8Array {
  const first = body.findIndex(byte => byte > 127);
  return body.subarray(Math.max(0, first - 16), first + SAMPLE);
}
