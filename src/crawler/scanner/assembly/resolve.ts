/**
 * Links resolved against the directory of the page, where that is plain: a path of ordinary characters, below this
 * server. Four of five links are. The others the host resolves, with its own URL parser; both must agree, and a test
 * says that they do. Also the fingerprint of each URL, the same as base/url.ts computes.
 */
import { copyRun } from './hash';
import { linkCount } from './links';
import { CLASSES, DIRECTORY, grow, LEFT_OVER, LINK_BYTES, LINKS, references, urls } from './memory';
import { out as referencesEnd } from './references';
import { PATH } from './tables';

/** End of the URLs written so far; a byte is left free behind each. */
export let urlsOut: usize = 0;

/**
 * The host has put `http://host/folder/` (`length` bytes) at DIRECTORY; its path begins at `origin`. Writes into each
 * link's words 8 to 11: start and end of its URL and the two halves of its fingerprint; 0 where it is not plain. Returns
 * how many are not, which are listed at LEFT_OVER; all ones = no memory.
 */
export function resolveLinks(length: usize, origin: usize): u32 {
  whole = length;
  root = origin;
  let left: u32 = 0;
  let to = urls;
  if (!grow(to + linkCount * (length + 1) + (referencesEnd - references))) return 0xffffffff;
  for (let i: u32 = 0; i < linkCount; i++) {
    const link = LINKS + i * LINK_BYTES;
    const start: usize = load<u32>(link);
    const end: usize = load<u32>(link, 4);
    store<u64>(link, 0, 32);
    let next: usize = length === 0 ? 0 : prefix(start, end, to);
    if (next === 0) {
      store<u16>(LEFT_OVER + (left++ << 1), i);
      continue;
    }
    next = copyRun(next, rest, end);
    store<u32>(link, <u32>to, 32);
    store<u32>(link, <u32>next, 36);
    fingerprint(to, next, link + 40);
    to = next + 1;
  }
  urlsOut = to;
  return left;
}

/** Where the host may write a URL of `length` bytes; 0 = no memory. */
export function roomForUrl(length: usize): usize {
  return grow(urlsOut + length) ? urlsOut : 0;
}

/** It has: this is the URL of the link, with the halves of its fingerprint. */
export function placeUrl(link: u32, length: usize, high: u32, low: u32): void {
  const at = LINKS + link * LINK_BYTES;
  store<u32>(at, <u32>urlsOut, 32);
  store<u32>(at, <u32>(urlsOut + length), 36);
  store<u32>(at, high, 40);
  store<u32>(at, low, 44);
  urlsOut += length + 1;
}

/** Where the part of the reference begins that follows the prefix. */
let rest: usize = 0;
/** Length of the directory, and where its path begins. */
let whole: usize = 0;
let root: usize = 0;

/** Writes what stands before the reference's own path; returns its end, 0 when the reference is not plain. */
function prefix(start: usize, end: usize, to: usize): usize {
  rest = start;
  let base = whole;
  if (load<u8>(start) === 47) {
    // From the root; `//` names another server.
    if (end > start + 1 && load<u8>(start + 1) === 47) return 0;
    rest = start + 1;
    return isPlainPath(rest, end) ? copyRun(to, DIRECTORY, DIRECTORY + root + 1) : 0;
  }
  while (rest < end && load<u8>(rest) === 46) {
    if (rest + 1 < end && load<u8>(rest + 1) === 47) rest += 2;
    else if (rest + 2 < end && load<u16>(rest) === 0x2e2e && load<u8>(rest + 2) === 47) {
      rest += 3;
      if (base > root + 1) base = parent(base);
    } else return 0;
  }
  return isPlainPath(rest, end) ? copyRun(to, DIRECTORY, DIRECTORY + base) : 0;
}

/** Length of the directory above the one that is `base` bytes long. */
function parent(base: usize): usize {
  let length = base - 1;
  while (load<u8>(DIRECTORY + length - 1) !== 47) length--;
  return length;
}

/** Only characters that stand for themselves, and no segment that begins with a dot. */
function isPlainPath(start: usize, end: usize): bool {
  let before: u32 = 47;
  for (let p = start; p < end; p++) {
    const c: u32 = load<u8>(p);
    if (c === 46 ? before === 47 : (load<u8>(CLASSES + c) & PATH) === 0) return false;
    before = c;
  }
  return true;
}

/** The two halves at `out`, as fingerprint() of base/url.ts; the bytes behind `end` may be anything. */
function fingerprint(start: usize, end: usize, out: usize): void {
  const length = <u32>(end - start);
  let a: u32 = 0x9e3779b9;
  let b: u32 = 0x85ebca6b;
  for (let p = start; p < end; p += 8) {
    let eight = load<u64>(p);
    const left = end - p;
    if (left < 8) eight &= ((<u64>1) << ((<u64>left) << 3)) - 1;
    let k = <u32>eight * 0xcc9e2d51;
    k = rotl(k, 15) * 0x1b873593;
    a = rotl(a ^ k, 13) * 5 + b;
    k = <u32>(eight >> 32) * 0x239b961b;
    k = rotl(k, 16) * 0xab0e9789;
    b = rotl(b ^ k, 17) * 5 + a + 0x561ccd1b;
  }
  a = scramble((a ^ length) + b);
  b = scramble((b ^ (length * 0x9e3779b1)) + a);
  a += b;
  b += a * 0x85ebca77;
  if ((a | b) === 0) b = 1;
  store<u32>(out, a);
  store<u32>(out, b, 4);
}

function scramble(value: u32): u32 {
  let h = value;
  h = (h ^ (h >> 16)) * 0x85ebca6b;
  h = (h ^ (h >> 13)) * 0xc2b2ae35;
  return h ^ (h >> 16);
}
