import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { Ledger } from '../../src/ledger/ledger.ts';
import { Tallies, type TallyKind } from '../../src/ledger/tallies.ts';
import { randomly } from '../random.ts';
import { knownRow } from './visited.ts';

const directory = mkdtempSync(join(tmpdir(), 'skein-tallies-'));
after(() => rmSync(directory, { recursive: true, force: true }));

const kinds: readonly TallyKind[] = ['pages', 'known', 'stored', 'spurned'];
const outcomes = [
  ['fetched', 'ok'],
  ['same', 'unchanged'],
  ['gone', 'http-404'],
] as const;

/** What the tallies say, and what the rows themselves say. */
function both(data: string): { kept: unknown; counted: unknown } {
  const sorted = (tallies: Tallies, kind: TallyKind) =>
    tallies
      .of(kind)
      .filter(({ n }) => n !== 0)
      .map(({ name, server, n }) => `${kind} ${name} ${server} ${n}`)
      .sort();
  const kept = new Ledger(data, 'read');
  const said = kinds.flatMap(kind => sorted(kept.servers.tallies, kind));
  kept.close();
  const database = new DatabaseSync(join(data, 'ledger.db'));
  database.exec('BEGIN; DROP TABLE tallies');
  const counted = kinds.flatMap(kind => sorted(new Tallies(database), kind));
  database.exec('ROLLBACK');
  database.close();
  return { kept: said, counted };
}

test('whatever is written, the tallies are what the rows add up to', () => {
  for (let seed = 1; seed <= 5; seed++) {
    const data = join(directory, String(seed));
    const random = randomly(seed);
    const ledger = new Ledger(data, 'write');
    const outside = new Set<number>();
    ledger.begin();
    for (let step = 0; step < 600; step++) {
      const page = 1 + random.below(Math.max(1, ledger.pages.size));
      const kind = ledger.pages.size < 20 ? 0 : random.below(5);
      if (kind === 0) {
        const { id: server } = ledger.servers.of(`http://${random.below(4)}.example`);
        const place = { high: step, low: step, server, url: `http://a.example/${step}`, parent: 0, depth: 0 };
        const refused = random.pick([null, null, 'out-of-scope']);
        if (refused !== null) outside.add(ledger.pages.size + 1);
        ledger.pages.add({ ...place, hops: 0, relevance: 0, found: 0, refused, role: 0, lastmod: null });
      } else if (kind < 3) {
        // A page that was refused from the start is never visited.
        if (outside.has(page)) continue;
        const [outcome, reason] = random.pick(outcomes);
        const before = ledger.pages.known(page);
        const row = {
          ...knownRow(page),
          outcome,
          reason,
          segment: random.pick([null, 1]),
          place: 0,
          request_length: 0,
        };
        if (before) ledger.pages.putKnown(row, before);
        else ledger.pages.addKnown(row);
      } else if (kind === 3) {
        const server = 1 + random.below(ledger.servers.size);
        outside.delete(page);
        ledger.pages.judge(page, random.pick([null, 'too-deep', 'out-of-scope']), server);
      } else {
        ledger.storage.copies.lose({ page, segment: 1, offset: 0 }, 5);
      }
      if (random.below(20) === 0) {
        ledger.commit();
        ledger.begin();
      }
    }
    ledger.close();
    const { kept, counted } = both(data);
    assert.deepEqual(kept, counted, `seed ${seed}`);
  }
});
