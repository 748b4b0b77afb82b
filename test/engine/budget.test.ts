/** A budget is one for all partitions, however many of them have no pages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Aim, aim, allowanceOf } from '../../src/engine/budget.ts';
import { Pool, type PoolMember } from '../../src/home/partitions/pool.ts';

/** Partitions with so many pages each, which are to be visited half a time a day where a freshness is aimed at. */
function poolOf(...pages: number[]): { pool: Pool; aims: Aim[] } {
  const aims: Aim[] = [];
  const members = pages.map((live, id) => {
    const schedule = {
      settings: {},
      balance: { visits: 0.5 },
      aim(wanted: Aim) {
        aims[id] = wanted;
        schedule.settings = wanted;
      },
    };
    return { id, ledger: { begin() {}, schedule: { due: { countLive: () => live } } }, frontier: { schedule } };
  });
  return { pool: new Pool(members as unknown as PoolMember[]), aims };
}

const close = (is: number, wanted: number) => assert.ok(Math.abs(is / wanted - 1) < 0.001, `${is}, not ${wanted}`);

test('bytes are shared out by pages, and no more of them than were given', () => {
  const { pool, aims } = poolOf(60, 20, ...Array(14).fill(0));
  aim(pool, { bytes: 150_000 }, 0);
  close(allowanceOf(pool).bytes, 150_000);
  close(aims[0]!.bytes!, 112_500);
  close(aims[1]!.bytes!, 37_500);
  assert.ok(
    aims.every(({ bytes }) => bytes! > 0),
    'none is without any: a page may come',
  );
});

test('a collection that has no pages yet has its budget, too', () => {
  const { pool } = poolOf(0, 0, 0, 0);
  aim(pool, { bytes: 1000 }, 0);
  close(allowanceOf(pool).bytes, 1000);
});

test('what a freshness takes is what the pages take, in one partition or in sixteen', () => {
  const [one, many] = [poolOf(80).pool, poolOf(80, ...Array(15).fill(0)).pool];
  for (const pool of [one, many]) aim(pool, { freshness: 0.9 }, 0);
  close(allowanceOf(many).pages, allowanceOf(one).pages);
});
