/** A ledger in a temporary directory with visits of a test's own making. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fingerprint } from '../../src/base/url.ts';
import type { Outcome } from '../../src/errand/visit.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import type { KnownRow } from '../../src/ledger/pages/known-row.ts';

/** Bytes of the full answer that page `n` is known by. */
export const wireOf = (page: number) => 1000 + page;

const none = {
  ...{ tries: 0, retry_at: null, pings: 0, due: null, etag: null, last_modified: null, title: null },
  ...{ media_type: 'text/html', charset: 'utf-8', language: 'en', canonical: null, bytes: 3000, flags: 0 },
  ...{ ascii_sum: 1, urls: 1, keywords: 1, facts: null, change: null, moved_to: null, same_as: null },
  ...{ near: null, segment: null, place: null, length: null, request_length: null },
};

/** A page that was fetched once. */
export function knownRow(page: number, time = 0): KnownRow {
  return {
    ...{ ...none, page, time, seen_time: time, first_time: time, changed_time: time },
    ...{ outcome: 'fetched', reason: 'ok', status: 200, wire: wireOf(page) },
  };
}

export interface Look {
  readonly page: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly outcome: Outcome;
  readonly stage?: string;
}

/** Pages 1 to `pages`, on two servers in turn, found at `found`; and the looks at them. */
export function visitedLedger(context: TestContext, pages: number, found: number, looks: readonly Look[]): Ledger {
  const directory = mkdtempSync(join(tmpdir(), 'skein-ledger-'));
  const ledger = new Ledger(directory, 'write');
  context.after(() => {
    ledger.close();
    rmSync(directory, { recursive: true, force: true });
  });
  ledger.begin();
  for (let n = 1; n <= pages; n++) {
    const origin = `http://s${n % 2}.test`;
    const url = `${origin}/${n}`;
    const { high, low } = fingerprint(url, { high: 0, low: 0 });
    const row = { high, low, server: ledger.servers.of(origin).id, url, parent: 0, depth: 1, hops: 0, relevance: 0 };
    const page = ledger.pages.add({ ...row, found, refused: null, role: 0, lastmod: null });
    ledger.pages.putKnown(knownRow(page, found));
  }
  for (const { page, time, outcome, stage = 'text' } of looks) {
    ledger.visits.add({
      ...{ page, time, outcome, stage, reason: 'ok', status: 200, amount: null, up: 1, down: 1, cause: 'page', ms: 1 },
      ...{ outpost: 'thread-1', segment: null, place: null, length: null, request_length: null },
    });
    ledger.servers.account.add(time, ledger.pages.get(page)!.server, 'page', { spent: 2 });
  }
  ledger.servers.account.save();
  ledger.commit();
  return ledger;
}
