import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOUR } from '../../src/base/clock.ts';
import type { NewVisit } from '../../src/ledger/visits.ts';
import { NOW, withLedger } from '../frontier/known-ledger.ts';

function visit(page: number, outpost: string, time: number): NewVisit {
  return {
    ...{ page, time, outcome: 'fetched', reason: 'ok', status: 200, stage: 'first', amount: null, up: 1, down: 1 },
    ...{ cause: 'page', ms: 1, outpost, segment: null, place: null, length: null, request_length: null },
  };
}

test('an outpost that lied: what it and those behind it reported since is due at once, and nothing else', () => {
  withLedger(5, ledger => {
    ledger.begin();
    ledger['database'].exec('UPDATE known SET due = 9e15, etag = \'"x"\'');
    const looks = [
      visit(1, 'b', NOW),
      visit(2, 'b/c', NOW),
      visit(3, 'bc', NOW),
      visit(4, 'b', NOW - HOUR),
      visit(5, 'home', NOW),
    ];
    for (const look of looks) ledger.visits.add(look);
    assert.equal(ledger.visits.disown('b', NOW - 1, NOW + 5), 2);
    const due = [1, 2, 3, 4, 5].filter(page => ledger.pages.known(page)!.due === NOW + 5);
    assert.deepEqual(due, [1, 2]);
    assert.equal(ledger.pages.known(1)!.etag, null, 'a 304 would confirm the lie');
    assert.equal(ledger.pages.known(3)!.etag, '"x"');
    ledger.abandon();
  });
});

test('the first visit since a time is found among visits that arrived nearly in order', () => {
  withLedger(1, ledger => {
    ledger.begin();
    for (let i = 0; i < 1000; i++) ledger.visits.add(visit(1, 'home', NOW + i * HOUR - (i % 2) * (HOUR / 2)));
    for (const hours of [0, 1, 500, 999]) {
      const first = ledger.visits.since(NOW + hours * HOUR);
      const times = ledger.visits.of(1).map(({ time }) => time);
      assert.ok(
        times.slice(0, first - 1).every(time => time < NOW + hours * HOUR),
        'none is left out',
      );
      assert.ok(first >= hours - 2, `${first} for ${hours} hours`);
    }
    ledger.abandon();
  });
});

test('what the account asks of visits is kept as they are written and judged anew', () => {
  withLedger(4, ledger => {
    ledger.begin();
    const before = ledger.visits.looks.spentAt('elsewhere', 0);
    const day = Math.floor(NOW / (24 * HOUR));
    ledger.visits.add(visit(1, 'thread-1', NOW));
    const changed = ledger.visits.add({ ...visit(2, 'thread-2', NOW), stage: 'content', down: 10 });
    ledger.visits.add({ ...visit(3, 'far', NOW), stage: 'content', outcome: 'same', down: 5 });
    ledger.visits.add({ ...visit(4, 'far', NOW), stage: 'content', cause: 'sitemap' });
    ledger.commit();
    assert.deepEqual(
      { ...ledger.visits.looks.decidedBy(day)[0] },
      { stage: 'content', pages: 2, changed: 1, down: 15 },
    );
    assert.equal(ledger.visits.looks.changedByDay(day).get(day), 1, 'a sitemap is no page');
    assert.deepEqual(ledger.visits.looks.spentAt('here', day), { up: 2, down: 11 });
    assert.deepEqual(ledger.visits.looks.spentAt('elsewhere', 0), { up: before.up + 2, down: before.down + 6 });
    ledger.begin();
    ledger.visits.relabel(changed, { outcome: 'same', reason: 'unchanged', stage: 'template' });
    ledger.commit();
    const stages = new Map(ledger.visits.looks.decidedBy(day).map(({ stage, ...rest }) => [stage, rest]));
    assert.deepEqual(stages.get('content'), { pages: 1, changed: 0, down: 5 });
    assert.deepEqual(stages.get('template'), { pages: 1, changed: 0, down: 10 });
    assert.deepEqual(ledger.visits.looks.decidedBy(day + 1), []);
  });
});
