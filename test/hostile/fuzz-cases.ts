/**
 * Values for fuzzing by structure: every field of a record is drawn by itself, mostly as it should be and now and then as
 * only an attacker would write it. Bytes changed at random seldom get past the first length.
 */
import { type Random, randomly } from '../random.ts';

/** SKEIN_FUZZ=100000 for a long run, SKEIN_FUZZ_SEED for another one. */
export const CASES = Number(process.env['SKEIN_FUZZ'] ?? 2000);
export const SEED = Number(process.env['SKEIN_FUZZ_SEED'] ?? 1);

const NUMBERS = [
  ...[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, -0, 0.5, 1e308, -1e308, 5e-324],
  ...[0, 1, 127, 128, 255, 256, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 8.64e15, 1e18],
];
const TEXTS = [
  ...['', ' ', '\0', '\r\n', 'a\r\nb: c', '\u001b[2J', '\u202e', '../../etc/passwd', '__proto__', 'constructor'],
  ...['http://', 'http://[', 'http://a b/', 'file:///etc/passwd', 'javascript:alert(1)', '*', '**', '(((((a+)+)+)+)$'],
  ...['\ud800', '\u{1f986}', 'x'.repeat(5000), 'http://geese.example/', 'http://other.example/', '127.0.0.1', '::1'],
];

export interface Draw {
  readonly random: Random;
  /** Hardly ever what is given. */
  number(usual: number): number;
  whole(usual: number): number;
  text(usual: string): string;
  bytes(usual: Uint8Array): Uint8Array;
  flag(usual: boolean): boolean;
  /** Present, absent, as it was. */
  maybe<T>(value: T): T | undefined;
  list<T>(usual: readonly T[], make: () => T): T[];
}

/** `wild`: one field in so many is not as it should be. */
export function drawing(seed: number, wild = 12): Draw {
  const random = randomly(seed);
  const odd = () => random.below(wild) === 0;
  return {
    random,
    number: usual => (odd() ? random.pick(NUMBERS) : usual),
    // The writer takes whole numbers up to 2^53 only.
    whole: usual => (odd() ? Math.min(2 ** 53 - 1, Math.abs(Math.trunc(random.pick(NUMBERS))) || 0) : usual),
    text: usual => (odd() ? (random.below(3) === 0 ? random.garbage(40) : random.pick(TEXTS)) : usual),
    bytes: usual => (odd() ? random.bytes(random.pick([0, 1, 7, 16, 64, 400])) : usual),
    flag: usual => (odd() ? !usual : usual),
    maybe: value => (random.below(3) === 0 ? undefined : value),
    list: (usual, make) => (odd() ? Array.from({ length: random.below(4) }, make) : [...usual]),
  };
}
