/** Servers whose validators lie, are missing, or differ from machine to machine: the right outcome at bounded cost. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { openCopiesHere } from '../../src/home/copies/copies.ts';
import { pageOf } from '../../src/home/copies/difference.ts';
import { historyOf, unpackState } from '../../src/revisit/state.ts';
import type { Validators } from '../web/options.ts';
import { openWeb, type Web } from '../web/web.ts';
import { type Collection, makeCollection } from './collection.ts';

interface Setting {
  readonly validators: Validators;
  readonly rate: number;
  readonly pages?: number;
  /** Days by which the server's clock is ahead. */
  readonly skew?: number;
}

/** Crawls, then looks at every page once a day. */
async function days(setting: Setting, count: number, check: (c: Collection, web: Web) => void): Promise<void> {
  using collection = makeCollection();
  const { clock } = collection;
  const ahead = (setting.skew ?? 0) * DAY;
  await using web = await openWeb({
    seed: 11,
    pagesPerServer: setting.pages ?? 15,
    rates: [setting.rate],
    validators: [setting.validators],
    clock: { ...clock, now: () => clock.now() + ahead },
  });
  await collection.crawl(web.seeds);
  for (let day = 0; day < count; day++) {
    collection.pass(1);
    await collection.refresh({ budget: '100%' });
  }
  check(collection, web);
}

/** Pages whose newest stored copy does not hold the text that the server has now. */
function outdated(collection: Collection, web: Web): string[] {
  const now = collection.clock.now();
  return collection.look(ledger => {
    const copies = openCopiesHere(ledger);
    const wrong = web.truth().filter(({ url, content, expect }) => {
      const page = ledger['database'].prepare('SELECT id FROM pages WHERE url = ?').get(url);
      if (expect !== 'page' || !content || !page) return false;
      const stored = copies.newest(ledger.pages.known(page['id'] as number)!);
      const text = stored ? pageOf(stored).text().replace(/\s+/g, ' ') : '';
      return !content
        .text(now)
        .split('\n')
        .every(paragraph => text.includes(paragraph.trim()));
    });
    copies.close();
    return wrong.map(({ url }) => url);
  });
}

/** One in ten is checked: that none of 240 is has a chance of 1e-11. */
test('an ETag that never changes is found out by audits, and from then on no change is missed', async () => {
  await days({ validators: 'constant', rate: 1, pages: 60 }, 5, (collection, web) => {
    const server = collection.look(ledger => ledger.servers.byId(1));
    assert.ok(server.lies > 0, 'no lie was noticed');
    assert.deepEqual(outdated(collection, web), []);
    const lied = collection.look(
      ledger =>
        ledger['database'].prepare(`SELECT count(*) AS n FROM visits WHERE reason = 'validator-lied'`).get()!['n'],
    );
    assert.ok(Number(lied) > 0);
  });
});

test('a Last-Modified that never changes is found out in the same way', async () => {
  await days({ validators: 'stale', rate: 1, pages: 60 }, 5, (collection, web) => {
    assert.ok(collection.look(ledger => ledger.servers.byId(1).lies) > 0);
    assert.deepEqual(outdated(collection, web), []);
  });
});

test('honest validators keep the trust, and audits are few', async () => {
  await days({ validators: 'right', rate: 0.3, pages: 40 }, 4, (collection, web) => {
    assert.equal(
      collection.look(ledger => ledger.servers.byId(1).lies),
      0,
    );
    assert.deepEqual(outdated(collection, web), []);
    const audits = collection.look(ledger =>
      ledger['database']
        .prepare(`SELECT sum(cause = 'audit') AS audits, sum(reason = 'not-modified') AS all304 FROM visits`)
        .get(),
    )!;
    assert.ok(Number(audits['audits']) < Number(audits['all304']) / 2);
  });
});

test('a Last-Modified that moves at every visit fools neither the detector nor the estimator', async () => {
  await days({ validators: 'now', rate: 0 }, 4, collection => {
    const rows = collection.look(ledger =>
      ledger['database'].prepare(`SELECT change FROM known WHERE outcome = 'same'`).all(),
    );
    assert.equal(rows.length, 15);
    for (const row of rows) assert.match(historyOf(unpackState(row['change'] as Uint8Array)), /^0+$/);
    const { dates, wrongDates } = collection.look(ledger => ledger.servers.byId(1));
    assert.equal(wrongDates, dates);
  });
});

test('machines that each have their own ETag for one content end in 304 once all are known', async () => {
  await days({ validators: 'backends', rate: 0 }, 6, (collection, web) => {
    const last = collection.look(ledger =>
      ledger['database']
        .prepare('SELECT outcome, status, cause FROM visits WHERE id > (SELECT max(id) - 15 FROM visits)')
        .all(),
    );
    assert.ok(last.every(row => row['outcome'] === 'same'));
    // Of those that say so, some are checked with the whole page, by chance.
    const unsent = last.filter(row => row['status'] === 304 || row['cause'] === 'audit');
    assert.ok(unsent.length >= 10, 'most of them are still sent whole');
    assert.equal(
      collection.look(ledger => ledger.servers.byId(1).lies),
      0,
    );
    assert.deepEqual(outdated(collection, web), []);
  });
});

test('without validators the content decides, and unchanged pages are stored once', async () => {
  await days({ validators: 'none', rate: 0 }, 2, collection => {
    const stored = collection.look(ledger =>
      ledger['database'].prepare('SELECT count(*) AS n FROM visits WHERE segment IS NOT NULL').get(),
    )!;
    assert.equal(stored['n'], 15);
  });
});

test('a server whose clock is three days ahead: changes are found, and the rates stay sound', async () => {
  await days({ validators: 'date', rate: 0.5, skew: 3 }, 4, (collection, web) => {
    const rows = collection.look(ledger => ledger['database'].prepare('SELECT change, due, time FROM known').all());
    for (const row of rows) {
      const { a, b } = unpackState(row['change'] as Uint8Array);
      assert.ok(a > 0 && a < 20 && b > 0 && b < 200, `a ${a}, b ${b}`);
      assert.ok(Number(row['due']) > Number(row['time']));
    }
    // The web's content is that of its own clock.
    const now = collection.clock.now;
    const shifted = { ...collection, clock: { ...collection.clock, now: () => now() + 3 * DAY } };
    assert.deepEqual(outdated(shifted, web), []);
  });
});
