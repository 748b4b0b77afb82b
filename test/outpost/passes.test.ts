/** Who below an outpost gets leave to deliver past it, asked for and handed on by its parents, and given by home. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { duplexPair } from 'node:stream';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { Children } from '../../src/outpost/children.ts';
import { Line } from '../../src/transfer/line.ts';
import { StreamCarrier } from '../../src/transfer/stream-carrier.ts';
import type { Frame } from '../../src/transfer/wire/frames.ts';
import { type Hello, readHello } from '../../src/transfer/wire/messages.ts';
import { makePlace, makeSpeaker } from '../transfer/places.ts';

const helloOf = (name: string): Hello => readHello(JSON.stringify({ name, key: `key-of-${name}` }));

/** Both ends of a line; what the second hears. */
function makeLine(): { near: Line; far: Line; heard: Frame[]; ended: Promise<string> } {
  const [near, far] = duplexPair().map(stream => new Line(stream)) as [Line, Line];
  const heard: Frame[] = [];
  const ended = new Promise<string>(resolve => {
    far.listen({ frame: frame => heard.push(frame), ended: (_, why) => resolve(why) });
  });
  return { near, far, heard, ended };
}

async function until(what: () => boolean): Promise<void> {
  while (!what()) await new Promise(resolve => setTimeout(resolve, 5));
}

test('a parent vouches for the key of its child, hands passes on, and asks for none where it counts pages', async () => {
  using place = makePlace();
  const asked: Frame[] = [];
  const children = new Children(
    { directory: join(place.path, 'parcels'), identity: makeSpeaker('a').identity, clock: systemClock },
    { relay: () => {}, gaveUp: () => {}, wantsCode: () => {}, wantsPass: frame => asked.push(frame) },
  );
  const [counted, free] = [makeLine(), makeLine()];
  children.attach(counted.near, helloOf('counted'), { pages: 100 });
  children.attach(free.near, helloOf('free'), {});
  counted.far.send({ kind: 'want-pass', by: '', key: 'key-of-counted' });
  counted.far.send({ kind: 'want-pass', by: 'c', key: 'key-of-c' });
  free.far.send({ kind: 'want-pass', by: '', key: 'key-of-somebody' });
  free.far.send({ kind: 'want-pass', by: 'c', key: 'key-of-c' });
  await until(() => asked.length === 2);
  assert.deepEqual(asked, [
    { kind: 'want-pass', by: 'free', key: 'key-of-free' },
    { kind: 'want-pass', by: 'free/c', key: 'key-of-c' },
  ]);
  children.pass({ kind: 'pass', by: 'free', pass: 'one' });
  children.pass({ kind: 'pass', by: 'free/c/d', pass: 'two' });
  children.pass({ kind: 'pass', by: 'nobody', pass: 'three' });
  await until(() => free.heard.length === 2);
  assert.deepEqual(free.heard, [
    { kind: 'pass', by: '', pass: 'one' },
    { kind: 'pass', by: 'c/d', pass: 'two' },
  ]);
  assert.deepEqual(counted.heard, []);
  await children.close();
});

const unpacker = { begin: () => {}, end: () => {}, unpack: () => Promise.reject(new Error('nothing is sent')) };

test('a branch in quarantine gets no passes, and its straight lines end', async () => {
  const carrier = new StreamCarrier(
    { name: 'a', identity: makeSpeaker('home').identity, unpacker, pass: (by, key) => `${by} ${key}` },
    { parcel: () => {}, gaveUp: () => {}, changed: () => {}, lost: () => {} },
  );
  const [own, straight] = [makeLine(), makeLine()];
  carrier.attach(own.near, helloOf('a'));
  carrier.direct.attach(straight.near, 'b', 'key-of-b');
  own.far.send({ kind: 'want-pass', by: 'b', key: 'key-of-b' });
  await until(() => own.heard.length === 1);
  assert.deepEqual(own.heard, [{ kind: 'pass', by: 'b', pass: 'b key-of-b' }]);
  assert.deepEqual([...carrier.direct.paths], ['b']);
  carrier.quarantine('it lied');
  assert.match(await straight.ended, /quarantined/);
  own.far.send({ kind: 'want-pass', by: 'b', key: 'key-of-b' });
  own.far.send({ kind: 'want-code', code: 'c' }); // is answered after what was asked before
  await until(() => own.heard.length === 2);
  assert.equal(own.heard[1]!.kind, 'code');
  await until(() => carrier.direct.paths.size === 0);
  await carrier.close();
});
