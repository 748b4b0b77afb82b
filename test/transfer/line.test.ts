/** What leaves a line together: each write costs more in headers than most frames. */
import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { Line } from '../../src/transfer/line.ts';
import { FrameReader } from '../../src/transfer/wire/frames.ts';

/** A stream that notes the kinds of the frames of each write. */
function watched(): { line: Line; writes: string[][]; next: () => Promise<void> } {
  const reader = new FrameReader();
  const writes: string[][] = [];
  let written = () => {};
  const stream = new Duplex({
    read() {},
    write(bytes: Uint8Array, _, done) {
      writes.push([...reader.push(bytes)].map(({ kind }) => kind));
      written();
      done();
    },
  });
  const next = () =>
    new Promise<void>(resolve => {
      written = resolve;
    });
  return { line: new Line(stream), writes, next };
}

const HOUR = 3_600_000;

test('frames that may wait leave with the first that may not, in their order', async () => {
  const { line, writes, next } = watched();
  line.send({ kind: 'acknowledge', errand: 'a', sequence: 1 }, HOUR);
  line.send({ kind: 'forget', errand: 'b' }, HOUR);
  await new Promise(setImmediate);
  assert.deepEqual(writes, []);
  line.send({ kind: 'recall' });
  await next();
  assert.deepEqual(writes, [['acknowledge', 'forget', 'recall']]);
  line.destroy('the test is over');
});

test('the least patient frame decides when all leave', async () => {
  const { line, writes, next } = watched();
  line.send({ kind: 'forget', errand: 'a' }, HOUR);
  line.send({ kind: 'forget', errand: 'b' }, 1);
  line.send({ kind: 'forget', errand: 'c' }, HOUR);
  await next();
  assert.deepEqual(writes, [['forget', 'forget', 'forget']]);
  line.destroy('the test is over');
});

test('many small frames do not wait, and whoever takes leave sends what waits', async () => {
  const { line, writes } = watched();
  const errand = 'a'.repeat(100);
  for (let i = 0; i < 200; i++) line.send({ kind: 'forget', errand }, HOUR);
  assert.equal(writes.length, 1);
  line.send({ kind: 'forget', errand }, HOUR);
  line.bye('done', '');
  assert.equal(writes.at(-1)!.at(-1), 'bye');
  assert.equal(writes.flat().filter(kind => kind === 'forget').length, 201);
  line.destroy('the test is over');
});
