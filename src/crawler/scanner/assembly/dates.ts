/**
 * Reads dates, times of day and zones as people and programs write them, in the scripts and languages of words.ts. Each
 * function gets the address where something may begin and returns where it ends.
 */
import { key, keyOf, tokenEnd } from './hash';
import { wordInfo } from './lexicon';
import { CLASSES } from './memory';
import { DIGIT, LETTER, MONTH, WEEKDAY, WORD, ZONE } from './tables';

const KEY_OF: u64 = key('of');
const KEY_DE: u64 = key('de');

/** Whether the byte at `p` has one of the classes. */
export function is(p: usize, classes: u32): bool {
  return (<u32>load<u8>(CLASSES + load<u8>(p)) & classes) !== 0;
}

/** A word that begins beyond ASCII ends at a digit, one that begins with a digit ends beyond ASCII: "更新：2020年". */
export function wordEnd(start: usize, end: usize): usize {
  if (start >= end) return start;
  const first: u32 = load<u8>(start);
  let p = first > 127 ? start : tokenEnd(start, end);
  while (p < end && is(p, WORD)) {
    const c: u32 = load<u8>(p);
    if (first > 127 ? c < 58 : c > 127 && first < 58) break;
    p++;
  }
  return p;
}

export function digitsEnd(start: usize, end: usize): usize {
  let p = start;
  while (p < end && is(p, DIGIT)) p++;
  return p;
}

/** Past one blank, comma or dot, or several; the same address when there is none. */
export function skipBlanks(start: usize, end: usize): usize {
  let p = start;
  while (p < end && p < start + 3) {
    const c: u32 = load<u8>(p);
    if (c !== 32 && c !== 44 && c !== 46 && c !== 10) break;
    p++;
  }
  return p;
}

export function yearLike(p: usize): bool {
  const century: u32 = load<u16>(p);
  return century === 0x3931 || century === 0x3032; // "19", "20"
}

/** Whether the date last read came with a time of day. */
export let full: bool = false;

/** A date, a time, or both in either order, with weekday and zone; `p` = none. */
export function dateTimeEnd(p: usize, end: usize): usize {
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

const KEY_AT: u64 = key('at');
const KEY_UM: u64 = key('um');

/** Past what stands between a date and its time: blanks, "T", "at", a dash, a bar, a bracket. */
function afterJoin(p: usize, end: usize): usize {
  const q = skipBlanks(p, end);
  if (q >= end) return q;
  const c: u32 = load<u8>(q);
  if (c === 84 || c === 45 || c === 64 || c === 40 || c === 124) return skipBlanks(q + 1, end);
  if (c === 0xe2 && q + 3 < end) return skipBlanks(q + 3, end); // – and —
  if (c === 0xc2 && q + 2 < end) return skipBlanks(q + 2, end); // ·
  const word = wordEnd(q, end);
  const joint = keyOf(q, word);
  return joint === KEY_AT || joint === KEY_UM ? skipBlanks(word, end) : q;
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
      if (length === 4 ? last === 1 || last === 2 : last === 4 || last === 2) return third;
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
    // a.m., p.m.
    if (q + 2 < end && load<u8>(q + 1) === 46 && (load<u8>(q + 2) | 32) === 109) {
      stop = q + 3;
      continue;
    }
    const word = wordEnd(q, end);
    if ((wordInfo(keyOf(q, word)) & ZONE) === 0) return stop;
    stop = word;
  }
  return stop;
}
