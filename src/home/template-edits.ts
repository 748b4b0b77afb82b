/**
 * Edits of what the pages of a server share: navigation, header, footer. Such an edit changes no page (visits that saw
 * it have the stage `template`); when many pages of a server show it, it is news of the server, told once.
 */
import type { Ledger } from '../ledger/ledger.ts';
import { globOf } from '../ledger/pages.ts';

export interface TemplateEdit {
  readonly origin: string;
  /** Milliseconds when it was last seen on a page that had not shown it before. */
  readonly time: number;
  /** On which it was seen. */
  readonly pages: number;
  /** Mean share of their blocks that differ. */
  readonly amount: number | null;
}

/** Pages, and share of its pages, on which a server must show an edit. */
const LEAST_PAGES = 5;
const LEAST_SHARE = 0.01;

/** Whether an edit on so many of a server's pages is one of the server, and told of. */
export function isTold(edited: number, pages: number): boolean {
  return edited >= Math.max(LEAST_PAGES, LEAST_SHARE * pages);
}

/**
 * Newest first. Pages are looked at one after another, perhaps over weeks: the first edit that each of them showed
 * since then is taken for the same one, and so is the second.
 */
export function templateEdits(ledger: Ledger, since: number, pattern?: string): TemplateEdit[] {
  const rows = ledger.database
    .prepare(
      `SELECT origin, max(time) AS time, count(*) AS pages, avg(amount) AS amount,
         (SELECT count(*) FROM pages o JOIN known k ON k.page = o.id WHERE o.server = e.server) AS known
       FROM (
         SELECT p.server, v.time, v.amount, row_number() OVER (PARTITION BY v.page ORDER BY v.id) AS edit
         FROM visits v JOIN pages p ON p.id = v.page
         WHERE v.id >= ? AND v.time >= ? AND v.stage = 'template' AND p.url GLOB ?) e
       JOIN servers s ON s.id = e.server
       GROUP BY e.server, edit HAVING pages >= ${LEAST_PAGES} ORDER BY time DESC`,
    )
    .all(ledger.visits.since(since), since, globOf(pattern)) as unknown as (TemplateEdit & {
    readonly known: number;
  })[];
  return rows.filter(({ pages, known }) => isTold(pages, known)).map(({ known: _, ...edit }) => edit);
}
