import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pack, unpack } from '../../src/search/feed/texts.ts';

test('a text comes back as it was, whatever its length and script', () => {
  for (const text of ['', 'short', 'Gänse, 鳥, 🦢 '.repeat(3), 'Gänse, 鳥, 🦢 '.repeat(500), 'x'.repeat(400_000)])
    assert.equal(unpack(pack(text)), text);
});

test('the beginning of a long text is read from the beginning of what is stored', () => {
  const text = Array.from({ length: 20_000 }, (_, i) => `goose ${(i * 7919) % 10_007}`).join(' ');
  const packed = pack(text);
  const { body } = packed;
  const begun = unpack({ ...packed, body: body.slice() }, 10_000);
  assert.ok(begun.length >= 10_000 && begun.length < text.length);
  assert.ok(text.startsWith(begun));
});

test('long texts are stored smaller', () => {
  const text = 'The birds of the marsh stand and wait. '.repeat(100);
  assert.ok(pack(text).body.length < text.length / 2);
});
