import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { appendMember, type Effort, growing, peekMember, readMember } from '../../src/errand/warc/gzip.ts';

const efforts: readonly Effort[] = ['stored', 'fast', 'small'];
/** Around the 65,535 bytes of a stored block, where a mistake by one would hide. */
const sizes = [0, 1, 100, 65_528, 65_529, 65_530, 65_531, 131_065, 131_066, 300_000];

test('a member of any size and effort is what gunzip expects', () => {
  const target = growing(8);
  for (const size of sizes) {
    for (const effort of efforts) {
      const body = randomBytes(size);
      const offset = target.length;
      const length = appendMember(target, [Buffer.from('täxt'), body, Uint8Array.of(7)], effort);
      assert.equal(target.length, offset + length);
      const plain = gunzipSync(target.bytes.subarray(offset, offset + length));
      assert.ok(plain.equals(Buffer.concat([Buffer.from('täxt'), body, Buffer.of(7)])), `${effort} ${size}`);
    }
  }
  let members = 0;
  for (let offset = 0; offset < target.length; members++) {
    const member = readMember(target.bytes.subarray(offset, target.length), 1 << 20);
    assert.equal(member.kind, 'member');
    if (member.kind === 'member') offset += member.length;
  }
  assert.equal(members, sizes.length * efforts.length, 'each member ends where the next begins');
});

test('a cut member is short, a damaged one a problem, a huge one refused', () => {
  for (const effort of efforts) {
    const target = growing();
    appendMember(target, [Buffer.from('x'.repeat(5000)), randomBytes(3000)], effort);
    const whole = target.bytes.subarray(0, target.length);
    for (const cut of [0, 5, 12, 200, whole.length - 9, whole.length - 1]) {
      assert.equal(readMember(whole.subarray(0, cut), 1 << 20).kind, 'short', `${effort} cut at ${cut}`);
    }
    for (const at of [0, 1, 2, 600, whole.length - 7, whole.length - 2]) {
      const damaged = Uint8Array.from(whole);
      damaged[at]! ^= 0x55;
      assert.notEqual(readMember(damaged, 1 << 20).kind, 'member', `${effort} damaged at ${at}`);
    }
    assert.equal(readMember(whole, 7999).kind, 'problem');
    assert.equal(readMember(whole, 8000).kind, 'member');
  }
});

test('the head of a member can be seen without reading it all', () => {
  for (const effort of efforts) {
    const target = growing();
    appendMember(target, [Buffer.from('first line\n'), randomBytes(200_000)], effort);
    const seen = peekMember(target.bytes.subarray(0, 2000), 500);
    assert.equal(Buffer.from(seen!).toString('latin1', 0, 10), 'first line');
  }
  assert.equal(peekMember(Buffer.from('no gzip at all'), 10), undefined);
});

test('members by others, with optional header fields, are read', () => {
  const plain = Buffer.from('content');
  const bare = gzipSync(plain);
  const named = Buffer.concat([
    Buffer.of(0x1f, 0x8b, 8, 4 | 8 | 16 | 2, 0, 0, 0, 0, 0, 3),
    Buffer.of(3, 0, 1, 2, 3),
    Buffer.from('name\0comment\0'),
    Buffer.of(0, 0),
    bare.subarray(10),
  ]);
  const member = readMember(named, 100);
  assert.equal(member.kind, 'member');
  if (member.kind === 'member') assert.ok(plain.equals(member.data));
});
