/** Hashes of text in 53 bits, as many as a number holds: for telling values and places apart, never for trust. */

export function hashOf(text: string): number {
  let low = 0x9e3779b9 ^ text.length;
  let high = 0x85ebca6b;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code ^ (low >>> 15), 0x5bd1e995);
  }
  return joined(low, high);
}

/** The order counts. */
export function hashAll(numbers: readonly number[]): number {
  let low = 0x9e3779b9 ^ numbers.length;
  let high = 0x85ebca6b;
  for (const number of numbers) {
    for (const part of [number | 0, (number / 2 ** 32) | 0]) {
      low = Math.imul(low ^ part ^ (low >>> 13), 0x01000193);
      high = Math.imul(high ^ part ^ (low >>> 15), 0x5bd1e995);
    }
  }
  return joined(low, high);
}

function joined(low: number, high: number): number {
  const mixed = Math.imul(low ^ (low >>> 16), 0x7feb352d);
  const other = Math.imul(high ^ (high >>> 15) ^ mixed, 0x846ca68b);
  return ((other ^ (other >>> 16)) & 0x1fffff) * 2 ** 32 + ((mixed ^ (mixed >>> 15) ^ other) >>> 0);
}
