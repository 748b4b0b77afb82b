/**
 * A ledger as a crawl of many servers leaves it, without the crawl: visited pages of which some failed or went, one in ten
 * that was found and not visited yet, links among them, and a change now and then.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { fingerprint } from '../../src/base/url.ts';
import type { Outcome } from '../../src/errand/visit.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import type { KnownRow } from '../../src/ledger/pages/known-row.ts';
import { newState, packState } from '../../src/revisit/state.ts';

export const SERVERS = 1000;
/** Pages in one transaction. */
const BATCH = 20_000;
/** Milliseconds between the visits of the past. */
const APART = 100;
/** Links of each page. */
const LINKS = 20;

export const urlOf = (page: number) => `http://s${page % SERVERS}.test/section-${page % 97}/page-${page}.html`;

const rest = {
  ...{ retry_at: null, pings: 0, etag: '"1"', last_modified: null, charset: 'utf-8', language: 'en' },
  ...{ canonical: null, flags: 0, ascii_sum: 1, urls: LINKS, keywords: 200, facts: null, mask: null, moved_to: null },
  ...{ same_as: null, near: null, segment: null, place: null, length: null, request_length: null },
};
const change = packState(newState());
const flags = new Uint8Array(LINKS);
const anchors = Buffer.from(Array.from({ length: LINKS }, (_, at) => `the ${at}th of them`).join('\n'));

/** How the visits of a page end. */
function endOf(page: number): { outcome: Outcome; reason: string; status: number } {
  if (page % 211 === 0) return { outcome: 'failed', reason: 'reset', status: 0 };
  if (page % 307 === 0) return { outcome: 'gone', reason: 'http-404', status: 404 };
  return { outcome: 'fetched', reason: 'ok', status: 200 };
}

/** Looks at a page: the first time, or again, when one in three has changed. */
export function visit(ledger: Ledger, page: number, time: number, again: boolean): void {
  const end = endOf(page);
  const same = again && end.outcome === 'fetched' && page % 3 !== 0;
  ledger.visits.add({
    ...{ page, time, ...end, outcome: same ? 'same' : end.outcome, up: 300, down: 1200 },
    ...{ stage: again ? 'text' : 'first', amount: again ? 0.1 : null, cause: 'page', ms: 20, outpost: 'thread-1' },
    ...{ segment: null, place: null, length: null, request_length: null },
  });
  ledger.servers.account.add(time, (page % SERVERS) + 1, 'page', { spent: 1500 });
}

/** Open for writing. `now`: the time of the last visit. */
export function makeLedger(directory: string, pages: number, now: number): Ledger {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const ledger = new Ledger(directory, 'write');
  for (let i = 1; i <= pages; i++) {
    if (i % BATCH === 1) {
      ledger.commit();
      ledger.begin();
    }
    addVisited(ledger, i, pages, now);
  }
  ledger.commit();
  return ledger;
}

/** The page `i` of so many, which one in ten times was not visited. */
export function addVisited(ledger: Ledger, i: number, pages: number, now: number): void {
  addPage(ledger, i, now - (pages - i) * APART);
  if (i % 10 === 0) return;
  visit(ledger, i, now - (pages - i) * APART, false);
  const targets = Array.from({ length: LINKS }, (_, at) => ((i * 31 + at * 977) % pages) + 1);
  ledger.links.put(i, { count: LINKS, targets, flags, anchors }, false);
  ledger.pages.putKnown(knownOf(i, now - (pages - i) * APART, now));
}

function addPage(ledger: Ledger, page: number, found: number): void {
  const url = urlOf(page);
  const { high, low } = fingerprint(url, { high: 0, low: 0 });
  const server = ledger.servers.of(new URL(url).origin).id;
  const row = { high, low, server, url, parent: 1, depth: 3, hops: 0, relevance: 0, found };
  ledger.pages.add({ ...row, refused: null, role: 0, lastmod: null });
}

function knownOf(page: number, time: number, now: number): KnownRow {
  const due = now + (page % 1000) * 60_000 - 10_000_000;
  return {
    ...{ ...rest, ...endOf(page), page, time, seen_time: time, first_time: time, changed_time: time, change, due },
    ...{ tries: 0, bytes: 3000, wire: 1500, title: `Page number ${page}`, media_type: 'text/html' },
  };
}
