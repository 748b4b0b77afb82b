import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { SkeinError } from '../../src/base/errors.ts';
import { encodeFrame, type Frame, FrameReader } from '../../src/transfer/wire/frames.ts';
import { randomly } from '../random.ts';

const hello = {
  protocol: 1,
  software: '0.1.0',
  name: 'near',
  time: 1.7e12,
  key: 'k',
  challenge: 'c',
  proof: 'p',
  token: 't',
  cores: 4,
  room: 4096,
  platform: 'linux-x64',
  servers: ['example.org'],
  holding: ['a-1', 'a-2'],
};
const leaf = {
  name: 'b',
  state: 'full' as const,
  errands: 1,
  pages: 2,
  rate: 0.5,
  bytes: 3,
  queue: 4,
  spooled: 5,
  errors: 6,
  trouble: 'The disk is full.',
  room: 7,
  heard: 8,
  outposts: [],
};
const frames: readonly Frame[] = [
  { kind: 'hello', hello },
  {
    kind: 'welcome',
    welcome: { home: 'h', contact: 'me@example.org', servers: [], pagesADay: 9, bytesADay: 0, level: 2 },
  },
  { kind: 'errand', errand: 'a-1', warrant: Uint8Array.of(1, 2), bytes: new TextEncoder().encode('errand') },
  {
    kind: 'parcel',
    errand: 'a-1',
    sequence: 300,
    done: true,
    visits: 9,
    by: 'b/c',
    bytes: new TextEncoder().encode('parcel'),
  },
  { kind: 'acknowledge', errand: 'a-1', sequence: 7 },
  { kind: 'forget', errand: 'a-1' },
  { kind: 'recall' },
  { kind: 'give-up', errand: 'a-1', why: 'its thread ended' },
  { kind: 'resend' },
  { kind: 'status', news: { pages: 3, state: 'full', outposts: [leaf] } },
  { kind: 'ping' },
  { kind: 'pong' },
  { kind: 'bye', code: 'refused', why: 'the token is wrong' },
  { kind: 'want-pass', by: 'b/c', key: 'k' },
  { kind: 'pass', by: 'c', pass: 'pass1.x' },
  { kind: 'claim', errand: 'a-1', digest: 'd', warrant: Uint8Array.of(3, 4) },
];
const stream = Buffer.concat(frames.map(frame => encodeFrame(frame)));

test('every frame comes out as it went in, however the stream is cut', () => {
  for (const size of [1, 2, 7, 64, stream.length]) {
    const reader = new FrameReader();
    const read: Frame[] = [];
    for (let at = 0; at < stream.length; at += size) read.push(...reader.push(stream.subarray(at, at + size)));
    assert.deepEqual(plain(read), plain(frames));
  }
});

test('10,000 mutations of a stream end in bad-frame or in frames, and in nothing else', () => {
  const random = randomly(3);
  let bad = 0;
  for (let turn = 0; turn < 10_000; turn++) {
    const bytes = mutate(Buffer.from(stream), random);
    const reader = new FrameReader(1 << 20);
    try {
      for (let at = 0; at < bytes.length; at += 100) for (const _ of reader.push(bytes.subarray(at, at + 100)));
    } catch (error) {
      assert.ok(error instanceof SkeinError && error.code === 'bad-frame', String(error));
      bad++;
    }
  }
  assert.ok(bad > 5000, `only ${bad} were noticed`);
});

test('10,000 bodies with a right checksum and wrong contents are refused or read, never more', () => {
  const random = randomly(4);
  for (let turn = 0; turn < 10_000; turn++) {
    const frame = encodeFrame(random.pick(frames));
    const body = mutate(Buffer.from(frame.subarray(8)), random);
    if (body.length === 0) continue;
    const bytes = encodeBody(body);
    try {
      for (const _ of new FrameReader().push(bytes));
    } catch (error) {
      assert.ok(error instanceof SkeinError && error.code === 'bad-frame', String(error));
    }
  }
});

test('a frame that says it is too long is refused before it is read', () => {
  const head = Buffer.alloc(8);
  head.writeUInt32LE(65 << 20, 0);
  assert.throws(() => [...new FrameReader().push(head)], { code: 'bad-frame' });
  head.writeUInt32LE(5000, 0);
  assert.throws(() => [...new FrameReader(4096).push(head)], { code: 'bad-frame' });
});

test('the name of an errand cannot be a path', () => {
  for (const errand of ['../../etc/passwd', 'a/b', '', '.', 'a\0b', 'x'.repeat(101)]) {
    const bytes = encodeFrame({ kind: 'forget', errand });
    assert.throws(() => [...new FrameReader().push(bytes)], { code: 'bad-frame' });
  }
});

/** Views of buffers as arrays, so that they can be compared. */
function plain(list: readonly Frame[]): unknown {
  return JSON.parse(JSON.stringify(list, (_, value) => (value instanceof Uint8Array ? [...value] : value)));
}

function mutate(bytes: Buffer, random: ReturnType<typeof randomly>): Buffer {
  let result = bytes;
  for (let count = 1 + random.below(3); count > 0; count--) {
    const at = random.below(Math.max(1, result.length));
    const kind = random.below(4);
    if (kind === 0) result[at] = random.below(256);
    else if (kind === 1) result = result.subarray(0, at);
    else if (kind === 2) result = Buffer.concat([result.subarray(0, at), random.bytes(9), result.subarray(at)]);
    else result = Buffer.concat([result.subarray(0, at), result.subarray(at + random.below(20))]);
  }
  return result;
}

function encodeBody(body: Buffer): Uint8Array {
  const head = Buffer.alloc(8);
  head.writeUInt32LE(body.length, 0);
  head.writeUInt32LE(crc32(body), 4);
  return Buffer.concat([head, body]);
}
