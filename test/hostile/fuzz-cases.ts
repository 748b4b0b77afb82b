/**
 * Values for fuzzing by structure: every field of a record is drawn by itself, mostly as it should be and now and then as
 * only an attacker would write it. Bytes changed at random seldom get past the first length.
 */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { SkeinError } from '../../src/base/errors.ts';
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

const WILD = [12, 60, 60, 200];

/**
 * Runs the cases; `one` says whether the input was taken. Something has to be taken, and something refused: by its answer, or
 * by an error for people.
 */
export async function fuzz(
  context: TestContext,
  one: (draw: Draw, index: number) => boolean | Promise<boolean>,
): Promise<void> {
  context.diagnostic(`seed ${SEED}, ${CASES} cases`);
  let taken = 0;
  for (let i = 0; i < CASES; i++) {
    const seed = SEED * 1_000_003 + i;
    try {
      // Most have one odd field or none, so that what lies behind the first check is reached; some have many.
      const answer = one(drawing(seed, WILD[i % WILD.length]), i);
      if (answer === true || (answer !== false && (await answer))) taken++;
    } catch (error) {
      if (error instanceof SkeinError) continue;
      throw new Error(`case ${i} of seed ${SEED}`, { cause: error });
    }
  }
  context.diagnostic(`${taken} taken`);
  assert.ok(taken > 0.3 * CASES && taken < CASES, `${taken} of ${CASES} were taken`);
}

/** JSON of the same form in which, now and then, a value is not what it should be. */
export function misshapen(value: unknown, draw: Draw): unknown {
  const { random } = draw;
  const asIs = draw.flag(true);
  if (!asIs) {
    return random.pick<() => unknown>([
      () => null,
      () => draw.number(random.pick(NUMBERS)),
      () => random.pick(TEXTS),
      () => [],
      () => ({}),
      () => !value,
      () => [value, value, value],
      () => JSON.parse(`${'['.repeat(3000)}${']'.repeat(3000)}`) as unknown,
      () => JSON.parse('{"__proto__":{"polluted":true},"constructor":1}') as unknown,
    ])();
  }
  if (typeof value === 'number') return draw.number(value);
  if (typeof value === 'string') return draw.text(value);
  if (Array.isArray(value))
    return draw.list(
      value.map(each => misshapen(each, draw)),
      () => misshapen(value[0], draw),
    );
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(() => draw.flag(true));
  return Object.fromEntries(fields.map(([name, each]) => [name, misshapen(each, draw)]));
}

/** Bytes of which, now and then, one is another or the last are missing. */
export function damaged(bytes: Uint8Array, { random }: Draw): Uint8Array {
  const copy = Buffer.from(bytes);
  const how = random.below(12);
  if (how === 0 && copy.length > 0) copy[random.below(copy.length)] = random.below(256);
  if (how === 1) return copy.subarray(0, random.below(copy.length + 1));
  return how === 2 ? Buffer.concat([copy, random.bytes(9)]) : copy;
}
