/** Each kind of notice has a voice of its own, and a liar loses his alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import type { Visit } from '../../src/errand/visit.ts';
import { lotsOf } from '../../src/frontier/schedule/lots.ts';
import { Schedule } from '../../src/frontier/schedule/schedule.ts';
import { Voices } from '../../src/frontier/schedule/voices.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { FLAG_UNSPOKEN } from '../../src/ledger/pages/known-row.ts';
import type { FaceState } from '../../src/ledger/schedule/faces.ts';
import type { NoticeKind } from '../../src/notices/notice.ts';
import { pingPrecision } from '../../src/revisit/pings.ts';
import { newState, packState } from '../../src/revisit/state.ts';
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
  new Voices(ledger).judged(server, known, { time: NOW, changed, foretold: 0.1 });
  ledger.pages.putKnown({ ...known, pings: 0, due: NOW + 60 * DAY });
}

test('a kind that lies loses its voice, and the others keep theirs', () =>
  withLedger(40, ledger => {
    dated(ledger);
    for (let page = 1; page <= 30; page++) {
      tell(ledger, page, 'feed', true);
      tell(ledger, page, 'indexnow', false);
    }
    const { noticeTrust } = ledger.schedule;
    assert.ok(pingPrecision(noticeTrust.of(1, 'feed')) > 0.9);
    assert.ok(pingPrecision(noticeTrust.of(1, 'indexnow')) < 0.1);
    const schedule = new Schedule(ledger);
    schedule.ping(35, NOW, 'indexnow');
    schedule.ping(36, NOW, 'feed');
    const due = (page: number) => ledger.pages.known(page)!.due!;
    assert.ok(NOW + 60 * DAY - due(35) < (NOW + 60 * DAY - due(36)) / 4);
  }));

test('a sure notice about a page that was seen yesterday comes before what has waited for days', () =>
  withLedger(40, ledger => {
    dated(ledger);
    for (let page = 1; page <= 30; page++) tell(ledger, page, 'feed', true);
    const seen = { seen_time: NOW - DAY, due: NOW + 20 * DAY };
    ledger.pages.putKnown({ ...ledger.pages.known(35)!, ...seen });
    ledger.pages.putKnown({ ...ledger.pages.known(36)!, seen_time: NOW - 30 * DAY, due: NOW - 5 * DAY });
    const schedule = new Schedule(ledger);
    schedule.ping(35, NOW, 'feed');
    const due = (page: number) => ledger.pages.known(page)!.due!;
    assert.ok(due(35) < due(36), `${(due(35) - NOW) / DAY} and ${(due(36) - NOW) / DAY} days`);
    schedule.aim({ share: 0.1 }, NOW);
    schedule.reschedule(NOW);
    assert.ok(due(35) < NOW - 5 * DAY, 'and so it is when due times are computed anew');
  }));

test('pages that a server names in vain fall back as soon as looks have shown it', () =>
  withLedger(60, ledger => {
    dated(ledger);
    const schedule = new Schedule(ledger);
    schedule.aim({ share: 0.1 }, NOW);
    for (let page = 1; page <= 60; page++) schedule.ping(page, NOW, 'sitemap');
    const due = (page: number) => ledger.pages.known(page)!.due!;
    const first = due(60);
    const server = ledger.servers.byId(1);
    for (let page = 1; page <= 12; page++) {
      const before = ledger.pages.known(page)!;
      const url = ledger.pages.get(page)!.url;
      const visit = { url, time: NOW, outcome: 'same', reason: 'same', status: 200, depth: 1, retryAfter: 0 };
      const cost = { up: 1, down: 1, cause: 'same', ms: 1 };
      schedule.after({ id: page, visit: { ...visit, cost } as unknown as Visit, before, server, pages: 60 });
    }
    assert.ok(due(60) > first, `${(due(60) - first) / DAY} days`);
  }));

test('a server that named all of its pages in vain is believed as soon as looks find it right', () =>
  withLedger(60, ledger => {
    dated(ledger);
    for (let page = 1; page <= 30; page++) tell(ledger, page, 'sitemap', false);
    const voices = new Voices(ledger);
    for (const page of [40, 41, 42]) new Schedule(ledger).ping(page, NOW, 'sitemap');
    const server = ledger.servers.byId(1);
    const believed = () => voices.believed(server, ledger.pages.known(42)!);
    assert.ok(believed() < 0.1);
    for (const page of [40, 41])
      voices.judged(server, ledger.pages.known(page)!, { time: NOW, changed: true, foretold: 0.1 });
    assert.ok(believed() > 0.5, `${believed()}`);
    assert.ok(voices.turned(server), 'so what it names is moved anew');
    voices.judged(server, { ...ledger.pages.known(40)!, pings: 1 }, { time: NOW + DAY, changed: false, foretold: 0.1 });
    assert.ok(believed() < 0.2, 'the next day is another batch');
  }));

/** 36 quiet pages that their server named in vain, and names again a week later: what so many true looks leave due. */
function dueAfterLooks(ledger: Ledger, looks: number): number {
  const quiet = packState({ ...newState(), visits: 20, stillDays: 400 });
  dated(ledger);
  for (let page = 1; page <= 36; page++) {
    ledger.pages.putKnown({ ...ledger.pages.known(page)!, change: quiet });
    tell(ledger, page, 'sitemap', false);
  }
  const later = NOW + 7 * DAY;
  const schedule = new Schedule(ledger);
  schedule.aim({ freshness: 0.98 }, later);
  for (let page = 1; page <= 36; page++) schedule.ping(page, later, 'sitemap');
  for (let page = 1; page <= looks; page++) {
    const url = ledger.pages.get(page)!.url;
    const visit = { url, time: later, outcome: 'same', reason: 'same', stage: 'template', status: 200, depth: 1 };
    const cost = { up: 1, down: 1, cause: 'same', ms: 1 };
    const lesson = { id: page, visit: { ...visit, retryAfter: 0, cost } as unknown as Visit, pages: 36 };
    schedule.after({ ...lesson, server: ledger.servers.byId(1), before: ledger.pages.known(page)! });
  }
  return Array.from({ length: 36 - looks }, (_, i) => ledger.pages.known(looks + i + 1)!.due!).filter(
    due => due <= later,
  ).length;
}

test('a server that names pages in vain is right about one: others that it named are looked at', () =>
  withLedger(36, ledger => assert.equal(dueAfterLooks(ledger, 1), 3)));

test('all that a server names is due once looks have found it right, whatever it named before', () =>
  withLedger(36, ledger => assert.equal(dueAfterLooks(ledger, 2), 34)));

test('several kinds that tell of one change are one notice', () =>
  withLedger(2, ledger => {
    dated(ledger);
    const schedule = new Schedule(ledger);
    for (const kind of ['feed', 'sitemap', 'websub'] as const) schedule.ping(1, NOW, kind);
    assert.equal(ledger.pages.known(1)!.pings, 1);
    assert.deepEqual(ledger.schedule.told.of(1), { feed: 1, sitemap: 1, websub: 1 });
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
    assert.equal(ledger.schedule.told.size, 1);
    voices.gone(ledger.servers.byId(1), ledger.pages.known(1)!, { outcome: 'gone', time: NOW });
    assert.equal(ledger.schedule.told.size, 0);
    assert.equal(ledger.schedule.noticeTrust.of(1, 'cursor').confirmed, 1);
  }));

test('a failure says nothing of a notice', () =>
  withLedger(1, ledger => {
    dated(ledger);
    new Schedule(ledger).ping(1, NOW, 'cursor');
    new Voices(ledger).gone(ledger.servers.byId(1), ledger.pages.known(1)!, { outcome: 'failed', time: NOW });
    assert.equal(ledger.schedule.noticeTrust.of(1, 'cursor').pings, 0);
  }));

test('silent visits teach recall of every kind', () =>
  withLedger(3, ledger => {
    dated(ledger);
    tell(ledger, 1, 'feed', true);
    new Voices(ledger).judged(ledger.servers.byId(1), ledger.pages.known(2)!, {
      ...{ time: NOW, changed: true, foretold: 0.5 },
    });
    assert.deepEqual(ledger.schedule.noticeTrust.of(1, 'feed').missed, 1);
    assert.equal(ledger.schedule.noticeTrust.of(1, 'feed').expected, 0.5);
  }));

/** A face that has answered, as far as its state says. */
function answering(ledger: Ledger, state: FaceState): void {
  ledger.begin();
  const face = ledger.schedule.faces.add(
    { server: 1, kind: 'resourcesync', url: 'http://a.test/rs', found: 'well-known' },
    NOW,
  );
  ledger.schedule.faces.put({ ...face!, heard: NOW, state });
}

test('silence counts from the start where a site lists all changes of the pages of which it tells, until looks show otherwise', () =>
  withLedger(60, ledger => {
    dated(ledger);
    const server = ledger.servers.byId(1);
    const silence = () => new Voices(ledger).silence(server);
    answering(ledger, { listed: false });
    assert.equal(silence(), 0);
    answering(ledger, { listed: true });
    assert.ok(silence() > 0.9, `${silence()}`);
    const known = ledger.pages.known(7)!;
    assert.equal(new Voices(ledger).told(server, { flags: known.flags | FLAG_UNSPOKEN }), 0);
    tell(ledger, 1, 'resourcesync', true);
    for (let page = 10; page < 40; page++) {
      const before = ledger.pages.known(page)!;
      new Voices(ledger).judged(server, before, { time: NOW, changed: true, foretold: 0.5 });
    }
    assert.ok(silence() < 0.5, `${silence()}`);
  }));

test('what a site would have told is not expected of its silent pages, nor looked for among them', () =>
  withLedger(900, ledger => {
    dated(ledger, NOW);
    const lots = () => lotsOf(ledger, { visits: 900, begun: NOW + DAY, stale: 0.02 }).length;
    const expected = () => new Schedule(ledger).freshness(NOW + 5 * DAY).expected;
    const before = { lots: lots(), expected: expected() };
    answering(ledger, { listed: true });
    assert.ok(expected() > before.expected, `${expected()} and ${before.expected}`);
    assert.ok(lots() < before.lots / 4, `${lots()} of ${before.lots}`);
  }));
