/**
 * Edits that many pages of a server share: a menu, a footer, a version line. Such an edit changes no page (visits that saw
 * it have the stage `template`): it is news of the server, told once.
 */

import type { Ledger } from '../../ledger/ledger.ts';
import { globOf } from '../../ledger/pages/pages.ts';

export interface TemplateEdit {
  readonly origin: string;
  /** Milliseconds when it was last seen on a page that had not shown it before. */
  readonly time: number;
  /** On which it was seen. */
  readonly pages: number;
  /** Words that went and came, on the mean page. */
  readonly removed: number | null;
  readonly added: number | null;
}

/**
 * Newest first, however few pages are left in the time asked for: what is told of no page is told here. Pages are looked at one after another, perhaps over weeks: the first edit that each of them showed
 * since then is taken for the same one, and so is the second.
 */
export function templateEdits(ledger: Ledger, since: number, pattern?: string): TemplateEdit[] {
  return ledger.database
    .prepare(
      `SELECT origin, max(time) AS time, count(*) AS pages, avg(removed) AS removed, avg(added) AS added
       FROM (
         SELECT p.server, v.time, v.removed, v.added, row_number() OVER (PARTITION BY v.page ORDER BY v.id) AS edit
         FROM visits v JOIN pages p ON p.id = v.page
         WHERE v.id >= ? AND v.time >= ? AND v.stage = 'template' AND p.url GLOB ?) e
       JOIN servers s ON s.id = e.server
       GROUP BY e.server, edit ORDER BY time DESC`,
    )
    .all(ledger.visits.since(since), since, globOf(pattern)) as unknown as TemplateEdit[];
}
