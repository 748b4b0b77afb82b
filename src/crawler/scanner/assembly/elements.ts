/**
 * The open elements. Only as exact as counting levels and knowing regions needs: end tags that are commonly left out
 * are implied, an end tag without a start is ignored, deeper nesting than MAX_DEPTH counts as that deep.
 */
import { LEVELS, MAX_DEPTH, STACK } from './memory';
import { BLOCK, KIND_PARAGRAPH, KIND_SVG, MAIN, SKIP, TEMPLATE } from './tables';

const NONE: i32 = 0x7fffffff;
/** End tags look at most this far for their start. */
const REACH: i32 = 128;

export const IN_AD: u32 = 1;
export const IN_TEMPLATE: u32 = 2;
/** Inside an element whose class says that its date is volatile. */
export const IN_STAMP: u32 = 4;

export let depth: i32 = 0;
let overflow: i32 = 0;

// A region is the depth of the element that opened it; inside while depth is at least that.
let skipFrom: i32 = NONE;
let svgFrom: i32 = NONE;
let adFrom: i32 = NONE;
let templateFrom: i32 = NONE;
let mainFrom: i32 = NONE;
let stampFrom: i32 = NONE;

export function resetElements(): void {
  depth = 0;
  overflow = 0;
  leave();
  memory.fill(LEVELS, 0, 24 * 4);
}

export function skipping(): bool {
  return depth >= skipFrom;
}

export function inSvg(): bool {
  return depth >= svgFrom;
}

export function inAd(): bool {
  return depth >= adFrom;
}

export function inTemplate(): bool {
  return depth >= templateFrom;
}

/** The regions that bear on a block's text. */
export function region(): u32 {
  return (inAd() ? IN_AD : 0) | (inTemplate() ? IN_TEMPLATE : 0) | (depth >= stampFrom ? IN_STAMP : 0);
}

export function markAd(): void {
  if (adFrom === NONE) adFrom = depth;
}

/** Navigation inside what the page is about belongs to it: steps to the next page, a table of contents. */
export function markTemplate(): void {
  if (templateFrom === NONE && mainFrom === NONE) templateFrom = depth;
}

export function markStamp(): void {
  if (stampFrom === NONE) stampFrom = depth;
}

function leave(): void {
  if (depth < skipFrom) skipFrom = NONE;
  if (depth < svgFrom) svgFrom = NONE;
  if (depth < adFrom) adFrom = NONE;
  if (depth < templateFrom) templateFrom = NONE;
  if (depth < mainFrom) mainFrom = NONE;
  if (depth < stampFrom) stampFrom = NONE;
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

export function push(key: u64, info: u32): void {
  if (depth >= MAX_DEPTH) {
    overflow++;
    return;
  }
  const at = STACK + ((<usize>depth) << 4);
  store<u64>(at, key);
  store<u32>(at, info, 8);
  depth++;
  if ((info & (SKIP | TEMPLATE | MAIN)) === 0) return;
  if ((info & SKIP) !== 0 && skipFrom === NONE) skipFrom = depth;
  if (((info >> 8) & 255) === KIND_SVG && svgFrom === NONE) svgFrom = depth;
  if ((info & TEMPLATE) !== 0) markTemplate();
  if ((info & MAIN) !== 0 && mainFrom === NONE) mainFrom = depth;
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
