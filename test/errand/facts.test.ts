import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  countsOf,
  type Facts,
  MAX_FACTS_BYTES,
  MAX_LEVEL_COUNT,
  mayShowImages,
  packFacts,
  unpackFacts,
} from '../../src/errand/facts.ts';

const largest: Facts = {
  raw: new Uint8Array(16).fill(1),
  content: new Uint8Array(16).fill(2),
  mainHash: 0xffff_ffff_ffff_ffffn,
  linkHash: 0xffff_ffff_ffff_fffen,
  simhash: 0xffff_ffff_ffff_fffdn,
  asciiSum: 16 * 2 ** 20 * 255,
  urls: 2 ** 21,
  keywords: 2 ** 24,
  words: 2 ** 24,
  textCode1: 1317.488372,
  textCode2: 5.6834185,
  tagFirst: 0xffff_ffff,
  tagLast: 0xffff_fffe,
  levels: Array.from({ length: 24 }, () => MAX_LEVEL_COUNT),
  blocks: Uint16Array.from({ length: 64 }, (_, i) => 65_535 - i),
  imageHash: 0xffff_fffd,
  structure: 0xffff_fffc,
  visible: 0xffff_ffff_ffff_fffbn,
};

const smallest: Facts = {
  ...largest,
  mainHash: 0n,
  linkHash: 0n,
  simhash: 0n,
  asciiSum: 0,
  urls: 0,
  keywords: 0,
  words: 0,
  textCode1: 0,
  textCode2: 0,
  levels: [],
  blocks: new Uint16Array(0),
};

test('facts survive packing, the largest within the limit', () => {
  for (const facts of [largest, smallest]) {
    const packed = packFacts(facts);
    assert.ok(packed.length <= MAX_FACTS_BYTES, `${packed.length} bytes`);
    assert.deepEqual(unpackFacts(packed), facts);
  }
});

test('counts beyond what the layout holds are cut, not wrapped', () => {
  const packed = packFacts({ ...largest, levels: Array.from({ length: 40 }, () => 1_000_000) });
  assert.deepEqual(unpackFacts(packed)?.levels, largest.levels);
});

test('bytes that are not facts mean that nothing is known', () => {
  const packed = packFacts(largest);
  assert.equal(unpackFacts(new Uint8Array(0)), undefined);
  assert.equal(unpackFacts(packed.subarray(0, packed.length - 1)), undefined);
  assert.equal(unpackFacts(Uint8Array.from([...packed, 0])), undefined);
  assert.equal(unpackFacts(packed.with(0, 99)), undefined);
  for (let length = 0; length < packed.length; length++) unpackFacts(packed.subarray(0, length).fill(255, 89));
});

test('packed facts say whether a page may show images', () => {
  assert.equal(mayShowImages(packFacts({ ...largest, imageHash: 0 })), false);
  for (const imageHash of [1, 0x100, 0x1_0000, 0x8000_0000]) {
    assert.equal(mayShowImages(packFacts({ ...smallest, imageHash })), true, String(imageHash));
  }
  for (const unknown of [null, new Uint8Array(0), new Uint8Array(300)]) assert.equal(mayShowImages(unknown), true);
});

test('the counts alone are those of the whole', () => {
  for (const facts of [largest, smallest]) {
    const { asciiSum, urls, keywords } = facts;
    assert.deepEqual(countsOf(packFacts(facts)), { asciiSum, urls, keywords });
  }
  assert.equal(countsOf(new Uint8Array(200)), undefined);
});
