/** Which outpost below gets an errand that may be passed on. */
import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { makeIdentity } from '../../src/errand/keys.ts';
import { Children } from '../../src/outpost/children.ts';
import { Line } from '../../src/transfer/line.ts';
import type { Hello } from '../../src/transfer/wire/messages.ts';
import { makePlace } from '../transfer/places.ts';

function childrenOf(path: string, rooms: Readonly<Record<string, number>>): { children: Children } & Disposable {
  const nothing = () => {};
  const events = { relay: nothing, gaveUp: nothing, wantsCode: nothing, wantsPass: nothing };
  const children = new Children({ directory: path, identity: makeIdentity(), clock: systemClock }, events);
  const lines = Object.entries(rooms).map(([name, room]) => {
    const line = new Line(new Duplex({ read() {}, write: (_bytes, _encoding, done) => done() }));
    const hello = { ...{ name, room, cores: 2, servers: [], holding: [] }, key: makeIdentity().key };
    children.attach(line, hello as unknown as Hello, {});
    return line;
  });
  const end = () => {
    for (const line of lines) line.destroy('the test is over');
  };
  return { children, [Symbol.dispose]: end };
}

test('a child is given errands for all that stand below it', () => {
  using place = makePlace();
  using below = childrenOf(place.path, { leaf: 4096, branch: 8192 });
  const { children } = below;
  const name = (own: number, loads: Record<string, number>) =>
    children.choose(own, new Map(Object.entries(loads)), () => '')?.name;
  assert.equal(name(1, { leaf: 100, branch: 150 }), 'branch');
  assert.equal(name(1, { leaf: 100, branch: 250 }), 'leaf');
  // Who has less to do than all below it keeps the errand.
  assert.equal(name(100 / 8192, { leaf: 100, branch: 250 }), undefined);
});
