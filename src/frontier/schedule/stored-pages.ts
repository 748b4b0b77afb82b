/** The stored pages as the schedule reads them from the ledger, many at a time. It writes nothing. */

import type { Ledger } from '../../ledger/ledger.ts';
import { FLAG_ALIAS } from '../../ledger/pages/known-row.ts';

export interface StoredPage {
  readonly page: number;
  readonly seen_time: number;
  readonly change: Uint8Array;
  readonly pings: number;
  readonly wire: number | null;
  readonly tagged: number;
  readonly outcome: string;
  readonly reason: string;
  readonly flags: number;
  readonly depth: number;
  readonly server: number;
  readonly role: number;
}

/** Pages that stand for all where an estimate is enough. */
export const SAMPLE = 20_000;

/** Those of one server, or of all; sitemaps have a schedule of their own. */
export function storedPages({ database }: Ledger, server?: number): StoredPage[] {
  return database
    .prepare(
      `SELECT k.page, k.seen_time, k.change, k.pings, k.wire, k.outcome, k.reason, k.flags,
         k.etag IS NOT NULL OR k.last_modified IS NOT NULL AS tagged, p.depth, p.server, p.role
       FROM known k JOIN pages p ON p.id = k.page
       WHERE k.change IS NOT NULL AND k.outcome IN ('fetched', 'same', 'failed') AND p.role <> 1 AND p.refused IS NOT 'removed'
         AND NOT k.flags & ${FLAG_ALIAS} AND p.server = coalesce(?, p.server)`,
    )
    .all(server ?? null) as unknown as StoredPage[];
}

/** About SAMPLE of the pages that are neither sitemaps nor images. */
export function sampledPages({
  database,
}: Ledger): Iterable<Pick<StoredPage, 'page' | 'seen_time' | 'change' | 'server'>> {
  return database
    .prepare(
      `SELECT k.page, k.seen_time, k.change, p.server FROM known k JOIN pages p ON p.id = k.page
       WHERE k.change IS NOT NULL AND p.role = 0 AND k.outcome IN ('fetched', 'same', 'failed')
         AND NOT k.flags & ${FLAG_ALIAS} AND k.page % (1 + (SELECT count(*) FROM known) / ${SAMPLE}) = 0`,
    )
    .iterate() as Iterable<unknown> as Iterable<StoredPage>;
}
