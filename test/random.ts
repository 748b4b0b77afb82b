/** Seeded random input for tests: the same seed gives the same text on every machine. */
export interface Random {
  /** Uniform in 0 … limit − 1. */
  below(limit: number): number;
  pick<T>(from: readonly T[]): T;
  /** `count` pieces, joined. */
  text(pieces: readonly string[], count: number): string;
  /** Up to `length` characters of anything: controls, ASCII, accents, other scripts, lone surrogates. */
  garbage(length: number): string;
  bytes(length: number): Uint8Array;
}

export function randomly(seed: number): Random {
  let state = (seed * 2654435761) | 0 || 1;
  const below = (limit: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
  const pick = <T>(from: readonly T[]): T => from[below(from.length)]!;
  const tops = [32, 128, 128, 128, 256, 0x3000, 0x10000];
  return {
    below,
    pick,
    text: (pieces, count) => Array.from({ length: count }, () => pick(pieces)).join(''),
    garbage: length => {
      let out = '';
      for (let i = below(length + 1); i > 0; i--) out += String.fromCharCode(below(pick(tops)));
      return out;
    },
    bytes: length => Uint8Array.from({ length: below(length + 1) }, () => below(256)),
  };
}
