/**
 * Volatile stamps: values that change although nothing was written. In canonical text each becomes one byte.
 * Always: a date with a time, an age ("3 days ago"), a hash, a UUID, an address.
 * Only where the block or its label says "updated", "generated" …: a date or a time alone, a number of seven digits and more; beside
 * "copyright" also a year.
 * A plain date elsewhere ("Meeting: 5 May") is content, and so are other numbers: of a counter second looks tell.
 */
import { dateTimeEnd, digitsEnd, full, is, skipBlanks, wordEnd, yearLike } from './dates';
import { copyRun, key, keyOf, nextDigit } from './hash';
import { noteMasked, noting } from './journal';
import { wordInfo } from './lexicon';
import { AGO, AGO_BEFORE, COPYRIGHT, DIGIT, HASHED, HEX, MONTH, STAMP, UNIT, WEEKDAY, WORD } from './tables';

const MARK: u32 = 1;
/** Shorter runs of hexadecimal digits are not taken for a hash. */
const HASH_DIGITS: usize = 7;
const KEY_OLD: u64 = key('old');
const KEY_A: u64 = key('a');
const KEY_AN: u64 = key('an');
const KEY_IL: u64 = key('il');

/** A stamp begins at most this far before its first digit: "Wednesday, September 25". */
const REACH: usize = 32;

/**
 * Copies [start, end) to `to` with stamps replaced; returns where the copy ends. `flags` are those of the block's
 * words: STAMP = it announces volatile dates, COPYRIGHT = and years, AGO = it may have an age without digits.
 */
export function maskStamps(start: usize, end: usize, to: usize, flags: u32): usize {
  let p = start;
  while (p < end) {
    // Only words near a digit can begin a stamp; looking at every word cost a seventh of the time on real pages.
    const digit = (flags & AGO) !== 0 ? end : nextDigit(p, end);
    if ((flags & AGO) === 0) {
      let from = digit >= end ? end : digit > p + REACH ? digit - REACH : p;
      if (from > p) while (from < digit && is(from, WORD)) from++;
      to = copyRun(to, p, from);
      p = from;
    }
    while (p < end && p <= digit) {
      if (!is(p, WORD)) {
        store<u8>(to++, load<u8>(p++));
        continue;
      }
      const stop = stampAt(p, end, flags);
      if (stop > p) {
        store<u8>(to++, MARK);
        // Where the block announces one, it is a stamp whatever it says.
        if (noting) noteMasked(p, (flags & STAMP) !== 0 ? p : stop);
        p = stop;
        continue;
      }
      const next = wordEnd(p, end);
      to = copyRun(to, p, next);
      p = next;
    }
  }
  return to;
}

/** Words with which a stamp can begin. */
const WORDY: u32 = MONTH | WEEKDAY | AGO | AGO_BEFORE;

/** End of the stamp that begins with the word at `p`; `p` = none does. */
function stampAt(p: usize, end: usize, flags: u32): usize {
  const token = wordEnd(p, end);
  const code = codeEnd(p, token, end);
  if (code > p) return code;
  const digit = is(p, DIGIT);
  if (digit) {
    const age = ageEnd(p, end);
    if (age > p) return age;
  } else {
    if ((flags & WORDY) === 0) return p;
    const info = wordInfo(keyOf(p, token));
    const age = (flags & (AGO | AGO_BEFORE)) === 0 ? p : wordyAgeEnd(p, token, end, info);
    if (age > p) return age;
    if ((info & (MONTH | WEEKDAY)) === 0) return p;
  }
  const stop = dateTimeEnd(p, end);
  const keyed = (flags & STAMP) !== 0;
  if (stop > p) return keyed || full ? stop : p;
  if (!digit || digitsEnd(p, end) !== token) return p;
  // A compact date, or a hash that has no letters by chance.
  if (((flags & HASHED) !== 0 || keyed) && token - p >= HASH_DIGITS) return token;
  if (!keyed) return p;
  return (flags & COPYRIGHT) !== 0 && token - p === 4 && yearLike(p) ? token : p;
}

/** "an hour ago", "vor 3 Tagen", "hace 3 días", "il y a 3 jours" */
function wordyAgeEnd(p: usize, token: usize, end: usize, info: u32): usize {
  const word = keyOf(p, token);
  let q = skipBlanks(token, end);
  if (word === KEY_A || word === KEY_AN) {
    const unit = wordEnd(q, end);
    if ((wordInfo(keyOf(q, unit)) & UNIT) === 0) return p;
    const last = skipBlanks(unit, end);
    const stop = wordEnd(last, end);
    return (wordInfo(keyOf(last, stop)) & AGO) !== 0 ? stop : p;
  }
  if ((info & AGO_BEFORE) === 0) return p;
  // "il y a"
  if (word === KEY_IL) {
    if (q + 4 > end || load<u32>(q) !== 0x20612079) return p;
    q += 4;
  }
  const number = digitsEnd(q, end);
  if (number === q || number >= end || load<u8>(number) !== 32) return p;
  const unit = wordEnd(number + 1, end);
  return (wordInfo(keyOf(number + 1, unit)) & UNIT) !== 0 ? unit : p;
}

/** Hashes of 7 or more hexadecimal digits (with letters and digits), UUIDs, 0x addresses. */
function codeEnd(p: usize, token: usize, end: usize): usize {
  const length = token - p;
  if (length < HASH_DIGITS) return p;
  let q = p;
  const prefixed = load<u16>(p) === 0x7830; // "0x"
  if (prefixed) q += 2;
  let digits: u32 = 0;
  const from = q;
  for (; q < token; q++) {
    if (!is(q, HEX)) return p;
    if (is(q, DIGIT)) digits++;
  }
  if (prefixed) return token;
  if (isAccount(p, token)) return p;
  if (length === 8 && token + 28 <= end && load<u8>(token) === 45 && uuidRest(token)) return token + 28;
  return digits > 0 && digits < <u32>(token - from) ? token : p;
}

/** One or two capitals and digits alone: the number of an account, a flight, a part. Hashes are mixed, and mostly in small letters. */
function isAccount(p: usize, token: usize): bool {
  let q = p;
  while (q < token && load<u8>(q) >= 65 && load<u8>(q) <= 70) q++;
  return q > p && q <= p + 2 && digitsEnd(q, token) === token;
}

/** "-dddd-dddd-dddd-dddddddddddd" */
function uuidRest(p: usize): bool {
  for (let i: usize = 0; i < 28; i++) {
    const dash = i === 0 || i === 5 || i === 10 || i === 15;
    if (dash ? load<u8>(p + i) !== 45 : !is(p + i, HEX)) return false;
  }
  return true;
}

/**
 * Parts of an age, and groups of a number. A page that is made of nothing else would be read to its end from each of
 * them: with numbers that is an hour for a megabyte, with ages the end of the stack.
 */
const MOST_PARTS: u32 = 7;
const MOST_GROUPS: u32 = 6;

/** "3 days ago", "3 days, 2 hours ago", "5 minutes old", "3日前". A person is years old. */
function ageEnd(p: usize, end: usize): usize {
  let at = p;
  for (let part: u32 = 0; part < MOST_PARTS; part++) {
    const q = numberEnd(at, end);
    if (q >= end) return p;
    if (load<u8>(q) > 127) {
      const stop = eastAsianAgeEnd(at, q, end);
      return stop > at ? stop : p;
    }
    if (load<u8>(q) !== 32) return p;
    const unit = wordEnd(q + 1, end);
    const info = wordInfo(keyOf(q + 1, unit));
    if ((info & UNIT) === 0 || unit >= end) return p;
    const next = skipBlanks(unit, end);
    if (next === unit || next >= end || !is(next, DIGIT)) {
      const last = wordEnd(unit + 1, end);
      const word = keyOf(unit + 1, last);
      if (word === KEY_OLD) return (load<u8>(q + 1) | 32) === YEARS ? p : last;
      return (wordInfo(word) & AGO) !== 0 ? last : p;
    }
    at = next;
  }
  return p;
}

const YEARS: u8 = 121; // their first letter

/** "1,234.5" */
function numberEnd(p: usize, end: usize): usize {
  let q = digitsEnd(p, end);
  for (let group: u32 = 0; group < MOST_GROUPS; group++) {
    if (q + 1 >= end || (load<u8>(q) !== 44 && load<u8>(q) !== 46) || !is(q + 1, DIGIT)) break;
    q = digitsEnd(q + 1, end);
  }
  return q;
}

const BEFORE: u32 = 0x8d89e5; // 前, as its three bytes are read

/** A number, one or two characters, and 前. */
function eastAsianAgeEnd(p: usize, number: usize, end: usize): usize {
  for (let q = number + 3; q <= number + 9 && q + 3 <= end; q += 3) {
    if ((load<u32>(q) & 0xffffff) === BEFORE) return q + 3;
    if (load<u8>(q) < 0xe3) return p;
  }
  return p;
}
