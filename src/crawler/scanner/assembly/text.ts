/**
 * The visible text: entities decoded, white space collapsed, one line per block. A block is the text between two
 * boundaries of block elements; when it ends, block.ts takes what is to be known of it.
 */
import { endOfBlock } from './block';
import { inAd, inStamp, inTemplate } from './elements';
import { after, code, decodeEntity, putCode } from './entities';
import { CLASSES, text } from './memory';
import { PLAIN, SPACE } from './tables';

/** Where the next byte of text goes, and where the block began. */
export let out: usize = 0;
let blockStart: usize = 0;
/** What stands before the next character: 0 nothing, else a blank or a line feed. */
let pending: u32 = 0;
let stamped: bool = false;

export function resetText(): void {
  out = text;
  blockStart = text;
  pending = 0;
  stamped = false;
}

/** An element that says "this is a volatile date" began inside the block. */
export function stampBlock(): void {
  stamped = true;
}

export function lineBreak(): void {
  if (out > blockStart) pending = 10;
}

/** Ends the block if it has text. */
export function endBlock(): void {
  if (out > blockStart) {
    endOfBlock(blockStart, out, inAd(), inTemplate(), stamped || inStamp());
    store<u8>(out++, 10);
    blockStart = out;
  }
  pending = 0;
  stamped = false;
}

/** Copies text up to the next `<`; entities are decoded. Returns the address of the `<`, or `end`. */
export function copyText(start: usize, end: usize): usize {
  let p = start;
  let to = out;
  let waits = pending;
  while (p < end) {
    const c: u32 = load<u8>(p);
    const classes: u32 = load<u8>(CLASSES + c);
    if ((classes & PLAIN) !== 0) {
      if (waits !== 0) {
        if (to > blockStart) store<u8>(to++, waits);
        waits = 0;
      }
      store<u8>(to++, c);
      p++;
      continue;
    }
    if ((classes & SPACE) !== 0) {
      if (waits === 0) waits = 32;
      p++;
      continue;
    }
    if (c === 60) break;
    let value: u32 = c;
    let next = p + 1;
    if (c === 38 && decodeEntity(p, end, false)) {
      value = code;
      next = after;
    } else if (c === 0xc2) {
      // The only two-byte lead that is not copied as it is: C2 A0 is a blank that does not break.
      value = load<u8>(p + 1) === 0xa0 ? 0xa0 : 0x100 + c;
      if (value === 0xa0) next++;
    }
    p = next;
    if (value <= 32 || value === 0xa0) {
      if (waits === 0) waits = 32;
      continue;
    }
    if (waits !== 0 && to > blockStart) store<u8>(to++, waits);
    waits = 0;
    if (c === 0xc2) store<u8>(to++, c);
    else to = putCode(to, value);
  }
  out = to;
  pending = waits;
  return p;
}

/** Copies a whole range, in which `<` means itself. */
export function copyRaw(start: usize, end: usize): void {
  let p = start;
  while (p < end) {
    p = copyText(p, end);
    if (p < end) {
      putPlain(60);
      p++;
    }
  }
}

export function putPlain(c: u32): void {
  if (pending !== 0 && out > blockStart) store<u8>(out++, pending);
  pending = 0;
  store<u8>(out++, c);
}
