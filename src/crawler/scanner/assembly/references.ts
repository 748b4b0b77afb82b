/**
 * Values of attributes as the host wants them: entities decoded, trimmed. They lie one after another, each followed by
 * a line feed. Also their canonical form for hashing, in which what is random is masked.
 */

import { after, code, decodeEntity, putCode } from './entities';
import { keyOf, keyStep } from './hash';
import { CLASSES, references, SCRATCH, SCRATCH_BYTES } from './memory';
import { DIGIT, HEX, LETTER, SPACE } from './tables';

/** Longer references are not followed, and hashed only so far. */
export const MAX_REFERENCE: usize = 8192;

export let out: usize = 0;
/** False when some reference has bytes beyond ASCII. */
export let ascii: bool = true;

export function resetReferences(): void {
  out = references;
  ascii = true;
}

/** Forgets what was written from `start` on. */
export function rewind(start: usize): void {
  out = start;
}

/** Keeps what was written and ends it. */
export function keep(end: usize): void {
  out = end;
  store<u8>(out++, 10);
}

/** Writes the value decoded and trimmed, without tabs and line feeds; returns its end. Does not keep it. */
export function decodeReference(start: usize, end: usize): usize {
  let p = start;
  let last = end;
  while (p < last && load<u8>(p) <= 32) p++;
  while (last > p && load<u8>(last - 1) <= 32) last--;
  let to = out;
  let wide: u32 = 0;
  while (p < last) {
    let c: u32 = load<u8>(p++);
    if (c === 38 && decodeEntity(p - 1, last, true)) {
      p = after;
      c = code;
      if (c >= 0x80) {
        to = putCode(to, c);
        wide = 0x80;
        continue;
      }
    }
    if (c === 9 || c === 10 || c === 13) continue;
    wide |= c;
    store<u8>(to++, c);
  }
  if (wide >= 0x80) ascii = false;
  return to;
}

/** End of the canonical form of [start, end), which begins at SCRATCH. `query`: keep the query. */
export function canonicalReference(start: usize, end: usize, query: bool): usize {
  let p = start;
  const last = min(end, start + SCRATCH_BYTES / 2);
  let to = SCRATCH;
  while (p < last) {
    const c: u32 = load<u8>(p);
    if ((load<u8>(CLASSES + c) & (LETTER | DIGIT)) !== 0) {
      const stop = tokenEnd(p, last);
      const session = stop < last && load<u8>(stop) === 61 && isSession(p, tokenKey);
      if (isRandom(p, stop, query)) {
        store<u8>(to++, 1);
      } else {
        memory.copy(to, p, stop - p);
        to += stop - p;
      }
      p = stop;
      if (session) p = valueEnd(p + 1, last);
      continue;
    }
    if (c === 63 && !query) return to;
    if (c === 37 && p + 2 < last && (load<u8>(CLASSES + load<u8>(p + 1)) & HEX) !== 0) {
      const value = (hexValue(load<u8>(p + 1)) << 4) | hexValue(load<u8>(p + 2));
      if (value > 32 && value < 127) {
        store<u8>(to++, value);
        p += 3;
        continue;
      }
    }
    store<u8>(to++, c);
    p++;
  }
  return to;
}

function hexValue(c: u32): u32 {
  return c < 58 ? c - 48 : (c | 32) - 87;
}

let tokenKey: u64 = 0;

/** End of the run of letters, digits and `_` at `p`. */
function tokenEnd(start: usize, end: usize): usize {
  let p = start;
  let key: u64 = 0;
  while (p < end) {
    const c: u32 = load<u8>(p);
    if (c !== 95 && (load<u8>(CLASSES + c) & (LETTER | DIGIT)) === 0) break;
    key = keyStep(key, <u32>(p - start), c - 65 < 26 ? c | 32 : c);
    p++;
  }
  tokenKey = key;
  return p;
}

/** Random: 16 or more letters and digits mixed; in references to files also 8 or more hexadecimal digits. */
function isRandom(start: usize, end: usize, link: bool): bool {
  const length = end - start;
  if (length < 7) return false;
  let digits: u32 = 0;
  let hex: u32 = 0;
  for (let p = start; p < end; p++) {
    const classes: u32 = load<u8>(CLASSES + load<u8>(p));
    if ((classes & DIGIT) !== 0) digits++;
    if ((classes & HEX) !== 0) hex++;
  }
  if (digits === 0 || digits === <u32>length) return false;
  if (hex === <u32>length) return length >= (link ? 16 : 7);
  return length >= 20 && digits >= 3;
}

const JSESSIONID: u64 = keyStep(keyStep(0x6a73657373696f6e, 8, 0x69), 9, 0x64);
const PHPSESSID: u64 = keyStep(0x7068707365737369, 8, 0x64);

/** Names of parameters that say who asks or where he came from, not what for: sid, nonce, fbclid, gclid, utm_… */
function isSession(start: usize, key: u64): bool {
  if ((load<u32>(start) | 0x202020) === 0x5f6d7475) return true;
  if (key === 0x736964 || key === 0x6e6f6e6365 || key === 0x6662636c6964 || key === 0x67636c6964) return true;
  return key === JSESSIONID || key === PHPSESSID;
}

function valueEnd(start: usize, end: usize): usize {
  let p = start;
  while (p < end) {
    const c: u32 = load<u8>(p);
    if (c === 38 || c === 59 || c === 35 || c === 47 || c === 63) break;
    p++;
  }
  return p;
}

/** True when one of the words of the value, separated by blanks or commas, has this key. */
export function hasWord(start: usize, end: usize, key: u64): bool {
  let from = start;
  for (let p = start; p <= end; p++) {
    if (p < end) {
      const c: u32 = load<u8>(p);
      if (c !== 44 && (load<u8>(CLASSES + c) & SPACE) === 0) continue;
    }
    if (p > from && keyOf(from, p) === key) return true;
    from = p + 1;
  }
  return false;
}
