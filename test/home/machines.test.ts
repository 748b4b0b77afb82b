import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MachineWatch, type OutpostWork } from '../../src/home/machines/machines.ts';
import { NO_STATUS } from '../../src/transfer/wire/messages.ts';
import { carrier } from './plain-carrier.ts';

const post = (name: string, errands: number): OutpostWork => ({
  carrier: { name, room: 10, remote: true, servers: [] } as unknown as OutpostWork['carrier'],
  errands,
  pages: errands * 4,
});

test('a machine that vanishes is seen to vanish, with what became of its errands', () => {
  const watch = new MachineWatch();
  const first = watch.look([post('a', 2), post('b', 0)], 1000);
  assert.deepEqual(
    first.map(({ name, state }) => [name, state]),
    [
      ['a', 'working'],
      ['b', 'idle'],
    ],
  );
  const [b, a] = watch.look([post('b', 2)], 2000);
  assert.deepEqual([b!.name, b!.state, b!.errands], ['b', 'working', 2]);
  assert.deepEqual([a!.name, a!.state, a!.errands], ['a', 'gone', 0]);
  assert.match(a!.trouble, /its 2 errands went back/);
  // It says so for as long as it is remembered, and no longer.
  assert.match(watch.look([post('b', 1)], 3000)[1]!.trouble, /its 2 errands went back/);
  assert.equal(watch.look([post('b', 1)], 1000 + 11 * 60_000).length, 1);
});

test('it is seen how the parcels of each machine come home', () => {
  const status = (name: string, outposts: object[]) => ({ name, state: 'working', outposts });
  const a = {
    name: 'a',
    room: 10,
    remote: true,
    terms: { servers: [], stands: false },
    direct: { paths: new Set(['b/c']) },
  };
  const carrier = { ...a, status: status('a', [status('b', [status('c', [status('d', [])])])]) };
  const [seen] = new MachineWatch().look(
    [{ ...post('a', 0), carrier: carrier as unknown as OutpostWork['carrier'] }],
    0,
  );
  const ways: string[] = [];
  for (let each = seen; each; each = each.outposts[0]) ways.push(each.way);
  assert.deepEqual(ways, ['straight', 'through a', 'straight', 'through c']);
});

test('a machine that comes back is there again', () => {
  const watch = new MachineWatch();
  watch.look([post('a', 1)], 0);
  watch.look([], 1000);
  const again = watch.look([post('a', 1)], 2000);
  assert.deepEqual(
    again.map(({ name, state }) => [name, state]),
    [['a', 'working']],
  );
});

test('what others got while a machine was away is told when it is gone', () => {
  const watch = new MachineWatch();
  const away = { ...carrier('far'), status: { ...NO_STATUS, name: 'far', state: 'away' as const } };
  watch.look([{ carrier: carrier('far'), errands: 3, pages: 30 }], 1000);
  watch.look([{ carrier: away, errands: 3, pages: 30 }], 2000);
  watch.look([{ carrier: away, errands: 0, pages: 0 }], 3000);
  assert.match(watch.look([], 4000)[0]!.trouble, /its 3 errands went back/);
});
