/** The whole list of pages, filtered and sorted, row after row: a collection may have more of them than memory. */
import type { DatabaseSync } from 'node:sqlite';
import type { Outcome } from '../../errand/visit.ts';
import { globOf } from '../pages/pages.ts';

const orders = {
  id: { key: 'p.id', down: false },
  url: { key: 'p.url', down: false },
  time: { key: 'k.time', down: true },
  changed: { key: 'k.changed_time', down: true },
  size: { key: 'k.bytes', down: true },
  depth: { key: 'p.depth', down: false },
  due: { key: 'k.due', down: false },
} as const;

type PageOrder = keyof typeof orders;
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
  /** Why pages are refused that are left out, whatever else is wanted. */
  readonly without?: string | undefined;
  readonly limit: number;
}

export type PageListRow = Record<string, string | number | null>;

/** Where a row stands in the list. */
export interface PageListPlace {
  /** What the list is sorted by. */
  readonly key: string | number | null;
  readonly id: number;
}

/** Below 0: `one` comes first. Pages without a key come first where keys rise and last where they fall, as in SQLite. */
export function comparePlaces(order: PageOrder, one: PageListPlace, two: PageListPlace): number {
  const way = orders[order].down ? -1 : 1;
  if (one.key === two.key) return 0;
  if (one.key === null || two.key === null) return one.key === null ? -way : way;
  return one.key < two.key ? -way : way;
}

export class PageList {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Each row with its place, whose key is left out where it is the id; from the beginning, or behind a place. */
  rows(wanted: PageListWanted, after?: PageListPlace): Iterable<PageListRow & { readonly id: number }> {
    const { pattern, outcome, type, order, outOfScope, without, limit } = wanted;
    const { where, values } = behind(order, after);
    const add = (condition: string, value: string) => {
      where.push(condition);
      values.push(value);
    };
    if (pattern !== undefined) add('p.url GLOB ?', globOf(pattern));
    if (outcome === 'waiting') where.push('k.page IS NULL AND p.refused IS NULL');
    else if (outcome === 'refused') where.push(`(k.outcome = 'refused' OR p.refused IS NOT NULL)`);
    else if (outcome !== undefined) add('k.outcome = ?', outcome);
    if (type !== undefined) add('k.media_type = ?', type);
    where.push(`p.refused IS NOT 'forgotten'`);
    if (!outOfScope) where.push(`p.refused IS NOT 'out-of-scope'`);
    if (without !== undefined) add('p.refused IS NOT ?', without);
    const { key, down } = orders[order];
    const sql = `SELECT ${order === 'id' ? '' : `${key} AS key, `}p.id, p.url, coalesce(k.outcome, CASE WHEN p.refused IS NULL THEN 'waiting' ELSE 'refused' END) AS outcome,
        coalesce(p.refused, k.reason) AS reason, k.status, k.media_type AS type, k.bytes, p.depth, k.time,
        CASE WHEN k.seen_time IS NULL THEN NULL ELSE k.changed_time END AS changed, k.due, k.title,
        CASE WHEN q.refused IS NOT 'forgotten' THEN q.url END AS parent, k.ascii_sum AS asciiCount,
        k.last_modified AS lastModified, k.segment, k.place + k.request_length AS offset
      FROM pages p LEFT JOIN known k ON k.page = p.id LEFT JOIN pages q ON q.id = p.parent
      WHERE ${where.join(' AND ')}
      ORDER BY ${key}${down ? ' DESC' : ''}, p.id LIMIT ?`;
    return this.#database.prepare(sql).iterate(...values, limit) as Iterable<PageListRow & { readonly id: number }>;
  }
}

/** The condition that a row stands behind a place. */
function behind(order: PageOrder, after?: PageListPlace): { where: string[]; values: (string | number)[] } {
  if (!after) return { where: [], values: [] };
  const { key, down } = orders[order];
  const { key: at, id } = after;
  if (at === null && down) return { where: [`${key} IS NULL AND p.id > ?`], values: [id] };
  if (at === null) return { where: [`(${key} IS NOT NULL OR p.id > ?)`], values: [id] };
  const further = down ? `${key} < ? OR ${key} IS NULL` : `${key} > ?`;
  return { where: [`(${further} OR (${key} = ? AND p.id > ?))`], values: [at, at, id] };
}
