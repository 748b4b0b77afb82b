import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pack, unpack } from '../../src/search/feed/texts.ts';

test('a text comes back as it was, whatever its length and script', () => {
  for (const text of ['', 'short', 'Gänse, 鳥, 🦢 '.repeat(3), 'Gänse, 鳥, 🦢 '.repeat(500), 'x'.repeat(400_000)])
    assert.equal(unpack(pack(text)), text);
});

test('long texts are stored smaller', () => {
  const text = 'The birds of the marsh stand and wait. '.repeat(100);
  assert.ok(pack(text).body.length < text.length / 2);
});
