/**
 * The visible text: entities decoded, white space collapsed, one line per block. A block is the text between two
 * boundaries of block elements; when it ends, block.ts takes what is to be known of it.
 */
import { endOfBlock } from './block';
import { IN_STAMP, regions } from './elements';
import { after, code, decodeEntity } from './entities';
import { all, putCode } from './hash';
import { text } from './memory';

/** Where the next byte of text goes, and where the block began. White space before it has been written already. */
export let out: usize = 0;
let blockStart: usize = 0;
let stamped: bool = false;
/** 1 = the byte before `out` is white space. Known here, so that nobody has to wait for what was just written. */
let spaced: u32 = 1;
/** Entities stand for themselves. */
let verbatim: bool = false;

export function resetText(): void {
  // A line feed in front, so that "what stands before" has an answer for the first byte too.
  store<u8>(text, 10);
  out = text + 1;
  blockStart = out;
  stamped = false;
  spaced = 1;
}

/** An element that says "this is a volatile date" began inside the block. */
export function stampBlock(): void {
  stamped = true;
}

export function lineBreak(): void {
  if (out === blockStart) return;
  store<u8>(out - spaced, 10);
  out += 1 - spaced;
  spaced = 1;
}

/** Ends the block if it has text. */
export function endBlock(): void {
  if (out > blockStart) {
    out -= spaced;
    endOfBlock(out, regions | (stamped ? IN_STAMP : 0));
    store<u8>(out++, 10);
    blockStart = out;
    spaced = 1;
  }
  stamped = false;
}

/**
 * Copies text up to the next `<`; entities are decoded, white space is collapsed. Returns the address of the `<`, or
 * `end`.
 */
export function copyText(start: usize, end: usize): usize {
  const space = all(32);
  // Between most tags there is nothing, or a line feed. Asked byte by byte: what follows need not wait for the answer.
  const c: u32 = load<u8>(start);
  if (c === 60 && start < end) return start;
  if (c <= 32 && load<u8>(start + 1) === 60 && start + 1 < end) {
    store<u8>(out, 32);
    out += 1 ^ spaced;
    spaced = 1;
    return start + 1;
  }
  let p = start;
  let to = out;
  let blank = spaced;
  const tag = all(60);
  const entity = all(38);
  const lead = all(0xc2);
  while (p < end) {
    // Sixteen bytes at once, up to the first that is not simply copied. Control characters become blanks.
    const v = v128.load(p);
    const blanks = i8x16.bitmask(i8x16.le_u(v, space));
    const special = v128.or(v128.or(i8x16.eq(v, tag), i8x16.eq(v, entity)), i8x16.eq(v, lead));
    // A blank behind a blank is special as well. Bit i of `behind`: the byte before the i-th is a blank.
    const behind = (blanks << 1) | blank;
    const plain = min<usize>(ctz(i8x16.bitmask(special) | (blanks & behind) | 0x10000), end - p);
    v128.store(to, i8x16.max_u(v, space));
    to += plain;
    p += plain;
    blank = (behind >> <u32>plain) & 1;
    if (plain === 16 || p >= end) continue;
    const c: u32 = load<u8>(p);
    if (c === 60) break;
    if (c <= 32) p = blanksEnd(p, end);
    else {
      out = to;
      spaced = blank;
      p = copySpecial(p, end);
      to = out;
      blank = spaced;
    }
  }
  out = to;
  spaced = blank;
  return p;
}

/** Past blanks and control characters. */
function blanksEnd(start: usize, end: usize): usize {
  for (let p = start; p < end; p += 16) {
    const others = i8x16.bitmask(i8x16.gt_u(v128.load(p), i8x16.splat(32)));
    if (others !== 0) return min(p + ctz(others), end);
  }
  return end;
}

/** An entity, or the lead byte of a blank that does not break. */
function copySpecial(p: usize, end: usize): usize {
  const c: u32 = load<u8>(p);
  let value: u32 = c;
  let next = p + 1;
  if (c === 38 && !verbatim && decodeEntity(p, end, false)) {
    value = code;
    next = after;
  } else if (c === 0xc2) {
    if (load<u8>(p + 1) !== 0xa0) {
      putPlain(c);
      return next;
    }
    value = 0xa0;
    next++;
  }
  const space = value <= 32 || value === 0xa0;
  if (!space) out = putCode(out, value);
  else if (spaced === 0) store<u8>(out++, 32);
  spaced = space ? 1 : 0;
  return next;
}

/** Copies a whole range, in which `<` means itself, and `&` too unless entities are decoded. */
export function copyRaw(start: usize, end: usize, entities: bool): void {
  let p = start;
  verbatim = !entities;
  while (p < end) {
    p = copyText(p, end);
    if (p < end) putPlain(load<u8>(p++));
  }
  verbatim = false;
}

export function putPlain(c: u32): void {
  store<u8>(out++, c);
  spaced = 0;
}
