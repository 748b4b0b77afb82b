/** What home's thread asks of one server, or of one page, reads by an index: no question goes through a whole table. */
import assert from 'node:assert/strict';
import { type DatabaseSync, StatementSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { visitedLedger } from './visited.ts';

const LARGE = /^SCAN (?:\w+ AS )?(?:pages|known|visits|account|looks|p|k|v)\b(?!.*USING (?:COVERING )?INDEX)/;

/** Of the statements that `ask` runs, those that read a large table whole: their plans. */
function scansOf(ledger: Ledger, ask: () => unknown): string[] {
  const database: DatabaseSync = ledger['database'];
  const ran = new Set<string>();
  const methods = StatementSync.prototype as unknown as Record<string, (...values: unknown[]) => unknown>;
  const before = ['get', 'all', 'run', 'iterate'].map(name => [name, methods[name]!] as const);
  for (const [name, method] of before)
    methods[name] = function run(this: StatementSync, ...values: unknown[]) {
      ran.add(this.sourceSQL);
      return method.apply(this, values);
    };
  const answer = ask();
  if (typeof answer === 'object' && answer !== null && Symbol.iterator in answer) [...(answer as Iterable<unknown>)];
  for (const [name, method] of before) methods[name] = method;
  assert.ok(ran.size > 0, 'it asked something');
  const plans = [...ran].flatMap(sql =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(row => `${row['detail']}: ${sql}`),
  );
  return plans.filter(plan => LARGE.test(plan));
}

function opened(context: TestContext): Ledger {
  const looks = Array.from({ length: 40 }, (_, i) => ({ page: 1 + i, time: 1000 + i, outcome: 'fetched' as const }));
  return visitedLedger(context, 200, 0, looks);
}

const questions: Readonly<Record<string, (ledger: Ledger, server: number) => unknown>> = {
  'pages of a server': (ledger, server) => ledger.queries.scans.ofServer(server),
  'some pages of a server': (ledger, server) => ledger.queries.scans.someOf(server, [0, 0.5]),
  'what is scheduled of a server': (ledger, server) => ledger.schedule.pages.ofServer(server),
  'retries of a server': (ledger, server) => ledger.schedule.due.allow('robots', 5, 'retry_at', server),
  'errors of a server': (ledger, server) => ledger.queries.listings.errorsOf(server, 10),
  'account of a server': (ledger, server) => ledger.servers.account.ofServer(server, 0),
  'faces of a server': (ledger, server) => ledger.schedule.faces.ofServer(server),
  'forecasts of a server': (ledger, server) => ledger.schedule.forecasts.ofServer(server, 0),
  'one page by its URL': ledger => ledger.pages.find(1, 2),
  'visits of one page': ledger => ledger.visits.of(3),
  'prices of some pages': ledger => ledger.servers.account.pricesOf([3, 4], 0),
  'a visit': ledger => ledger.visits.get(3),
  'visits since a time': ledger => ledger.visits.since(1010),
  'visits after one': ledger => ledger.visits.after(3, 10),
  'the newest visits': ledger => ledger.queries.news.latestVisits(3, 10),
};

for (const [name, ask] of Object.entries(questions)) {
  test(`${name}: no large table is read whole`, context => {
    const ledger = opened(context);
    ledger.commit();
    ledger.begin();
    assert.deepEqual(
      scansOf(ledger, () => ask(ledger, ledger.servers.of('http://s1.test').id)),
      [],
    );
    ledger.commit();
  });
}

test('a question that reads a table whole is noticed', context => {
  const ledger = opened(context);
  assert.equal(
    scansOf(ledger, () => ledger['database'].prepare('SELECT * FROM known WHERE status = 3').all()).length,
    1,
  );
});
