/** What a collection is opened from: whole tables, read some rows at a time, each row once and in order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fingerprint } from '../../src/base/url.ts';
import { bareFacts, packFacts } from '../../src/errand/facts.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { visitedLedger } from './visited.ts';

/** Pages that nobody has visited. */
function find(ledger: Ledger, count: number, refused: string | null): void {
  for (let n = 0; n < count; n++) {
    const url = `http://s0.test/${refused}/${n}`;
    const { high, low } = fingerprint(url, { high: 0, low: 0 });
    const row = { high, low, server: 1, url, parent: 1, depth: 2, hops: 0, relevance: 0, found: 0 };
    ledger.pages.add({ ...row, refused, role: 0, lastmod: null });
  }
}

const counting = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

test('tables of no row, of one read exactly and of several come whole', context => {
  for (const visited of [0, 1000, 2500]) {
    const looks = [3, 9, 3, 5].map(page => ({ page, time: 1, outcome: 'same' }) as const);
    const ledger = visitedLedger(context, visited, 0, visited === 0 ? [] : looks);
    ledger.begin();
    find(ledger, 1200, null);
    find(ledger, 7, 'too-deep');
    ledger.commit();
    const { pages } = ledger;
    const { scans } = ledger.queries;
    assert.deepEqual(
      Array.from(scans.every(), row => row.id),
      counting(1, visited + 1207),
    );
    assert.deepEqual(
      Array.from(scans.pending(), row => row.id),
      counting(visited + 1, visited + 1200),
    );
    assert.deepEqual([...scans.fetched()], [], 'no page has facts');
    for (const page of counting(1, visited)) {
      const facts = packFacts({
        ...bareFacts(new Uint8Array(16).fill(page), new Uint8Array(16)),
        simhash: BigInt(page),
      });
      pages.putKnown({ ...pages.known(page)!, facts, segment: page });
    }
    const fetched = [...scans.fetched()];
    assert.deepEqual(
      fetched.map(row => row.page),
      counting(1, visited),
    );
    for (const row of fetched) {
      assert.equal(row.digest, (row.page % 256).toString(16).toUpperCase().padStart(2, '0').repeat(8));
      assert.equal(Buffer.from(row.simhash, 'hex').readBigUInt64LE(), BigInt(row.page));
      assert.equal(row.url, `http://s${row.page % 2}.test/${row.page}`);
    }
    if (visited > 0) {
      const looked = (after: number) => Array.from(scans.fetched(after), row => row.page);
      assert.deepEqual(looked(1), [3, 5, 9]);
      assert.deepEqual(looked(3), [5]);
      assert.deepEqual(looked(4), []);
    }
    assert.deepEqual(
      Array.from(scans.every(visited + 1200), row => row.id),
      counting(visited + 1201, visited + 1207),
    );
  }
});

test('rows may be written while they are read', context => {
  const ledger = visitedLedger(context, 1, 0, []);
  ledger.begin();
  find(ledger, 2100, null);
  let seen = 0;
  for (const { id, server } of ledger.queries.scans.pending()) {
    seen++;
    ledger.pages.judge(id, 'too-deep', server);
  }
  ledger.commit();
  assert.equal(seen, 2100);
  assert.deepEqual([...ledger.queries.scans.pending()], []);
});

test('a visit that is thought to be the first replaces what is known all the same', context => {
  const { pages } = visitedLedger(context, 2, 0, []);
  const known = pages.known(2)!;
  pages.addKnown({ ...known, title: 'newer', due: 5 });
  assert.deepEqual({ ...pages.known(2) }, { ...known, title: 'newer', due: 5 });
  pages.addKnown({ ...known, page: 3, facts: Uint8Array.of(1, 2) });
  assert.deepEqual({ ...pages.known(3) }, { ...known, page: 3, facts: Uint8Array.of(1, 2) });
});
