/** The fast encoder: whatever goes in, zlib gets it back. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { lent } from '../../src/base/borrowed.ts';
import { buildDeflate } from '../../src/errand/deflate/build.ts';
import { deflateInput, inputRoom, MAX_INPUT } from '../../src/errand/deflate/deflate.ts';
import { type Random, randomly } from '../random.ts';

const file = new URL('../../src/errand/deflate/deflate.wasm', import.meta.url);

function deflated(input: Uint8Array): Uint8Array {
  inputRoom(input.length).set(input);
  return lent(deflateInput(input.length));
}

function check(input: Uint8Array, what: string): void {
  assert.ok(Buffer.from(input).equals(inflateRawSync(deflated(input))), `${what}, ${input.length} bytes`);
}

test('the committed module is what its source compiles to, and imports nothing', async () => {
  const bytes = readFileSync(file);
  assert.ok(bytes.equals(await buildDeflate()), 'node src/errand/deflate/build.ts');
  assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(bytes)), []);
});

test('small, uniform and random inputs', () => {
  const random = randomly(3);
  for (let length = 0; length < 600; length++) {
    check(new Uint8Array(length), 'zeros');
    check(
      Uint8Array.from({ length }, () => random.below(256)),
      'noise',
    );
    check(Buffer.from('abcdefg'.repeat(100).slice(0, length)), 'period of seven');
  }
  for (const length of [32_767, 32_768, 32_769, 65_536, 100_000, 1_000_000, MAX_INPUT]) {
    check(new Uint8Array(length), 'zeros');
    check(
      Uint8Array.from({ length: Math.min(length, 200_000) }, () => random.below(256)),
      'noise',
    );
  }
});

/** Phrases drawn again and again from a small stock, at all distances. */
function phrases(random: Random, length: number): Buffer {
  const stock = Array.from({ length: 1 + random.below(200) }, () => `${random.garbage(40)} `);
  let text = '';
  while (text.length < length) text += random.pick(stock);
  return Buffer.from(text);
}

test('1,500 texts of repeated phrases', () => {
  const random = randomly(4);
  for (let round = 0; round < 1500; round++) check(phrases(random, random.below(4000)), `round ${round}`);
});

test('several blocks, and matches at every distance up to the window', () => {
  const random = randomly(6);
  check(phrases(random, 900_000), 'several blocks');
  const unit = Buffer.from(Array.from({ length: 32_768 }, () => random.below(256)));
  for (const distance of [1, 2, 3, 4, 5, 255, 256, 257, 4096, 32_767, 32_768]) {
    const part = unit.subarray(0, distance);
    check(Buffer.concat([part, part, part]), `distance ${distance}`);
  }
  check(Buffer.concat([unit, Buffer.of(1), unit]), 'beyond the window');
});

test('frequencies that would need codes of more than 15 bits', () => {
  const symbols: number[] = [];
  for (let symbol = 0, few = 1, more = 1; symbol < 23; symbol++) {
    for (let i = 0; i < few; i++) symbols.push(symbol * 11);
    [few, more] = [more, few + more];
  }
  // Scattered, so that hardly anything matches and the literals keep these frequencies.
  const random = randomly(8);
  for (let i = symbols.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [symbols[i], symbols[j]] = [symbols[j]!, symbols[i]!];
  }
  for (const length of [symbols.length, 30_000]) check(Uint8Array.from(symbols.slice(0, length)), 'Fibonacci');
});

test('a page costs hardly more bytes than at the fastest level of zlib', () => {
  const random = randomly(10);
  const rows = Array.from({ length: 700 }, (_, i) => {
    const word = random.pick(['alpha', 'beta', 'gamma', 'delta']);
    return `<li class="item"><a href="/docs/${word}/${random.below(500)}.html">${word} number ${i}</a></li>`;
  });
  const page = Buffer.from(`<!doctype html><ul>${rows.join('\n')}</ul>`);
  assert.ok(deflated(page).length < 1.1 * deflateRawSync(page, { level: 1 }).length);
});
