/**
 * Links and images. A link is recorded once per distinct reference without its fragment, in order of first
 * appearance, with the first anchor text that is not empty. Twelve words each: start and end of the reference, start
 * and end of the anchor, flags, hash, slot, unused, then what resolve.ts adds.
 */
import {
  ALT,
  DATA,
  DATA_SRC,
  HREF,
  HREFLANG,
  has,
  POSTER,
  REL,
  SRC,
  SRCSET,
  TYPE,
  VALUE,
  valueEnd,
  valueStart,
} from './attributes';
import { addToMain } from './block';
import { inAd, inTemplate } from './elements';
import { after, code, decodeEntity } from './entities';
import { all, finish, hashBytes, key, keyOf, mix, putCode } from './hash';
import { LINK, noteValue, noting, PICTURE } from './journal';
import {
  anchors,
  anchorsEnd,
  CLASSES,
  IMAGES,
  LINK_BYTES,
  LINK_SLOT_COUNT,
  LINK_SLOTS,
  LINKS,
  MAX_IMAGES,
  MAX_LINKS,
} from './memory';
import {
  decodeReference,
  fragmentAt,
  hashReference,
  hasWord,
  keep,
  MAX_REFERENCE,
  odd,
  out as reference,
} from './references';
import { LETTER } from './tables';
import { out as text } from './text';

const NOFOLLOW: u32 = 1;
export const CANONICAL: u32 = 8;
const ALTERNATE: u32 = 16;
const MAX_ANCHOR: u32 = 120;
const NO_LINK: u32 = 0xffffffff;

const KEY_SUBMIT: u64 = key('submit');
const KEY_BUTTON: u64 = key('button');
const KEY_NOFOLLOW: u64 = key('nofollow');
const KEY_NEXT: u64 = key('next');
const KEY_PREV: u64 = key('prev');
const KEY_CANONICAL: u64 = key('canonical');
const KEY_ALTERNATE: u64 = key('alternate');
const KEY_HTTP: u64 = key('http');
const KEY_HTTPS: u64 = key('https');

export let linkCount: u32 = 0;
export let imageCount: u32 = 0;
/** Number of href links of a and area, repeated ones counted. */
export let urls: u32 = 0;
export let linkHash: u64 = 0;
export let imageHash: u64 = 0;
export let anchorOut: usize = 0;

/** Link whose anchor is being read; where its text began; the alternative text of the first image in it. */
let open: u32 = NO_LINK;
let openText: usize = 0;
let altStart: usize = 0;
let altEnd: usize = 0;

export function resetLinks(): void {
  for (let i: u32 = 0; i < linkCount; i++) store<u16>(LINK_SLOTS + (load<u32>(LINKS + i * LINK_BYTES, 24) << 1), 0);
  linkCount = 0;
  imageCount = 0;
  urls = 0;
  linkHash = 0;
  imageHash = 0;
  anchorOut = anchors;
  open = NO_LINK;
}

/** `<a>`, `<area>` */
export function anchorLink(): void {
  closeAnchor();
  if (!has(HREF)) return;
  urls++;
  const flags: u32 = has(REL) && hasWord(valueStart(REL), valueEnd(REL), KEY_NOFOLLOW) ? NOFOLLOW : 0;
  open = addLink(HREF, flags, true);
  openText = text;
  altStart = 0;
}

/** `<link>`: only relations that lead to pages. */
export function relationLink(): void {
  if (!has(HREF) || !has(REL)) return;
  const start = valueStart(REL);
  const end = valueEnd(REL);
  if (hasWord(start, end, KEY_CANONICAL)) addLink(HREF, CANONICAL, false);
  else if (hasWord(start, end, KEY_ALTERNATE)) addLink(HREF, has(HREFLANG) ? ALTERNATE : 0, false);
  else if (hasWord(start, end, KEY_NEXT) || hasWord(start, end, KEY_PREV)) addLink(HREF, 0, false);
}

/** `<frame>`, `<iframe>`: pages inside the page. */
export function frameLink(): void {
  if (has(SRC)) addLink(SRC, 0, true);
  else showMedia(DATA_SRC);
}

/** `<video>`, `<audio>`, `<source>`, `<embed>`, `<object>`: part of what a reader sees, but not followed. */
export function mediaLink(): void {
  showMedia(SRC);
  showMedia(DATA);
  if (inAd()) return;
  if (has(SRCSET)) hashImage(SRCSET);
  if (has(POSTER)) hashImage(POSTER);
}

function showMedia(slot: u32): void {
  if (!has(slot) || inAd()) return;
  const end = decodeReference(valueStart(slot), valueEnd(slot));
  showLink(hashReference(reference, end, true), reference, end);
}

/** The reference lies at [start, end). */
function showLink(hash: u64, start: usize, end: usize): void {
  if (noting) noteValue(LINK, hash, start, end);
  linkHash = mix(linkHash, hash);
  if (!inTemplate()) addToMain(hash);
}

/** Number of the link that the attribute names; NO_LINK when it leads nowhere else. */
function addLink(slot: u32, flags: u32, visible: bool): u32 {
  const start = reference;
  const whole = decodeReference(valueStart(slot), valueEnd(slot));
  const end = fragmentAt(start, whole);
  const hash = hashBytes(start, end);
  // Most have no fragment and nothing that is masked, so that both hashes are one.
  if (visible && !inAd()) showLink(odd || end !== whole ? hashReference(start, whole, true) : hash, start, whole);
  if (end === start || end - start > MAX_REFERENCE || !leadsToPage(start, end)) return NO_LINK;
  return record(start, end, flags, <u32>hash);
}

/** False for references with a scheme other than http and https. */
function leadsToPage(start: usize, end: usize): bool {
  // Most have no colon where a scheme could end.
  if ((i8x16.bitmask(i8x16.eq(v128.load(start), all(58))) & 0x1fff) === 0) return true;
  let p = start;
  while (p < end && p < start + 12 && (load<u8>(CLASSES + load<u8>(p)) & LETTER) !== 0) p++;
  if (p === end || p === start || load<u8>(p) !== 58) return true;
  const scheme = keyOf(start, p);
  return scheme === KEY_HTTP || scheme === KEY_HTTPS;
}

function record(start: usize, end: usize, flags: u32, hash: u32): u32 {
  let slot = hash & (LINK_SLOT_COUNT - 1);
  while (true) {
    const known: u32 = load<u16>(LINK_SLOTS + (slot << 1));
    if (known === 0) break;
    const at = LINKS + (known - 1) * LINK_BYTES;
    if (load<u32>(at, 20) === hash && sameBytes(load<u32>(at), load<u32>(at, 4), start, end)) {
      store<u32>(at, mergeFlags(load<u32>(at, 16), flags), 16);
      return known - 1;
    }
    slot = (slot + 1) & (LINK_SLOT_COUNT - 1);
  }
  if (linkCount >= MAX_LINKS) return NO_LINK;
  const at = LINKS + linkCount * LINK_BYTES;
  store<u32>(at, <u32>start);
  store<u32>(at, <u32>end, 4);
  store<u64>(at, 0, 8);
  store<u32>(at, flags, 16);
  store<u32>(at, hash, 20);
  store<u32>(at, slot, 24);
  store<u16>(LINK_SLOTS + (slot << 1), ++linkCount);
  keep(end);
  return linkCount - 1;
}

/** A link is nofollow only if every mention of it is; the other flags add up. */
export function mergeFlags(a: u32, b: u32): u32 {
  return ((a | b) & ~NOFOLLOW) | (a & b & NOFOLLOW);
}

/** May read up to 7 bytes beyond the ends, which do not count. */
function sameBytes(a: usize, aEnd: usize, b: usize, bEnd: usize): bool {
  if (aEnd - a !== bEnd - b) return false;
  for (; a + 8 <= aEnd; a += 8, b += 8) if (load<u64>(a) !== load<u64>(b)) return false;
  return a === aEnd || (load<u64>(a) ^ load<u64>(b)) << ((<u64>(8 - (aEnd - a))) << 3) === 0;
}

/** The anchor's text is complete. */
export function closeAnchor(): void {
  if (open === NO_LINK) return;
  const at = LINKS + open * LINK_BYTES;
  open = NO_LINK;
  if (load<u32>(at, 12) !== 0) return;
  const start = anchorOut;
  if (start + 4 * MAX_ANCHOR > anchorsEnd) return;
  let end = copyAnchor(openText, text);
  if (end === start && altStart !== 0) end = copyAlt();
  if (end === start) return;
  store<u32>(at, <u32>start, 8);
  store<u32>(at, <u32>end, 12);
  anchorOut = end;
}

function copyAnchor(from: usize, to: usize): usize {
  let out = anchorOut;
  let p = from;
  while (p < to && load<u8>(p) <= 32) p++;
  // So few bytes are no more characters. Of those below the blank, text has only the line feed.
  if (p < to && to - p <= MAX_ANCHOR) {
    for (let at: usize = 0; p + at < to; at += 16) v128.store(out + at, i8x16.max_u(v128.load(p + at), all(32)));
    out += to - p;
    p = to;
  }
  for (let characters: u32 = 0; p < to; p++) {
    const c: u32 = load<u8>(p);
    if ((c & 0xc0) !== 0x80 && characters++ === MAX_ANCHOR) break;
    store<u8>(out++, c === 10 ? 32 : c);
  }
  return out > anchorOut && load<u8>(out - 1) === 32 ? out - 1 : out;
}

function copyAlt(): usize {
  let out = anchorOut;
  let p = altStart;
  for (let characters: u32 = 0; p < altEnd && characters < MAX_ANCHOR; characters++) {
    let c: u32 = load<u8>(p++);
    if (c === 38 && decodeEntity(p - 1, altEnd, true)) {
      p = after;
      c = code;
      out = putCode(out, c < 32 ? 32 : c);
      continue;
    }
    store<u8>(out++, c < 32 ? 32 : c);
    while (p < altEnd && (load<u8>(p) & 0xc0) === 0x80) store<u8>(out++, load<u8>(p++));
  }
  return out;
}

/** `<img>` */
export function image(): void {
  if (has(ALT) && altStart === 0) {
    altStart = valueStart(ALT);
    altEnd = valueEnd(ALT);
  }
  if (inAd()) return;
  if (has(SRC)) hashImage(SRC);
  if (has(DATA_SRC)) hashImage(DATA_SRC);
  if (has(SRCSET)) hashImage(SRCSET);
  if (has(ALT) && valueEnd(ALT) > valueStart(ALT)) drawValue(valueStart(ALT), valueEnd(ALT));
  if (imageCount >= MAX_IMAGES) return;
  if (has(DATA_SRC)) recordImage(DATA_SRC);
  else if (has(SRC)) recordImage(SRC);
}

/** `<input type=submit>`: what stands on a button. Values of other fields are for programs. */
export function button(): void {
  if (!has(TYPE) || !has(VALUE) || inAd() || valueEnd(VALUE) === valueStart(VALUE)) return;
  const type = keyOf(valueStart(TYPE), valueEnd(TYPE));
  if (type === KEY_SUBMIT || type === KEY_BUTTON) drawValue(valueStart(VALUE), valueEnd(VALUE));
}

/** Something that is part of the page's pictures. */
export function draw(hash: u64): void {
  imageHash = mix(imageHash, hash);
  if (!inTemplate()) addToMain(hash);
}

function drawValue(start: usize, end: usize): void {
  const hash = hashBytes(start, end);
  if (noting) noteValue(PICTURE, hash, start, end);
  draw(hash);
}

/** Text inside a drawing, white space at its ends left out. */
export function drawText(start: usize, end: usize): void {
  let from = start;
  let to = end;
  while (from < to && load<u8>(from) <= 32) from++;
  while (to > from && load<u8>(to - 1) <= 32) to--;
  if (to > from && !inAd()) drawValue(from, to);
}

function hashImage(slot: u32): void {
  const start = reference;
  const end = decodeReference(valueStart(slot), valueEnd(slot));
  const hash = isData(start, end) ? hashBytes(start, end) : hashReference(start, end, false);
  if (noting) noteValue(PICTURE, hash, start, end);
  draw(hash);
}

function isData(start: usize, end: usize): bool {
  return end - start > 5 && load<u32>(start) === 0x61746164 && load<u8>(start, 4) === 58; // "data:"
}

function recordImage(slot: u32): void {
  const start = reference;
  const end = decodeReference(valueStart(slot), valueEnd(slot));
  if (end === start || end - start > MAX_REFERENCE || isData(start, end)) return;
  store<u32>(IMAGES + (imageCount << 3), <u32>start);
  store<u32>(IMAGES + (imageCount << 3), <u32>end, 4);
  imageCount++;
  keep(end);
}

export function linksDigest(): u64 {
  return finish(linkHash);
}

export function imagesDigest(): u64 {
  return finish(imageHash);
}
