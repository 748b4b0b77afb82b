/** watch: killed at any moment it loses no visit that was committed, repeats none of them, and goes on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FreshSummary } from '../../src/engine/keep-fresh.ts';
import { openLedger } from '../../src/engine/open-ledger.ts';
import { verifyCollection } from '../../src/home/checks/verify.ts';
import { openWeb } from '../web/web.ts';
import { makeCollection } from './collection.ts';
import { fast, start } from './skein.ts';

const PAGES = 80;

test('kill -9 during watch loses no visit and repeats none', async () => {
  using collection = makeCollection();
  // The crawl happened a year ago by its clock: now everything is overdue.
  collection.pass(-365);
  await using web = await openWeb({ seed: 9, pagesPerServer: PAGES, clock: collection.clock, latency: 30 });
  await collection.crawl(web.seeds);
  collection.pass(365);
  const watch = ['watch', '--data', collection.directory, '--budget', '10000000', ...fast];
  const counted = () => collection.look(ledger => ledger.visits.last);
  const until = async (visits: number) => {
    while (counted() < visits) await new Promise(resolve => setTimeout(resolve, 50));
  };

  const first = start(watch);
  await until(PAGES + 20);
  const before = collection.look(ledger => ledger['database'].prepare('SELECT * FROM visits ORDER BY id').all());
  first.child.kill('SIGKILL');
  await first.ended;
  const kept = collection.look(ledger => ledger['database'].prepare('SELECT * FROM visits ORDER BY id').all());
  assert.deepEqual(kept.slice(0, before.length), before);

  const second = start(watch);
  await until(2 * PAGES);
  second.child.kill('SIGINT');
  const ended = await second.ended;
  assert.equal(ended.code, 0, `${ended.signal} ${ended.stderr}`);
  const repeated = collection.look(ledger =>
    ledger['database'].prepare('SELECT page, count(*) AS n FROM visits GROUP BY page HAVING n > 2').all(),
  );
  assert.deepEqual(repeated, []);
  const ledger = openLedger(collection.directory);
  const { problems } = await verifyCollection(ledger);
  ledger.close();
  assert.deepEqual(problems, []);
});

test('watch says what it is doing: due, visited, changed, spent, avoided, fresh', async () => {
  using collection = makeCollection();
  collection.pass(-365);
  await using web = await openWeb({ seed: 9, pagesPerServer: 10, clock: collection.clock });
  await collection.crawl(web.seeds);
  collection.pass(365);
  const running = start(['watch', '--data', collection.directory, '--budget', '10000000', '--json', ...fast]);
  while (collection.look(ledger => ledger.visits.last) < 20) await new Promise(resolve => setTimeout(resolve, 50));
  running.child.kill('SIGINT');
  const { stdout, code } = await running.ended;
  assert.equal(code, 0);
  const summary = JSON.parse(stdout.toString().trim().split('\n').at(-1)!) as FreshSummary;
  assert.equal(summary.same, 10);
  assert.ok(summary.avoided > 0);
  assert.ok(summary.freshness.expected > 0.99 && summary.freshness.looks === 10);
});

test('every round of refresh may spend a day, and days that were missed are made up for', async () => {
  using collection = makeCollection();
  collection.pass(-30);
  await using web = await openWeb({ seed: 9, pagesPerServer: 40, clock: collection.clock });
  await collection.crawl(web.seeds);
  const round = async () => {
    const before = collection.look(ledger => ledger.visits.last);
    await collection.refresh({ budget: '10' });
    return collection.look(ledger => ledger.visits.last) - before;
  };
  assert.equal(await round(), 10);
  assert.equal(await round(), 10, 'asked for again at once');
  collection.pass(3);
  assert.equal(await round(), 30, 'three days later');
});
