/**
 * The words that mean something, found by their key. An index of numbers leads to the entries: it is large enough that
 * hardly a word of a page meets another's number, so that asking for a word needs no branch that goes now one way, now
 * the other.
 */
import { spread } from './hash';
import { WORD_INDEX, WORDS } from './memory';

/** Entries of 16 bytes: key (8), what the word is (4), number of the next entry of the same place (4). 0 is no entry. */
let entries: u32 = 0;

/** Address of the first entry at the key's place. `scattered` is spread(key). */
export function firstEntry(scattered: u64): usize {
  return WORDS + ((<usize>load<u16>(indexOf(scattered))) << 4);
}

function indexOf(scattered: u64): usize {
  return WORD_INDEX + ((<usize>(scattered >> 51)) << 1);
}

/** What the word is, of those that follow the entry; 0 = it is none of them. */
export function infoBehind(entry: usize, key: u64): u32 {
  let at = entry;
  while (true) {
    const next: u32 = load<u32>(at, 12);
    if (next === 0) return 0;
    at = WORDS + (next << 4);
    if (load<u64>(at) === key) return load<u32>(at, 8);
  }
}

export function wordInfo(key: u64): u32 {
  const at = firstEntry(spread(key));
  return load<u64>(at) === key ? load<u32>(at, 8) : infoBehind(at, key);
}

/** Adds to what the word is. */
export function enterWord(key: u64, info: u32): void {
  const index = indexOf(spread(key));
  let number: u32 = load<u16>(index);
  while (number !== 0 && load<u64>(WORDS + (number << 4)) !== key) number = load<u32>(WORDS + (number << 4), 12);
  if (number === 0) {
    number = ++entries;
    store<u64>(WORDS + (number << 4), key);
    store<u32>(WORDS + (number << 4), load<u16>(index), 12);
    store<u16>(index, number);
  }
  const at = WORDS + (number << 4);
  store<u32>(at, load<u32>(at, 8) | info, 8);
}
