/** What people search for moves forward in the schedule. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { Schedule } from '../../src/frontier/schedule/schedule.ts';
import { interestIn, searchFile } from '../../src/home/indexing/indexing.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { phaseOf } from '../../src/revisit/policy.ts';
import { openSearch } from '../../src/search/index.ts';
import { makeCollection } from '../journeys/collection.ts';
import { html, openPages, prose } from '../journeys/pages.ts';

test('pages that people open are due sooner than their like, and less so as time passes', async () => {
  await using pages = await openPages();
  const paths = ['/a', '/b', '/c', '/d'];
  pages.set('/', { body: html('Start', [prose(1)], paths) });
  for (const [i, path] of paths.entries()) pages.set(path, { body: html(path, [prose(i + 2)]) });
  using collection = makeCollection();
  await collection.crawl([`${pages.origin}/`]);
  const ledger = new Ledger(collection.directory, 'write');
  const idOf = (path: string) =>
    Number(ledger['database'].prepare('SELECT id FROM pages WHERE url = ?').get(pages.origin + path)!['id']);
  const search = openSearch(searchFile(collection.directory));
  for (let i = 0; i < 5; i++) search.interest.opened(idOf('/c'));
  search.close();

  const now = collection.clock.now();
  /** Days between two looks: the first comes after a part of them. */
  const interval = (path: string) => {
    const { due, seen_time } = ledger.pages.known(idOf(path))!;
    return Math.round((due! - seen_time!) / phaseOf(idOf(path)) / 10_000) / 8640;
  };
  const days = (time: number) => {
    const schedule = new Schedule(ledger, { share: 0.2 }, { searches: interestIn(collection.directory, () => time) });
    ledger.begin();
    schedule.reschedule(now);
    ledger.commit();
    // Not quite the same: one is some bytes longer.
    assert.ok(Math.abs(interval('/a') / interval('/b') - 1) < 0.1);
    return interval('/a') - interval('/c');
  };
  const [fresh, faded] = [days(now), days(now + 28 * DAY)];
  assert.ok(fresh > faded && faded > 0, `${fresh} days sooner, then ${faded}`);
  ledger.close();
});

test('no index, no interest', () => {
  const directory = mkdtempSync(join(tmpdir(), 'skein-interest-'));
  assert.equal(interestIn(directory, Date.now)(1), 0);
  rmSync(directory, { recursive: true });
});
