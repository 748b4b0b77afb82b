/**
 * The scanner: one pass over the bytes of a page gives all that Skein needs to know of it. It tokenises as the HTML
 * standard does, builds no tree, allocates nothing, imports nothing, and reads or writes nothing but its own memory:
 * so it may run on pages from anyone, on machines of anyone.
 *
 * Every input gives a result. The invariant that keeps it so: each loop moves forward through the input, and nothing
 * is written that was not read.
 */
import { enterAttributes, find } from './attributes';
import { readBlocks, resetBlocks } from './block';
import { resetCodes } from './codes';
import { inSvg, isOpen, resetElements, skipping } from './elements';
import { enterAllEntities } from './entities';
import { key, keyOf } from './hash';
import { resetHead } from './head';
import { noteTags, noting, resetJournal } from './journal';
import { closeAnchor, drawText, resetLinks } from './links';
import { CLASSES, INPUT } from './memory';
import { resetReferences } from './references';
import { putResult } from './result';
import { resetSimhash } from './simhash';
import { enterClasses, enterTags, LETTER, SKIP } from './tables';
import { closeOpened, closeTag, openTag, raw, rawInfo, resetTags } from './tags';
import { copyRaw, copyText, endBlock, lineBreak, putPlain, resetText } from './text';
import { enterAllWords } from './words';

export { note } from './journal';
export { reserve } from './memory';
export { packLinks } from './pack-links';
export { placeUrl, resolveLinks, roomForUrl } from './resolve';

/** HTML, XML, plain text. */
const XML: u32 = 1;
const PLAIN_TEXT: u32 = 2;

enterClasses();
enterTags();
enterAttributes();
enterAllEntities();
enterAllWords();

/** Reads `length` bytes that the host put at the address that reserve() gave. */
export function scan(length: usize, mode: u32): void {
  const end = INPUT + length;
  // Sentinel: whatever is searched for is found here at the latest.
  store<u32>(end, 0x3e22273c); // < ' " >
  store<u32>(end, 0, 4);
  store<u64>(end, 0, 8);
  resetElements();
  resetText();
  resetBlocks();
  resetCodes();
  resetSimhash();
  resetReferences();
  resetLinks();
  resetHead();
  resetJournal();
  resetTags(mode === XML);
  if (mode === PLAIN_TEXT) readPlain(end);
  else readMarkup(end, mode === XML);
  endBlock();
  if (noting) noteTags();
  readBlocks();
  closeAnchor();
  putResult(sumBytes(end));
}

function readMarkup(end: usize, xml: bool): void {
  let p = INPUT;
  while (p < end) {
    p = skipping() ? skipText(p, end) : copyText(p, end);
    if (p >= end) return;
    const c: u32 = load<u8>(p + 1);
    let next: usize = 0;
    // Computed, not looked up: the branch is often guessed wrong, and known the sooner.
    if (c === 47) {
      next = closeOpened(p + 2, end);
      if (next === 0) next = readEnd(p, end);
    } else if ((c | 32) - 97 < 26) {
      next = openTag(p + 1, end);
      if (next !== 0 && raw !== 0) next = readRaw(next, end);
    } else if (c === 33) next = readDeclaration(p, end, xml);
    else if (c === 63) next = skipPast(p + 2, end);
    else {
      if (!skipping()) putPlain(60);
      next = p + 1;
    }
    if (next === 0) return;
    p = next;
  }
}

/** Text that is not visible; in a drawing it is part of the picture. */
function skipText(start: usize, end: usize): usize {
  const p = find(start, end, 60);
  if (inSvg() && p > start && p <= end) drawText(start, p);
  return p;
}

/** `</…`: an end tag, or nothing, or a comment in disguise. */
function readEnd(p: usize, end: usize): usize {
  const c: u32 = load<u8>(p + 2);
  if ((load<u8>(CLASSES + c) & LETTER) !== 0) return closeTag(p + 2, end);
  if (p + 2 >= end) {
    if (!skipping()) putPlain(60);
    if (!skipping() && p + 1 < end) putPlain(47);
    return end;
  }
  return skipPast(p + 2, end);
}

function skipPast(p: usize, end: usize): usize {
  return min(find(p, end, 62) + 1, end);
}

const CDATA: u64 = 0x5b41544144435b21; // "![CDATA["

function readDeclaration(p: usize, end: usize, xml: bool): usize {
  if (load<u16>(p + 2) === 0x2d2d) return commentEnd(p + 4, end);
  if (xml && load<u64>(p + 1) === CDATA) {
    let stop = p + 9;
    while ((stop = find(stop, end, 93)) < end && (load<u8>(stop + 1) !== 93 || load<u8>(stop + 2) !== 62)) stop++;
    if (!skipping()) copyRaw(p + 9, min(stop, end), false);
    return min(stop + 3, end);
  }
  return skipPast(p + 2, end);
}

/** Behind `-->` or `--!>`; `<!-->` and `<!--->` are whole comments. */
function commentEnd(start: usize, end: usize): usize {
  if (load<u8>(start) === 62) return start + 1;
  if (load<u16>(start) === 0x3e2d) return start + 2;
  let p = start;
  while ((p = find(p, end, 45)) < end) {
    if (load<u8>(p + 1) === 45) {
      if (load<u8>(p + 2) === 62) return min(p + 3, end);
      if (load<u8>(p + 2) === 33 && load<u8>(p + 3) === 62) return min(p + 4, end);
    }
    p++;
  }
  return end;
}

/** Raw text up to the end tag of its element, or of the `<noscript>` around it; returns the address of that tag. */
function readRaw(start: usize, end: usize): usize {
  let p = start;
  while ((p = find(p, end, 60)) < end) {
    if (load<u8>(p + 1) === 47 && endsRaw(p + 2)) break;
    p++;
  }
  p = min(p, end);
  if ((rawInfo & SKIP) === 0) {
    // A title or text area is one line of text of its own.
    copyRaw(start, p, true);
  }
  return p;
}

const KEY_NOSCRIPT: u64 = key('noscript');

/**
 * Whether the name at `p` is that of the open raw text element. To a browser that runs scripts all in `<noscript>` is raw text: an
 * `<iframe/>` in it, as trackers write it, hides no more than that.
 */
function endsRaw(p: usize): bool {
  let q = p;
  while ((load<u8>(CLASSES + load<u8>(q)) & LETTER) !== 0 && q < p + 9) q++;
  const name = keyOf(p, q);
  if (name !== raw && (name !== KEY_NOSCRIPT || !isOpen(KEY_NOSCRIPT))) return false;
  const c: u32 = load<u8>(q);
  return c === 62 || c === 47 || c <= 32;
}

/** Plain text: an empty line ends a block. */
function readPlain(end: usize): void {
  let p = INPUT;
  while (p < end) {
    const line = min(find(p, end, 10), end);
    if (line <= p + 1) endBlock();
    copyRaw(p, line, false);
    lineBreak();
    p = line + 1;
  }
}

/** Sum of all byte values. */
function sumBytes(end: usize): u64 {
  let total: u64 = 0;
  let p = INPUT;
  while (p + 16 <= end) {
    // A lane of 16 bits holds 128 sums of two bytes.
    const stop = min(end - 15, p + 16 * 128);
    let lanes = i16x8.splat(0);
    for (; p < stop; p += 16) lanes = i16x8.add(lanes, i16x8.extadd_pairwise_i8x16_u(v128.load(p)));
    const sums = i32x4.extadd_pairwise_i16x8_u(lanes);
    total += i32x4.extract_lane(sums, 0) + i32x4.extract_lane(sums, 1);
    total += i32x4.extract_lane(sums, 2) + i32x4.extract_lane(sums, 3);
  }
  for (; p < end; p++) total += load<u8>(p);
  return total;
}
