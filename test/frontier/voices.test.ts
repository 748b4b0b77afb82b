/** Each kind of notice has a voice of its own, and a liar loses his alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { Schedule } from '../../src/frontier/schedule/schedule.ts';
import { Voices } from '../../src/frontier/schedule/voices.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { NoticeKind } from '../../src/notices/notice.ts';
import { pingPrecision } from '../../src/revisit/pings.ts';
import { NOW, withLedger } from './known-ledger.ts';

function dated(ledger: Ledger, due = NOW + 60 * DAY): void {
  ledger.begin();
  for (let page = 1; page <= ledger.pages.size; page++) {
    ledger.pages.putKnown({ ...ledger.pages.known(page)!, due, pings: 0 });
  }
}

/** A notice for a page, and what the visit that follows it shows. */
function tell(ledger: Ledger, page: number, kind: NoticeKind, changed: boolean): void {
  new Schedule(ledger).ping(page, NOW, kind);
  const known = ledger.pages.known(page)!;
  const server = ledger.servers.byId(1);
  new Voices(ledger).judged(server, known, { changed, foretold: 0.1 });
  ledger.pages.putKnown({ ...known, pings: 0, due: NOW + 60 * DAY });
}

test('a kind that lies loses its voice, and the others keep theirs', () =>
  withLedger(40, ledger => {
    dated(ledger);
    for (let page = 1; page <= 30; page++) {
      tell(ledger, page, 'feed', true);
      tell(ledger, page, 'indexnow', false);
    }
    const { noticeTrust } = ledger;
    assert.ok(pingPrecision(noticeTrust.of(1, 'feed')) > 0.9);
    assert.ok(pingPrecision(noticeTrust.of(1, 'indexnow')) < 0.1);
    const schedule = new Schedule(ledger);
    schedule.ping(35, NOW, 'indexnow');
    schedule.ping(36, NOW, 'feed');
    const due = (page: number) => ledger.pages.known(page)!.due!;
    assert.ok(NOW + 60 * DAY - due(35) < (NOW + 60 * DAY - due(36)) / 4);
  }));

test('several kinds that tell of one change are one notice', () =>
  withLedger(2, ledger => {
    dated(ledger);
    const schedule = new Schedule(ledger);
    for (const kind of ['feed', 'sitemap', 'websub'] as const) schedule.ping(1, NOW, kind);
    assert.equal(ledger.pages.known(1)!.pings, 1);
    assert.deepEqual(ledger.told.of(1), { feed: 1, sitemap: 1, websub: 1 });
    schedule.ping(1, NOW, 'feed');
    assert.equal(ledger.pages.known(1)!.pings, 2);
    schedule.ping(2, NOW, 'feed');
    // Three voices that were never judged move a page no further than one does.
    const before = ledger.pages.known(2)!.due!;
    schedule.ping(2, NOW, 'sitemap');
    assert.equal(ledger.pages.known(2)!.due!, before);
  }));

test('what was told is forgotten with the visit that judged it, and a deletion that was announced is true', () =>
  withLedger(1, ledger => {
    dated(ledger);
    const voices = new Voices(ledger);
    new Schedule(ledger).ping(1, NOW, 'cursor');
    assert.equal(ledger.told.size, 1);
    voices.gone(ledger.servers.byId(1), ledger.pages.known(1)!, 'gone');
    assert.equal(ledger.told.size, 0);
    assert.equal(ledger.noticeTrust.of(1, 'cursor').confirmed, 1);
  }));

test('a failure says nothing of a notice', () =>
  withLedger(1, ledger => {
    dated(ledger);
    new Schedule(ledger).ping(1, NOW, 'cursor');
    new Voices(ledger).gone(ledger.servers.byId(1), ledger.pages.known(1)!, 'failed');
    assert.equal(ledger.noticeTrust.of(1, 'cursor').pings, 0);
  }));

test('silent visits teach recall of every kind', () =>
  withLedger(3, ledger => {
    dated(ledger);
    tell(ledger, 1, 'feed', true);
    new Voices(ledger).judged(ledger.servers.byId(1), ledger.pages.known(2)!, { changed: true, foretold: 0.5 });
    assert.deepEqual(ledger.noticeTrust.of(1, 'feed').missed, 1);
    assert.equal(ledger.noticeTrust.of(1, 'feed').expected, 0.5);
  }));
