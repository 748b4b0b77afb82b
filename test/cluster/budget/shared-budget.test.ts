/** One budget, several peers, a real server: spent to the last page, and not beyond. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type BudgetRecord, budgetForm, SharedBudget, settle } from '../../../src/cluster/budget/shared-budget.ts';
import { openEngine } from '../../../src/cluster/engine.ts';
import { SharedRecord } from '../../../src/cluster/shared-record.ts';
import { WatchedBucket } from '../../../src/cluster/watched-bucket.ts';
import { randomly } from '../../random.ts';
import { noNats, openNats } from '../nats.ts';

const skip = noNats() || false;

describe('settlements', () => {
  test('never hand out more than there is, whatever is asked and whoever dies', () => {
    const random = randomly(11);
    const names = ['a', 'b', 'c', 'd'];
    let record: BudgetRecord | undefined;
    const hand = new Map(names.map(name => [name, 0]));
    for (let round = 0; round < 2000; round++) {
      const peer = random.pick(names);
      const used = random.below(hand.get(peer)! + 1);
      const keep = random.below(hand.get(peer)! - used + 1);
      const want = random.below(200);
      const settlement = { peer, id: `${round}`, limit: 10_000, used, keep, want, living: names };
      record = settle(record, settlement);
      assert.deepEqual(settle(record, settlement), record, 'the same settlement again changes nothing');
      hand.set(peer, record.slices[peer]!.left);
      assert.ok(record.slices[peer]!.left >= keep, 'what it may be spending meanwhile stays its own');
      const out = Object.values(record.slices).reduce((sum, { left }) => sum + left, 0);
      assert.ok(record.spent + out <= 10_000);
    }
    assert.ok(record!.spent > 9900);
  });

  test('what a dead peer had comes back, and a lower limit hands out nothing more', () => {
    const one = settle(undefined, { peer: 'a', id: '1', limit: 100, used: 0, keep: 0, want: 60, living: ['a'] });
    assert.equal(one.slices['a']?.left, 60);
    const both = { limit: 100, used: 0, keep: 0, want: 100, living: ['a', 'b'] };
    assert.equal(settle(one, { ...both, peer: 'b', id: '2' }).slices['b']?.left, 20, 'half of what is free');
    const without = settle(one, { ...both, peer: 'b', id: '2', living: ['b'] });
    assert.deepEqual(without.slices, { b: { left: 100, settled: '2' } });
    assert.equal(settle(one, { ...both, peer: 'b', id: '2', limit: 50 }).slices['b']?.left, 0);
  });
});

describe('a budget of several peers', { skip }, () => {
  async function peers(count: number, limit: number) {
    const nats = await openNats();
    const names = Array.from({ length: count }, (_, i) => `p${i}`);
    let living = names;
    const all = await Promise.all(
      names.map(async name => {
        const engine = await openEngine({ address: nats.address, name, collection: { id: 'c', partitions: 4 } });
        const bucket = await WatchedBucket.open(engine.buckets.meta);
        const record = new SharedRecord(bucket, 'budget.pages', budgetForm);
        const budget = new SharedBudget(record, { name, session: `s-${name}` }, limit, () => living);
        return { name, engine, bucket, record, budget };
      }),
    );
    return {
      all,
      dies: (name: string) => {
        living = living.filter(other => other !== name);
      },
      [Symbol.asyncDispose]: async () => {
        for (const { bucket, engine } of all) {
          bucket.close();
          await engine.close();
        }
        await nats[Symbol.asyncDispose]();
      },
    };
  }

  /** Spends until the whole budget is gone, by turns of its own. */
  async function work(budget: SharedBudget, most: number): Promise<number> {
    let done = 0;
    while (!budget.isSpent && done < most) {
      for (let i = 0; i < 7 && done < most; i++) if (budget.spend(1)) done++;
      await budget.settle();
    }
    return done;
  }

  test('is spent to the last page and no further, by fast and slow ones alike', async () => {
    await using cluster = await peers(4, 500);
    const done = await Promise.all(
      cluster.all.map(({ budget }, i) =>
        work(budget, i === 3 ? 5 : Number.POSITIVE_INFINITY).finally(() => budget.close()),
      ),
    );
    assert.equal(
      done.reduce((a, b) => a + b),
      500,
    );
    assert.ok(
      done.every(pages => pages > 0),
      `${done}`,
    );
    assert.equal(cluster.all[0]!.budget.isSpent, true);
    assert.equal(cluster.all[0]!.budget.spend(1), false);
  });

  test('a peer that dies with its slice costs at most that slice', async () => {
    await using cluster = await peers(3, 300);
    const [first, second, dying] = cluster.all;
    await dying!.budget.settle();
    const slice = dying!.budget.left;
    assert.ok(slice > 0);
    let lost = 0;
    while (dying!.budget.spend(1)) lost++;
    cluster.dies('p2');
    const done = await Promise.all([first, second].map(peer => work(peer!.budget, Number.POSITIVE_INFINITY)));
    const total = lost + done[0]! + done[1]!;
    assert.ok(total >= 300 && total <= 300 + slice, `${total}`);
  });

  test('one that needs nothing hands back what it has', async () => {
    await using cluster = await peers(2, 100);
    const [idle, busy] = cluster.all;
    await idle!.budget.settle();
    assert.ok(idle!.budget.left > 0);
    const working = work(busy!.budget, Number.POSITIVE_INFINITY);
    while (idle!.budget.left > 0) await idle!.budget.settle();
    assert.equal(await working, 100);
  });
});
