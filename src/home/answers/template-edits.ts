/**
 * Edits that many pages of a server share: a menu, a footer, a version line. Such an edit changes no page (visits that saw
 * it have the stage `template`): it is news of the server, told once.
 */
import type { Ledger } from '../../ledger/ledger.ts';
import type { TemplateEdit } from '../../ledger/queries/news.ts';

export type { TemplateEdit } from '../../ledger/queries/news.ts';

/**
 * Newest first, however few pages are left in the time asked for: what is told of no page is told here. Pages are looked
 * at one after another, perhaps over weeks.
 */
export function templateEdits(ledger: Ledger, since: number, pattern?: string): TemplateEdit[] {
  return ledger.queries.news.templateEdits(since, pattern);
}
