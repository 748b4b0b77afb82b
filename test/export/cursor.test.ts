/** Cursors of exports: they come out as they went in, and one of another collection, or of nothing, is refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SkeinError } from '../../src/base/errors.ts';
import { againAfter, cursorAt, cursorOf, cursorsIn, newestIn, readUpTo } from '../../src/export/cursor.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { NOW, withLedger } from '../frontier/known-ledger.ts';
import { type Random, randomly } from '../random.ts';

const PARTITIONS = 16;

function someCursors(random: Random): Map<number, string> {
  const one = () => {
    const [visit, time] = [random.below(1e6), NOW + random.below(1e6)];
    return cursorAt({ visit, time, forgotten: random.below(2) * random.below(50) });
  };
  const cursors = Array.from({ length: random.below(PARTITIONS) }, (): [number, string] => [
    random.below(PARTITIONS),
    one(),
  ]);
  return new Map(cursors);
}

function isRefused(work: () => unknown): boolean {
  try {
    work();
    return false;
  } catch (error) {
    assert.ok(error instanceof SkeinError && error.code === 'bad-option', `${error}`);
    return true;
  }
}

test('the cursors of all partitions come out of their text as they went in', () => {
  const random = randomly(21);
  for (let i = 0; i < 500; i++) {
    const begun = new Map([...someCursors(random)].filter(([, cursor]) => cursor !== '0'));
    const text = cursorOf(begun, PARTITIONS);
    assert.deepEqual(new Map(cursorsIn(text, PARTITIONS)), new Map([...begun].sort(([a], [b]) => a - b)));
    const again = againAfter('0', text, PARTITIONS);
    for (const [partition, cursor] of cursorsIn(again, PARTITIONS))
      assert.equal(cursor.split('-')[2], begun.get(partition)!.split('-')[2] ?? '0', 'only what was forgotten is new');
    assert.equal(againAfter(text, text, PARTITIONS), text);
  }
});

test('whatever text is given for a cursor is one of this collection or refused in a sentence', () => {
  const random = randomly(22);
  withLedger(3, ledger => {
    visit(ledger, 1, NOW);
    for (let i = 0; i < 2000; i++) {
      const text = random.below(2) === 0 ? random.garbage(20) : random.text(['0', '1', '-', '@', ',', '9'], 8);
      if (isRefused(() => cursorsIn(text, PARTITIONS))) continue;
      for (const cursor of cursorsIn(text, PARTITIONS).values()) isRefused(() => readUpTo(cursor, ledger));
    }
  });
});

test('a cursor is read back only in the collection that it was made in', () => {
  withLedger(3, ledger => {
    const seen = [newestIn(ledger)];
    for (let i = 1; i <= 20; i++) {
      visit(ledger, 1 + (i % 3), NOW + i * 1000);
      seen.push(newestIn(ledger));
    }
    for (const upTo of seen) {
      assert.deepEqual(readUpTo(cursorAt(upTo), ledger), upTo);
      if (upTo.visit === 0) continue;
      assert.ok(
        isRefused(() => readUpTo(cursorAt({ ...upTo, time: upTo.time + 1 }), ledger)),
        'another time',
      );
      assert.ok(
        isRefused(() => readUpTo(cursorAt({ ...upTo, forgotten: 1 }), ledger)),
        'nothing was forgotten here',
      );
    }
    const { visit: last, time } = seen.at(-1)!;
    assert.ok(
      isRefused(() => readUpTo(cursorAt({ visit: last + 1, time, forgotten: 0 }), ledger)),
      'not made yet',
    );
  });
});

function visit(ledger: Ledger, page: number, time: number): void {
  ledger.begin();
  ledger.visits.add({
    ...{ page, time, outcome: 'same', reason: 'unchanged', status: 304, stage: null, amount: null, up: 1, down: 1 },
    ...{ cause: 'same', ms: 1, outpost: 'thread-1', segment: null, place: null, length: null, request_length: null },
  });
  ledger.commit();
}
