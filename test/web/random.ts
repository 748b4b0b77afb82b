/**
 * Randomness without state: every choice of the synthetic web is a hash of the seed and of what the choice is about,
 * so that any page can be made at any time, in any order, in any process, and comes out the same.
 */

/** Mixes one more number into a 32-bit hash. */
export function mix(hash: number, value: number): number {
  let h = Math.imul(hash ^ value, 0x9e3779b1);
  h = Math.imul(h ^ (h >>> 15), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Hash of two to four numbers in order. Not variadic: the array would cost more than the hash. */
export function hashOf(seed: number, a: number, b?: number, c?: number): number {
  let h = mix(mix(0x51ed270b, seed >>> 0), a >>> 0);
  if (b !== undefined) h = mix(h, b >>> 0);
  return c === undefined ? h : mix(h, c >>> 0);
}

/** 32-bit hash of a text, to start a chain from a path or a name. */
export function hashText(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return mix(h >>> 0, text.length);
}

/** The hash as a number in [0, 1). */
export function share(hash: number): number {
  return hash / 0x1_0000_0000;
}

/** One of the choices; the list must not be empty. */
export function pick<T>(choices: readonly T[], hash: number): T {
  return choices[Math.floor(share(hash) * choices.length)] as T;
}

/** A stretch of time from the exponential distribution with the given mean. */
export function exponential(mean: number, hash: number): number {
  return -Math.log(1 - share(hash)) * mean;
}
