/**
 * Where everything lies: tables of fixed size (layout.ts), and above them the input and what is made of it, each as long
 * as the input, because nothing that the scanner writes is longer than what it read. So memory depends on the input's
 * length alone, never on its contents.
 */

import { INPUT, MAX_INPUT, UNIQUE } from './layout';

export * from './layout';
/** Which links the host has to resolve; they are packed after that. */
export const LEFT_OVER: usize = UNIQUE;
/** Room behind each buffer for reads of 16 bytes at once. */
const MARGIN: usize = 64;

export let text: usize = 0;
export let canon: usize = 0;
export let references: usize = 0;
export let anchors: usize = 0;
export let anchorsEnd: usize = 0;
export let urls: usize = 0;

/** Makes room for an input of `length` bytes; 0 = too long. */
export function reserve(length: usize): usize {
  if (length > MAX_INPUT) return 0;
  const span = (length + MARGIN * 2) & ~15;
  text = INPUT + span;
  canon = text + span;
  references = canon + span + 64;
  anchors = references + span + 65536;
  anchorsEnd = anchors + span + 65536;
  urls = anchorsEnd + MARGIN;
  // Enough for nearly every page; more of it comes when it is needed.
  return grow(urls + span + 65536) ? INPUT : 0;
}

/** Makes memory reach beyond `end`; false when there is no more. */
export function grow(end: usize): bool {
  const pages = <i32>((end + MARGIN + 65535) >> 16);
  return pages <= memory.size() || memory.grow(pages - memory.size()) >= 0;
}
