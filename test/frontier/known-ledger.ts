/** A ledger of pages that change at different rates, without a crawl that filled it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DAY } from '../../src/base/clock.ts';
import { fingerprint } from '../../src/base/url.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import type { KnownRow } from '../../src/ledger/pages/known-row.ts';
import { newState, packState } from '../../src/revisit/state.ts';

export const NOW = 1_000 * DAY;

/** A ledger with `count` pages of one server, seen a day ago. */
export function withLedger(count: number, work: (ledger: Ledger, directory: string) => void): void {
  const directory = mkdtempSync(join(tmpdir(), 'skein-schedule-'));
  const ledger = new Ledger(directory, 'write');
  ledger.begin();
  const server = ledger.servers.of('http://a.test').id;
  for (let i = 0; i < count; i++) {
    const url = `http://a.test/${i}`;
    const place = {
      ...fingerprint(url, { high: 0, low: 0 }),
      server,
      url,
      parent: 0,
      depth: 1,
      hops: 0,
      relevance: 0,
      found: 0,
    };
    const page = ledger.pages.add({ ...place, refused: null, role: 0, lastmod: null });
    ledger.pages.putKnown(knownRow(page, i));
  }
  ledger.commit();
  try {
    work(ledger, directory);
  } finally {
    ledger.close();
    rmSync(directory, { recursive: true });
  }
}

/** Rates between one change in two days and one in two hundred. */
function knownRow(page: number, i: number): KnownRow {
  const names = `title media_type charset language canonical bytes wire ascii_sum urls keywords facts moved_to
    same_as near segment place length request_length etag last_modified retry_at due`.split(/\s+/);
  const empty = Object.fromEntries(names.map(name => [name, null]));
  const seen = { time: NOW - DAY, seen_time: NOW - DAY, first_time: NOW - 9 * DAY, changed_time: NOW - 9 * DAY };
  const change = packState({ ...newState(), a: 2, b: 4 + i * 4, visits: 5, changes: 1 });
  const row = { ...empty, ...seen, page, outcome: 'fetched', reason: 'ok', status: 200, tries: 0, pings: 0, flags: 0 };
  return { ...row, change } as unknown as KnownRow;
}
