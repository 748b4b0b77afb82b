/** The whole list of pages, filtered and sorted, row after row: a collection may have more of them than memory. */
import type { DatabaseSync } from 'node:sqlite';
import type { Outcome } from '../errand/visit.ts';
import { globOf } from './pages/pages.ts';

const orders = {
  id: 'p.id',
  url: 'p.url',
  time: 'k.time DESC',
  changed: 'k.changed_time DESC',
  size: 'k.bytes DESC',
  depth: 'p.depth, p.id',
  due: 'k.due',
} as const;

export type PageOrder = keyof typeof orders;
export const pageOrderNames = Object.keys(orders) as readonly PageOrder[];

export interface PageListWanted {
  /** Part of the URL; * stands for anything. */
  readonly pattern?: string | undefined;
  readonly outcome?: Outcome | 'waiting' | undefined;
  /** Media type. */
  readonly type?: string | undefined;
  readonly order: PageOrder;
  /** Also where links lead that the crawl stays out of, which is no page of the collection. */
  readonly outOfScope: boolean;
  readonly limit: number;
}

export type PageListRow = Record<string, string | number | null>;

export class PageList {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  rows({ pattern, outcome, type, order, outOfScope, limit }: PageListWanted): Iterable<PageListRow> {
    const where: string[] = [];
    const values: (string | number)[] = [];
    const add = (condition: string, value: string) => {
      where.push(condition);
      values.push(value);
    };
    if (pattern !== undefined) add('p.url GLOB ?', globOf(pattern));
    if (outcome === 'waiting') where.push('k.page IS NULL AND p.refused IS NULL');
    else if (outcome === 'refused') where.push(`(k.outcome = 'refused' OR p.refused IS NOT NULL)`);
    else if (outcome !== undefined) add('k.outcome = ?', outcome);
    if (type !== undefined) add('k.media_type = ?', type);
    if (!outOfScope) where.push(`p.refused IS NOT 'out-of-scope'`);
    const sql = `SELECT p.url, coalesce(k.outcome, CASE WHEN p.refused IS NULL THEN 'waiting' ELSE 'refused' END) AS outcome,
        coalesce(p.refused, k.reason) AS reason, k.status, k.media_type AS type, k.bytes, p.depth, k.time,
        CASE WHEN k.seen_time IS NULL THEN NULL ELSE k.changed_time END AS changed, k.due, k.title, q.url AS parent, k.ascii_sum AS asciiCount,
        k.last_modified AS lastModified, k.segment, k.place + k.request_length AS offset
      FROM pages p LEFT JOIN known k ON k.page = p.id LEFT JOIN pages q ON q.id = p.parent
      ${where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''} ORDER BY ${orders[order]} LIMIT ?`;
    return this.#database.prepare(sql).iterate(...values, limit) as Iterable<PageListRow>;
  }
}
