/** Reads the attributes of a tag: remembers where the values lie that someone may ask for, skips the others. */
import { all, hashBytes, key, keyOf, mix } from './hash';
import { ATTRIBUTES, CLASSES } from './memory';
import { attributeInfo, enterAttribute, NAME_END, SPACE } from './tables';

export const HREF: u32 = 0;
export const SRC: u32 = 1;
export const CLASS: u32 = 2;
export const ID: u32 = 3;
export const REL: u32 = 4;
export const NAME: u32 = 5;
export const CONTENT: u32 = 6;
export const EQUIV: u32 = 7;
export const ALT: u32 = 8;
export const DATA_SRC: u32 = 9;
export const SRCSET: u32 = 10;
export const LANG: u32 = 11;
export const ITEMPROP: u32 = 12;
export const HREFLANG: u32 = 13;
export const ROLE: u32 = 14;
export const POSTER: u32 = 15;
/** Of an object. */
export const DATA: u32 = 16;
export const TYPE: u32 = 17;
export const VALUE: u32 = 18;

/** Which slots the tag last read has, one bit each. */
export let present: u32 = 0;
export let selfClosing: bool = false;
/** Hash of all attributes but those that say nothing about a drawing; kept only when asked for. */
export let drawing: u64 = 0;

export function has(slot: u32): bool {
  return ((present >> slot) & 1) !== 0;
}

export function valueStart(slot: u32): usize {
  return load<u32>(ATTRIBUTES + (slot << 3));
}

export function valueEnd(slot: u32): usize {
  return load<u32>(ATTRIBUTES + (slot << 3), 4);
}

export function enterAttributes(): void {
  enterAttribute('href xlink:href', HREF);
  enterAttribute('src', SRC);
  enterAttribute('class', CLASS);
  enterAttribute('id', ID);
  enterAttribute('rel', REL);
  enterAttribute('name', NAME);
  enterAttribute('content', CONTENT);
  enterAttribute('http-equiv', EQUIV);
  enterAttribute('alt', ALT);
  enterAttribute('data-src data-original data-lazy-src', DATA_SRC);
  enterAttribute('srcset data-srcset data-lazy-srcset', SRCSET);
  enterAttribute('lang xml:lang', LANG);
  enterAttribute('itemprop', ITEMPROP);
  enterAttribute('hreflang', HREFLANG);
  enterAttribute('role', ROLE);
  enterAttribute('poster', POSTER);
  enterAttribute('data', DATA);
  enterAttribute('type', TYPE);
  enterAttribute('value', VALUE);
}

const KEY_CLIP_PATH: u64 = key('clip-path');

/**
 * Reads from behind the tag's name to behind its `>`. 0 = the input ends inside the tag, which then does not count.
 * Relies on the sentinel behind the input, which ends every search.
 */
export function readAttributes(start: usize, end: usize, draws: bool): usize {
  present = 0;
  selfClosing = false;
  if (draws) drawing = 0;
  let p = start;
  while (true) {
    if (!draws) p = readCommon(p, end);
    let c: u32 = load<u8>(p);
    while ((load<u8>(CLASSES + c) & SPACE) !== 0 || c === 47) {
      selfClosing = c === 47;
      c = load<u8>(++p);
    }
    if (p >= end) return 0;
    if (c === 62) return p + 1;
    selfClosing = false;
    const named = p;
    p = nameEnd(p);
    const name = keyOf(named, p);
    let from: usize = p + 2;
    let to: usize = p;
    // Nearly all are written like this.
    if (load<u16>(p) === EQUALS_QUOTE) {
      to = find(from, end, 34);
      if (to >= end) return 0;
      p = to + 1;
    } else {
      p = skipSpace(p);
      if (p >= end) return 0;
      from = p;
      to = p;
      if (load<u8>(p) === 61) {
        from = valueBegin(p + 1);
        to = valueStop(from, end);
        if (to >= end) return 0;
        c = load<u8>(from - 1);
        p = c === 34 || c === 39 ? to + 1 : to;
      }
    }
    remember(name, from, to);
    if (draws && !saysNothing(name)) drawing = mix(mix(drawing, name), hashBytes(from, to));
  }
}

const EQUALS_QUOTE: u32 = 0x223d;

// ` href="`, ` class="` and ` title="`, as they are read.
const SPACE_HREF: u64 = 0x223d6665726820;
const SPACE_CLASS: u64 = 0x223d7373616c6320;
const SPACE_TITLE: u64 = 0x223d656c74697420;

/**
 * Reads the commonest attributes in their commonest form; returns where something else begins. Compared as a whole,
 * because what follows then need not wait until the end of the name has been found.
 */
function readCommon(start: usize, end: usize): usize {
  let p = start;
  while (true) {
    const eight = load<u64>(p);
    let from = p + 8;
    let slot = NO_SLOT;
    if ((eight & 0xffffffffffffff) === SPACE_HREF) {
      from = p + 7;
      slot = HREF;
    } else if (eight === SPACE_CLASS) slot = CLASS;
    else if (eight !== SPACE_TITLE) return p;
    const to = find(from, end, 34);
    if (to >= end) return p;
    if (slot !== NO_SLOT) put(slot, from, to);
    selfClosing = false;
    p = to + 1;
  }
}

/** End of the attribute's name at `p`, which has one byte at least. */
function nameEnd(p: usize): usize {
  const v = v128.load(p, 1);
  const signs = v128.or(i8x16.eq(v, all(47)), i8x16.eq(v, all(62)));
  const ends: u32 = i8x16.bitmask(v128.or(v128.or(signs, i8x16.eq(v, all(61))), i8x16.le_u(v, all(32))));
  let q = p + 1 + ctz(ends | 0x10000);
  // Control characters that are no white space are part of a name.
  while ((load<u8>(CLASSES + load<u8>(q)) & NAME_END) === 0) q++;
  return q;
}

function skipSpace(start: usize): usize {
  let p = start;
  while ((load<u8>(CLASSES + load<u8>(p)) & SPACE) !== 0) p++;
  return p;
}

function remember(name: u64, from: usize, to: usize): void {
  const slot = attributeInfo(name) - 1;
  if (slot < NO_SLOT) put(slot, from, to);
}

const NO_SLOT: u32 = 32;

/** The first of several attributes of one name counts. */
function put(slot: u32, from: usize, to: usize): void {
  if (((present >> slot) & 1) !== 0) return;
  present |= 1 << slot;
  store<u32>(ATTRIBUTES + (slot << 3), <u32>from);
  store<u32>(ATTRIBUTES + (slot << 3), <u32>to, 4);
}

/** Attributes that change nothing in a drawing. */
function saysNothing(name: u64): bool {
  const slot = attributeInfo(name) - 1;
  return slot === ID || slot === CLASS || name === KEY_CLIP_PATH;
}

/** Address of the first byte of the value, behind an opening quote if there is one. */
function valueBegin(start: usize): usize {
  const p = skipSpace(start);
  const c: u32 = load<u8>(p);
  return c === 34 || c === 39 ? p + 1 : p;
}

/** Address of the closing quote, or of what ends a value without quotes. */
function valueStop(from: usize, end: usize): usize {
  const quote: u32 = load<u8>(from - 1);
  if (quote === 34 || quote === 39) return find(from, end, quote);
  let p = from;
  while (true) {
    const c: u32 = load<u8>(p);
    if (c === 62 || (load<u8>(CLASSES + c) & SPACE) !== 0) return p;
    p++;
  }
}

/** First `byte` at or after `p`; at least `end` when there is none before. */
export function find(start: usize, end: usize, byte: u32): usize {
  const wanted = i8x16.splat(<i8>byte);
  for (let p = start; p < end; p += 16) {
    const hits = i8x16.bitmask(i8x16.eq(v128.load(p), wanted));
    if (hits !== 0) return p + ctz(hits);
  }
  return end;
}
