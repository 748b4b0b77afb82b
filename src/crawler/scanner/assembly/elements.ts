/**
 * The open elements. Only as exact as counting levels and knowing regions needs: end tags that are commonly left out
 * are implied, an end tag without a start is ignored, deeper nesting than MAX_DEPTH counts as that deep.
 */
import { LEVELS, MAX_DEPTH, STACK } from './memory';
import { BLOCK, KIND_PARAGRAPH, KIND_SVG, MAIN, SKIP, TEMPLATE } from './tables';

const NONE: i32 = 0x7fffffff;
/** End tags look at most this far for their start. */
const REACH: i32 = 128;

/** Regions of a page, one bit each. */
export const IN_AD: u32 = 1;
export const IN_TEMPLATE: u32 = 2;
/** Inside an element whose class says that its date is volatile. */
export const IN_STAMP: u32 = 4;
/** Text is not visible. */
const IN_SKIP: u32 = 8;
const IN_SVG: u32 = 16;
const IN_MAIN: u32 = 32;
/** A page within a drawing. */
const IN_FOREIGN: u32 = 64;

export let depth: i32 = 0;
let overflow: i32 = 0;

/** The regions at hand. Kept as bits, because they are asked for at every tag and change at few. */
export let regions: u32 = 0;
// Depth of the element that opened each of them, and of the last that opened any; inside while depth is at least that.
let skipFrom: i32 = NONE;
let svgFrom: i32 = NONE;
let adFrom: i32 = NONE;
let templateFrom: i32 = NONE;
let mainFrom: i32 = NONE;
let stampFrom: i32 = NONE;
let foreignFrom: i32 = NONE;
let lastFrom: i32 = 0;

export function resetElements(): void {
  depth = 0;
  overflow = 0;
  leave();
  memory.fill(LEVELS, 0, 24 * 4);
}

export function skipping(): bool {
  return (regions & IN_SKIP) !== 0 && ((regions & IN_FOREIGN) === 0 || skipFrom !== svgFrom);
}

export function inSvg(): bool {
  return (regions & (IN_SVG | IN_FOREIGN)) === IN_SVG;
}

/** A drawing that was never closed ends where something begins that only stands in pages. */
export function leaveSvg(): void {
  depth = svgFrom - 1;
  leave();
}

/** The element opened last holds a page: its text is read like any other. */
export function markForeign(): void {
  if (foreignFrom === NONE) foreignFrom = begin(IN_FOREIGN);
}

export function inAd(): bool {
  return (regions & IN_AD) !== 0;
}

export function inTemplate(): bool {
  return (regions & IN_TEMPLATE) !== 0;
}

/** The element opened last begins a region; returns its depth. */
function begin(region: u32): i32 {
  regions |= region;
  lastFrom = depth;
  return depth;
}

export function markAd(): void {
  if (adFrom === NONE) adFrom = begin(IN_AD);
}

/** Navigation inside what the page is about belongs to it: steps to the next page, a table of contents. */
export function markTemplate(): void {
  if (templateFrom === NONE && mainFrom === NONE) templateFrom = begin(IN_TEMPLATE);
}

export function markStamp(): void {
  if (stampFrom === NONE) stampFrom = begin(IN_STAMP);
}

/** Ends the regions that began deeper than here. */
function leave(): void {
  if (depth < lastFrom) leaveRegions();
}

function leaveRegions(): void {
  regions = 0;
  lastFrom = 0;
  skipFrom = still(skipFrom, IN_SKIP);
  svgFrom = still(svgFrom, IN_SVG);
  adFrom = still(adFrom, IN_AD);
  templateFrom = still(templateFrom, IN_TEMPLATE);
  mainFrom = still(mainFrom, IN_MAIN);
  stampFrom = still(stampFrom, IN_STAMP);
  foreignFrom = still(foreignFrom, IN_FOREIGN);
}

function still(from: i32, region: u32): i32 {
  if (depth < from) return NONE;
  regions |= region;
  lastFrom = max(lastFrom, from);
  return from;
}

function infoAt(level: i32): u32 {
  return load<u32>(STACK + ((<usize>level) << 4), 8);
}

/** Ends the elements that the start of another one ends without saying so. */
export function implyEnds(info: u32): void {
  if ((info & BLOCK) !== 0 && depth > 0 && ((infoAt(depth - 1) >> 8) & 255) === KIND_PARAGRAPH) pop();
  const group = (info >> 16) & 15;
  if (group === 0) return;
  while (depth > 0) {
    const open = (infoAt(depth - 1) >> 16) & 15;
    // Cells, rows and row groups (4, 5, 6) also end what lies inside them; the others only their like.
    if (open === 0 || open > group || (open < group && (open < 4 || group < 4))) return;
    pop();
  }
}

function pop(): void {
  depth--;
  leave();
}

/** Counts the element on its level. */
export function count(): void {
  const at = LEVELS + ((<usize>min(depth, 23)) << 2);
  store<u32>(at, load<u32>(at) + 1);
}

/** `length` of the name if its key is the name itself, else 0. */
export function push(key: u64, info: u32, length: usize): void {
  if (depth >= MAX_DEPTH) {
    overflow++;
    return;
  }
  const at = STACK + ((<usize>depth) << 4);
  store<u64>(at, key);
  store<u32>(at, info, 8);
  store<u32>(at, <u32>length, 12);
  depth++;
  if ((info & (SKIP | TEMPLATE | MAIN)) !== 0) enterRegions(info);
}

function enterRegions(info: u32): void {
  if ((info & SKIP) !== 0 && skipFrom === NONE) skipFrom = begin(IN_SKIP);
  if (((info >> 8) & 255) === KIND_SVG && svgFrom === NONE) svgFrom = begin(IN_SVG);
  if ((info & TEMPLATE) !== 0) markTemplate();
  if ((info & MAIN) !== 0 && mainFrom === NONE) mainFrom = begin(IN_MAIN);
}

/** Length of the name of the element opened last, if `p` is behind the `</` of its end tag; 0 = it is another tag. */
export function lastClosedAt(p: usize): usize {
  if (depth === 0) return 0;
  const at = STACK + ((<usize>(depth - 1)) << 4);
  const length: usize = load<u32>(at, 12);
  const name = load<u64>(p) & (~(<u64>0) >> ((<u64>(8 - length)) << 3));
  return name === load<u64>(at) && load<u8>(p + length) === 62 ? length : 0;
}

export function lastInfo(): u32 {
  return infoAt(depth - 1);
}

export function closeLast(): void {
  if (overflow > 0) {
    overflow--;
    return;
  }
  depth--;
  leave();
}

export function isOpen(key: u64): bool {
  for (let level = depth - 1; level >= max(0, depth - REACH); level--) {
    if (load<u64>(STACK + ((<usize>level) << 4)) === key) return true;
  }
  return false;
}

export function close(key: u64): void {
  if (overflow > 0) {
    overflow--;
    return;
  }
  const last = max(0, depth - REACH);
  for (let level = depth - 1; level >= last; level--) {
    if (load<u64>(STACK + ((<usize>level) << 4)) !== key) continue;
    depth = level;
    leave();
    return;
  }
}
