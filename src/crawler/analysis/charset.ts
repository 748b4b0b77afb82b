/**
 * Which characters the bytes of a page mean: byte order mark, then the server's word, then the page's own, then what
 * the bytes look like. Pages in UTF-8 or plain ASCII, nearly all, are never copied.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { encodingName, prescan } from './prescan.ts';

interface Charset {
  /** Name by the Encoding standard, in lower case. */
  readonly name: string;
  readonly source: 'bom' | 'http' | 'meta' | 'xml' | 'bytes' | 'default';
}

/** Bytes in which a declaration is looked for: the standard's first 1,024, and then further, where a parser would find it. */
const PRESCAN = 1024;
const FAR_PRESCAN = 16_384;

/** The character encoding of a body, by the order of the HTML standard. */
export function charsetOf(body: Uint8Array, contentType: string | undefined): Charset {
  const mark = byteOrderMark(body);
  if (mark !== undefined) return { name: mark, source: 'bom' };
  const announced = contentType === undefined ? undefined : announcedIn(contentType);
  if (announced !== undefined) return { name: announced, source: 'http' };
  const declared = prescan(startOf(body, PRESCAN));
  if (declared !== undefined) return { name: withoutWide(declared), source: 'meta' };
  const start = startOf(body, FAR_PRESCAN);
  const text = Buffer.from(start.buffer, start.byteOffset, start.length).toString('latin1');
  if (body.length > PRESCAN && /charset/i.test(text)) {
    const far = prescan(start);
    if (far !== undefined) return { name: withoutWide(far), source: 'meta' };
  }
  const xml = encodingName(/^<\?xml[^>]*?\sencoding\s*=\s*["']([^"']+)/.exec(text)?.[1]);
  if (xml !== undefined) return { name: withoutWide(xml), source: 'xml' };
  if (isAscii(body)) return looksJapanese7(body) ?? { name: 'windows-1252', source: 'default' };
  if (isUtf8(body) || isUtf8(withoutCutEnd(body))) return { name: 'utf-8', source: 'bytes' };
  return guess(body);
}

function startOf(body: Uint8Array, length: number): Uint8Array {
  return new Uint8Array(body.buffer, body.byteOffset, Math.min(body.length, length));
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

/** Types that were read last, with what they announce: a server says the same of nearly all its pages. */
const announcements = new Map<string, string | undefined>();

/** The encoding that a Content-Type names. */
function announcedIn(contentType: string): string | undefined {
  if (announcements.has(contentType)) return announcements.get(contentType);
  const found = /;\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^;\s]*))/i.exec(contentType);
  const name = encodingName(found?.[1] ?? found?.[2] ?? found?.[3]);
  if (announcements.size >= 64) announcements.clear();
  announcements.set(contentType, name);
  return name;
}

/** A declaration that could be read as ASCII cannot mean UTF-16. */
function withoutWide(name: string): string {
  if (name.startsWith('utf-16')) return 'utf-8';
  return name === 'x-user-defined' ? 'windows-1252' : name;
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
