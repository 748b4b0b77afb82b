/**
 * Volatile stamps: values that change although nothing was written. In canonical text each becomes one byte.
 * Always: a date with a time, an age ("3 days ago"), a hash, a UUID, an address, a counter of views.
 * Only where the block or its label says "updated", "generated" …: a date or a time alone, and years.
 * A plain date elsewhere ("Meeting: 5 May") is content.
 */
import { copyRun, key, keyOf } from './hash';
import { CLASSES } from './memory';
import {
  AGO,
  AGO_BEFORE,
  COPYRIGHT,
  COUNTER,
  DIGIT,
  HEX,
  LETTER,
  MONTH,
  STAMP,
  UNIT,
  WEEKDAY,
  WORD,
  wordInfo,
  ZONE,
} from './tables';

const MARK: u32 = 1;
const KEY_AGO: u64 = key('ago');
const KEY_OLD: u64 = key('old');
const KEY_OF: u64 = key('of');
const KEY_A: u64 = key('a');
const KEY_AN: u64 = key('an');
const KEY_IL: u64 = key('il');
const KEY_DE: u64 = key('de');

function is(p: usize, classes: u32): bool {
  return (<u32>load<u8>(CLASSES + load<u8>(p)) & classes) !== 0;
}

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

/** First digit at or after `p`, or `end`. */
function nextDigit(start: usize, end: usize): usize {
  for (let p = start; p < end; p += 16) {
    const v = v128.load(p);
    const hits = i8x16.bitmask(i8x16.lt_u(i8x16.sub(v, i8x16.splat(48)), i8x16.splat(10)));
    if (hits !== 0) return min(p + ctz(hits), end);
  }
  return end;
}

/** A word that begins beyond ASCII ends at a digit, one that begins with a digit ends beyond ASCII: "更新：2020年". */
function wordEnd(start: usize, end: usize): usize {
  let p = start;
  if (p >= end) return p;
  const first: u32 = load<u8>(p);
  while (p < end && is(p, WORD)) {
    const c: u32 = load<u8>(p);
    if (first > 127 ? c < 58 : c > 127 && first < 58) break;
    p++;
  }
  return p;
}

function digitsEnd(start: usize, end: usize): usize {
  let p = start;
  while (p < end && is(p, DIGIT)) p++;
  return p;
}

/** Past one blank, comma or dot, or several; the same address when there is none. */
function skipBlanks(start: usize, end: usize): usize {
  let p = start;
  while (p < end && p < start + 3) {
    const c: u32 = load<u8>(p);
    if (c !== 32 && c !== 44 && c !== 46 && c !== 10) break;
    p++;
  }
  return p;
}

/** Words with which a stamp can begin. */
const WORDY: u32 = MONTH | WEEKDAY | AGO | AGO_BEFORE;

/** Digits of a number that is a build, a revision or a compact date where the block announces one. */
const LONG_NUMBER: usize = 6;

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
  if (!digit || !keyed || digitsEnd(p, end) !== token) return p;
  if (token - p >= LONG_NUMBER) return token;
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
    return keyOf(last, stop) === KEY_AGO ? stop : p;
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

function yearLike(p: usize): bool {
  const century: u32 = load<u16>(p);
  return century === 0x3931 || century === 0x3032; // "19", "20"
}

/** Hashes of 7 or more hexadecimal digits (with letters and digits), UUIDs, 0x addresses. */
function codeEnd(p: usize, token: usize, end: usize): usize {
  const length = token - p;
  if (length < 7) return p;
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
  if (length === 8 && token + 28 <= end && load<u8>(token) === 45 && uuidRest(token)) return token + 28;
  return digits > 0 && digits < <u32>(token - from) ? token : p;
}

/** "-dddd-dddd-dddd-dddddddddddd" */
function uuidRest(p: usize): bool {
  for (let i: usize = 0; i < 28; i++) {
    const dash = i === 0 || i === 5 || i === 10 || i === 15;
    if (dash ? load<u8>(p + i) !== 45 : !is(p + i, HEX)) return false;
  }
  return true;
}

/** "3 days ago", "3 days, 2 hours ago", "3日前", "1,234 views". */
function ageEnd(p: usize, end: usize): usize {
  let q = digitsEnd(p, end);
  while (q + 1 < end && (load<u8>(q) === 44 || load<u8>(q) === 46) && is(q + 1, DIGIT)) q = digitsEnd(q + 1, end);
  if (q >= end) return p;
  if (load<u8>(q) > 127) return eastAsianAgeEnd(p, q, end);
  if (load<u8>(q) !== 32) return p;
  const unit = wordEnd(q + 1, end);
  const info = wordInfo(keyOf(q + 1, unit));
  if ((info & COUNTER) !== 0) return q;
  if ((info & UNIT) === 0 || unit >= end) return p;
  const next = skipBlanks(unit, end);
  if (next > unit && next < end && is(next, DIGIT)) {
    const rest = ageEnd(next, end);
    return rest > next ? rest : p;
  }
  const last = wordEnd(unit + 1, end);
  const word = keyOf(unit + 1, last);
  return word === KEY_AGO || word === KEY_OLD ? last : p;
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

/** Whether the date last read came with a time of day. */
let full: bool = false;

/** A date, a time, or both in either order, with weekday and zone; `p` = none. */
function dateTimeEnd(p: usize, end: usize): usize {
  full = false;
  let date = dateEnd(p, end);
  if (date > p) {
    const time = timeEnd(afterJoin(date, end), end);
    if (time === 0) return date;
    full = true;
    return trailingYear(time, end);
  }
  const time = timeEnd(p, end);
  if (time === 0) return p;
  date = dateEnd(skipBlanks(time, end), end);
  if (date <= skipBlanks(time, end)) return time;
  full = true;
  return date;
}

/** Past what stands between a date and its time: blanks, "T", "at", a dash. */
function afterJoin(p: usize, end: usize): usize {
  let q = skipBlanks(p, end);
  if (q < end) {
    const c: u32 = load<u8>(q);
    if (c === 84 || c === 45 || c === 64 || c === 40) q = skipBlanks(q + 1, end);
    else if (q + 2 < end && (c | 32) === 97 && (load<u8>(q + 1) | 32) === 116) q = skipBlanks(q + 2, end);
  }
  return q;
}

/** "Mon May 25 10:15:02 UTC 2020": the year comes last. */
function trailingYear(p: usize, end: usize): usize {
  const q = skipBlanks(p, end);
  if (q === p || q + 4 > end || digitsEnd(q, end) - q !== 4 || !yearLike(q)) return p;
  return q + 4;
}

function dateEnd(start: usize, end: usize): usize {
  let p = start;
  if (p >= end) return start;
  if (!is(p, DIGIT)) {
    let stop = wordEnd(p, end);
    let info = wordInfo(keyOf(p, stop));
    if ((info & WEEKDAY) !== 0) {
      p = skipBlanks(stop, end);
      if (p >= end) return start;
      if (is(p, DIGIT)) return orStart(start, p, numericDateEnd(p, end));
      stop = wordEnd(p, end);
      info = wordInfo(keyOf(p, stop));
    }
    return (info & MONTH) !== 0 ? orStart(start, stop, monthFirstEnd(stop, end)) : start;
  }
  return orStart(start, p, numericDateEnd(p, end));
}

function orStart(start: usize, from: usize, stop: usize): usize {
  return stop > from ? stop : start;
}

/** Behind a month's name: "25, 2020", "25", "2020". */
function monthFirstEnd(p: usize, end: usize): usize {
  const q = skipBlanks(p, end);
  if (q === p || q >= end) return p;
  const number = digitsEnd(q, end);
  const length = number - q;
  if (length === 4) return yearLike(q) ? number : p;
  if (length === 0 || length > 2) return p;
  const day = wordEnd(number, end); // 1st, 2nd
  if (day - number > 2) return p;
  return yearAfter(day, end);
}

/** A year behind a day and month, if there is one. */
function yearAfter(p: usize, end: usize): usize {
  const q = skipBlanks(p, end);
  if (q > p && q + 4 <= end && digitsEnd(q, end) === q + 4 && yearLike(q)) return q + 4;
  return p;
}

function numericDateEnd(p: usize, end: usize): usize {
  const first = digitsEnd(p, end);
  if (first >= end) return p;
  const length = first - p;
  const mark: u32 = load<u8>(first);
  if (length === 8 && mark === 84 && digitsEnd(first + 1, end) - first === 7) {
    full = true;
    return zoneEnd(first + 7, end);
  }
  if (length !== 4 && length > 2) return p;
  if (mark === 45 || mark === 47 || mark === 46) {
    const second = digitsEnd(first + 1, end);
    const middle = second - first - 1;
    if (middle >= 1 && middle <= 2 && second < end && load<u8>(second) === mark) {
      const third = digitsEnd(second + 1, end);
      const last = third - second - 1;
      if (length === 4 ? last === 1 || last === 2 : last === 4 || (last === 2 && mark !== 46)) return third;
    }
  }
  if (length === 4) return eastAsianEnd(p, first, end);
  return dayFirstEnd(p, first, end);
}

/** "25 May 2020", "25. Mai 2020", "25th of May", "25-May-2020" */
function dayFirstEnd(p: usize, number: usize, end: usize): usize {
  let q = wordEnd(number, end);
  if (q - number > 2) return p;
  if (q < end && load<u8>(q) === 45) q++;
  else q = skipBlanks(q, end);
  let month = wordEnd(q, end);
  const word = keyOf(q, month);
  if (word === KEY_OF || word === KEY_DE) {
    q = skipBlanks(month, end);
    month = wordEnd(q, end);
  }
  if (month === q || (wordInfo(keyOf(q, month)) & MONTH) === 0) return p;
  if (month < end && load<u8>(month) === 45 && digitsEnd(month + 1, end) - month === 5) return month + 5;
  const year = yearAfter(month, end);
  if (year > month) return year;
  const again = skipBlanks(month, end);
  const link = wordEnd(again, end);
  return keyOf(again, link) === KEY_DE ? yearAfter(link, end) : month;
}

/** "2020年5月25日", "2020년 5월 25일" */
function eastAsianEnd(p: usize, year: usize, end: usize): usize {
  let q = year;
  let last = p;
  for (let part = 0; part < 3; part++) {
    if (q + 3 > end || load<u8>(q) < 0xe3) return last;
    q += 3;
    last = q;
    if (q < end && load<u8>(q) === 32) q++;
    const next = digitsEnd(q, end);
    if (next === q || next - q > 2) return part === 0 ? p : last;
    q = next;
  }
  return last;
}

/** "10:15", "10:15:02.123", with "am", "pm", a zone or an offset; 0 = no time here. */
function timeEnd(p: usize, end: usize): usize {
  const hour = digitsEnd(p, end);
  if (hour === p || hour - p > 2 || hour + 2 >= end || load<u8>(hour) !== 58) return 0;
  let q = digitsEnd(hour + 1, end);
  if (q !== hour + 3) return 0;
  if (q + 2 < end && load<u8>(q) === 58 && digitsEnd(q + 1, end) === q + 3) q += 3;
  if (q + 1 < end && load<u8>(q) === 46 && is(q + 1, DIGIT)) q = digitsEnd(q + 1, end);
  return zoneEnd(q, end);
}

function zoneEnd(p: usize, end: usize): usize {
  let stop = p;
  for (let times = 0; times < 2; times++) {
    let q = stop;
    if (q < end && (load<u8>(q) === 32 || load<u8>(q) === 40)) q++;
    if (q >= end) return stop;
    const c: u32 = load<u8>(q);
    if ((c === 43 || c === 45) && q + 2 < end && is(q + 1, DIGIT)) {
      let offset = digitsEnd(q + 1, end);
      if (offset + 1 < end && load<u8>(offset) === 58) offset = digitsEnd(offset + 1, end);
      stop = offset;
      continue;
    }
    if (!is(q, LETTER)) return stop;
    const word = wordEnd(q, end);
    if ((wordInfo(keyOf(q, word)) & ZONE) === 0) return stop;
    stop = word;
  }
  return stop;
}
