import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { Ledger } from '../../src/ledger/ledger.ts';
import { randomly } from '../random.ts';

const directory = mkdtempSync(join(tmpdir(), 'skein-server-pages-'));
after(() => rmSync(directory, { recursive: true, force: true }));

/** Ids of each server's pages, by the lists, and by the table itself. */
function both(ledger: Ledger): { listed: number[][]; written: number[][] } {
  const servers = [...ledger.servers.all()].map(({ id }) => id);
  const listed = servers.map(id => [...ledger.queries.scans.ofServer(id)].map(page => page.id).sort((a, b) => a - b));
  const written = servers.map(id => {
    const pages = Array.from({ length: ledger.pages.size }, (_, i) => ledger.pages.get(i + 1)!);
    return pages.filter(page => page.server === id).map(page => page.id);
  });
  return { listed, written };
}

function makeLedger(data: string, seed: number): Ledger {
  const random = randomly(seed);
  const ledger = new Ledger(data, 'write');
  ledger.begin();
  for (let step = 1; step <= 400; step++) {
    const { id: server } = ledger.servers.of(`http://${random.below(5)}.example`);
    const place = { high: step, low: step, server, url: `http://a.example/${step}`, parent: 0, depth: 0, hops: 0 };
    ledger.pages.add({ ...place, relevance: 0, found: 0, refused: null, role: 0, lastmod: null });
    if (random.below(6) === 0)
      ledger.pages.judge(1 + random.below(step), 'too-deep', 1 + random.below(ledger.servers.size));
    if (random.below(30) > 0) continue;
    ledger.commit();
    ledger.begin();
  }
  return ledger;
}

test("a server's pages are found without reading those of others, in and behind a batch", () => {
  for (let seed = 1; seed <= 4; seed++) {
    const ledger = makeLedger(join(directory, `made-${seed}`), seed);
    const before = both(ledger);
    assert.deepEqual(before.listed, before.written, `seed ${seed}`);
    ledger.commit();
    const behind = both(ledger);
    assert.deepEqual(behind.listed, before.written, `seed ${seed}`);
    ledger.close();
  }
});

test('what the schedule reads of a server is what it reads of all, and no more', () => {
  const data = join(directory, 'scheduled');
  makeLedger(data, 11).close();
  const database = new DatabaseSync(join(data, 'ledger.db'));
  const columns = 'page, time, seen_time, first_time, changed_time, outcome, reason, etag, wire, change, flags, pings';
  database.exec(`INSERT INTO known (${columns}, tries, bytes, keywords, urls, status, ascii_sum)
    SELECT id, id, id, id, id, 'same', 'ok', CASE id % 3 WHEN 0 THEN '"1"' END, id, x'00000000', 0, id % 2, 0, 0, 0, 0, 200, 0
    FROM pages WHERE id % 4 > 0`);
  database.close();
  const ledger = new Ledger(data, 'write');
  const all = [...ledger.schedule.pages.all()];
  assert.equal(all.length, 300);
  const [first] = all;
  assert.deepEqual(
    { ...first!, change: first!.change.byteLength },
    {
      ...{ page: 1, url: 'http://a.example/1', seen_time: 1, change: 4, pings: 1, wire: 1, tagged: 0 },
      ...{ outcome: 'same', reason: 'ok', flags: 0, depth: 0, server: first!.server, role: 0 },
    },
  );
  assert.equal(all.find(({ page }) => page === 3)!.tagged, 1);
  const byPage = (a: { page: number }, b: { page: number }) => a.page - b.page;
  for (const { id: server } of ledger.servers.all())
    assert.deepEqual(
      [...ledger.schedule.pages.ofServer(server)].sort(byPage),
      all.filter(page => page.server === server),
    );
  ledger.close();
});

test('a ledger that an older version wrote gets its lists when it is opened', () => {
  const data = join(directory, 'old');
  makeLedger(data, 9).close();
  const database = new DatabaseSync(join(data, 'ledger.db'));
  database.exec('DELETE FROM server_pages');
  database.close();
  const ledger = new Ledger(data, 'write');
  const { listed, written } = both(ledger);
  assert.deepEqual(listed, written);
  ledger.close();
});

test('a ledger that was killed, or that another process reads, has the pages that its lists lack', () => {
  const data = join(directory, 'killed');
  const ledger = makeLedger(data, 21);
  ledger.commit();
  const reader = new Ledger(data, 'read');
  const { listed, written } = both(reader);
  assert.deepEqual(
    listed.map(ids => [...new Set(ids)]),
    written,
  );
  reader.close();
  ledger.abandon(); // as if it were killed: nothing is finished
  ledger.close();
  const again = new Ledger(data, 'write');
  const after = both(again);
  assert.deepEqual(after.listed, after.written);
  assert.deepEqual(after.written, written);
  again.close();
  const last = new Ledger(data, 'read');
  assert.deepEqual(both(last).listed, written);
  last.close();
});
