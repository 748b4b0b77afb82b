/** The properties that the paper asks of its assignment function, by exact arcs and by random sets of peers. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type AssignMethod, assign } from '../../../src/cluster/ring/assign.ts';
import { pointOf } from '../../../src/cluster/ring/points.ts';
import { Ring, type RingMember } from '../../../src/cluster/ring/ring.ts';
import { randomly } from '../../random.ts';

const named = (count: number, capacity = 1): RingMember[] =>
  Array.from({ length: count }, (_, i) => ({ name: `peer-${i}`, capacity }));
const hosts = Array.from({ length: 20_000 }, (_, i) => pointOf(`host-${i}.example`));

/** Deviations of the shares from the ideal, by capacity. */
function deviations(members: readonly RingMember[], replicas: number): { mean: number; most: number } {
  const total = members.reduce((sum, { capacity }) => sum + capacity, 0);
  const shares = new Ring(members, replicas).shares();
  const off = members.map(({ name, capacity }) => Math.abs((shares.get(name)! * total) / capacity - 1));
  return { mean: off.reduce((a, b) => a + b) / off.length, most: Math.max(...off) };
}

describe('the ring', () => {
  test('shares differ from the ideal by less than the paper says, with 100 and 200 replicas', () => {
    const at200 = deviations(named(16), 200);
    assert.ok(at200.mean < 0.045, `mean ${at200.mean}`);
    assert.ok(at200.most < 0.15, `most ${at200.most}`);
    assert.ok(deviations(named(16), 100).mean < 0.065);
    assert.ok(deviations(named(64), 200).mean < 0.045);
    assert.ok(deviations(named(64), 100).mean < 0.065);
  });

  test('the arcs are what the nearest replica gives, and all of the circle', () => {
    const ring = new Ring(named(5));
    const counts = new Map<string, number>();
    for (const host of hosts) counts.set(ring.ownerOf(host)!, (counts.get(ring.ownerOf(host)!) ?? 0) + 1);
    let sum = 0;
    for (const [name, share] of ring.shares()) {
      sum += share;
      assert.ok(Math.abs(counts.get(name)! / hosts.length - share) < 0.012, `${name}: ${counts.get(name)} of ${share}`);
    }
    assert.ok(Math.abs(sum - 1) < 1e-9);
  });

  test('a peer that joins takes from others, and nothing moves between old ones', () => {
    const random = randomly(5);
    for (let round = 0; round < 12; round++) {
      const all = named(12).map(member => ({ ...member, capacity: random.pick([0.5, 1, 2]) }));
      const some = all.filter(() => random.below(3) > 0);
      if (some.length === 0) continue;
      const before = new Ring(some);
      const after = new Ring(all);
      const old = new Set(some.map(({ name }) => name));
      for (const host of hosts.slice(0, 3000)) {
        const now = after.ownerOf(host)!;
        if (now !== before.ownerOf(host)) assert.ok(!old.has(now));
      }
    }
  });

  test('a crash and a return give back exactly what was', () => {
    const members = named(9);
    const ring = new Ring(members);
    const before = hosts.map(host => ring.ownerOf(host));
    const without = new Ring(members.slice(1));
    for (const [i, host] of hosts.entries()) if (before[i] !== 'peer-0') assert.equal(without.ownerOf(host), before[i]);
    const back = new Ring(members.toReversed());
    assert.deepEqual(
      hosts.map(host => back.ownerOf(host)),
      before,
    );
  });

  test('twice the capacity is twice the share; none is none', () => {
    const members = [...named(8), { name: 'large', capacity: 2 }, { name: 'full', capacity: 0 }];
    const shares = new Ring(members).shares();
    const mean = named(8).reduce((sum, { name }) => sum + shares.get(name)!, 0) / 8;
    assert.ok(Math.abs(shares.get('large')! / mean / 2 - 1) < 0.15, `${shares.get('large')! / mean}`);
    assert.equal(shares.get('full'), 0);
    const spread = [0.5, 1, 2, 4].flatMap(capacity =>
      Array.from({ length: 4 }, (_, i) => ({ name: `c${capacity}-${i}`, capacity })),
    );
    assert.ok(deviations(spread, 100).mean < 0.08);
  });

  test('the seventeenth peer moves its own share and no more', () => {
    const before = new Ring(named(16));
    const after = new Ring(named(17));
    const moved = hosts.filter(host => before.ownerOf(host) !== after.ownerOf(host)).length / hosts.length;
    assert.ok(Math.abs(moved * 17 - 1) < 0.2, `${moved}`);
  });

  test('nobody is the owner where nobody has capacity', () => {
    assert.equal(new Ring([]).ownerOf(5n), undefined);
    assert.equal(new Ring([{ name: 'a', capacity: 0 }]).ownerOf(5n), undefined);
    assert.equal(new Ring([{ name: 'a', capacity: 0.005 }]).ownerOf(5n), 'a');
  });

  test('modulo fails what the ring holds', () => {
    const byModulo = (count: number) => (host: bigint) => Number(host % BigInt(count));
    const [eight, nine] = [byModulo(8), byModulo(9)];
    const between = hosts.filter(host => eight(host) !== nine(host) && nine(host) !== 8).length / hosts.length;
    assert.ok(between > 0.7, `${between} moved between old peers`);
  });
});

describe('assignment of partitions', () => {
  const methods: readonly AssignMethod[] = ['ring', 'hrw'];
  const count = (owners: readonly unknown[], name: string) => owners.filter(owner => owner === name).length;

  for (const method of methods) {
    test(`${method}: no peer has more than its share by a tenth`, () => {
      for (const [partitions, peers] of [
        [64, 3],
        [64, 7],
        [64, 64],
        [64, 100],
        [1024, 100],
        [1, 5],
      ] as const) {
        const owners = assign(partitions, named(peers), method);
        const most = Math.max(...named(peers).map(({ name }) => count(owners, name)));
        assert.ok(most <= Math.ceil((1.1 * partitions) / peers));
        assert.ok(owners.every(owner => owner !== undefined));
      }
      const uneven = [...named(4), { name: 'large', capacity: 4 }, { name: 'none', capacity: 0 }];
      const owners = assign(1024, uneven, method);
      assert.ok(Math.abs(count(owners, 'large') - 512) <= 52);
      assert.equal(count(owners, 'none'), 0);
    });

    test(`${method}: few partitions move between old peers because of the bound`, () => {
      for (const [partitions, peers] of [
        [64, 4],
        [256, 8],
        [1024, 100],
      ] as const) {
        const before = assign(partitions, named(peers), method);
        const after = assign(partitions, named(peers + 1), method);
        const moved = before.filter((owner, i) => owner !== after[i]).length;
        const between = before.filter((owner, i) => owner !== after[i] && after[i] !== `peer-${peers}`).length;
        assert.ok(moved - between <= Math.ceil((1.1 * partitions) / (peers + 1)));
        assert.ok(between / partitions < 0.14, `${between} of ${partitions} with ${peers} peers`);
      }
    });

    test(`${method}: without a bound nothing moves between old peers`, () => {
      const before = assign(1024, named(16), method, Number.POSITIVE_INFINITY);
      const after = assign(1024, named(17), method, Number.POSITIVE_INFINITY);
      assert.ok(before.every((owner, i) => owner === after[i] || after[i] === 'peer-16'));
    });
  }

  test('every process, and every order of the members, computes the same', () => {
    const file = fileURLToPath(new URL('../../../src/cluster/ring/assign.ts', import.meta.url));
    const script = `import { assign } from ${JSON.stringify(file)};
      const members = Array.from({ length: 7 }, (_, i) => ({ name: 'peer-' + (6 - i), capacity: 1 }));
      process.stdout.write(JSON.stringify([assign(64, members), assign(64, members, 'hrw')]));`;
    const other = JSON.parse(
      execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }),
    );
    assert.deepEqual(other, [assign(64, named(7)), assign(64, named(7), 'hrw')]);
    // Fixed for ever: a running cluster is upgraded one peer at a time, and both versions must agree.
    const short = (owners: readonly (string | undefined)[]) => owners.map(owner => owner!.slice(5)).join('');
    assert.equal(short(assign(8, named(3))), '20002111');
    assert.equal(short(assign(8, named(3), 'hrw')), '10122010');
  });
});
