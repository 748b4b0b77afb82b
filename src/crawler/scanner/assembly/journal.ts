/**
 * What a page refers to and how it is marked up, piece by piece and in order: for whoever compares two versions of it and
 * has to know what differs. Written only when the host asks for it, in the room of the resolved URLs, which then are not
 * wanted. An entry: hash (8), kind and length of its value (4), the value.
 */
import { mix } from './hash';
import { grow, urls } from './memory';

export const LINK: u32 = 1;
export const PICTURE: u32 = 2;
/** The tags of one block of text. */
const TAGS: u32 = 3;
/** What was masked in the canonical text, in the order of its masks; not in the order of the others. */
const MASKED: u32 = 4;
/** Longer values are told apart by their hash alone. */
const MOST_VALUE: usize = 1024;

export let noting: bool = false;
export let journalEnd: usize = 0;
let tags: u64 = 0;

/** Whether the next pages' pieces are to be written. */
export function note(on: bool): void {
  noting = on;
}

export function resetJournal(): void {
  journalEnd = urls;
  tags = 0;
}

export function noteValue(kind: u32, hash: u64, start: usize, end: usize): void {
  const length = min(end - start, MOST_VALUE);
  if (!grow(journalEnd + 12 + length)) return;
  store<u64>(journalEnd, hash);
  store<u32>(journalEnd, kind | ((<u32>length) << 8), 8);
  memory.copy(journalEnd + 12, start, length);
  journalEnd += 12 + length;
}

export function noteMasked(start: usize, end: usize): void {
  noteValue(MASKED, 0, start, end);
}

export function noteTag(name: u64): void {
  tags = mix(tags, name);
}

/** A block of text has ended, or the page. */
export function noteTags(): void {
  noteValue(TAGS, tags, 0, 0);
  tags = 0;
}
