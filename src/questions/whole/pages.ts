/** The list of pages, filtered and sorted; whoever reads it may stop at any row. */
import { join } from 'node:path';
import { segmentName } from '../../archive/segments.ts';
import { ELSEWHERE } from '../../ledger/outbox/border.ts';
import {
  comparePlaces,
  type PageListPlace,
  type PageListRow,
  type PageListWanted,
} from '../../ledger/queries/page-list.ts';
import type { Listing } from '../question.ts';

/** A page; its place in the list means something to the partition that told it, and to nobody else. */
export interface ListedPage extends PageListPlace {
  /** With the file that holds the newest copy, and where in it the response begins. */
  readonly page: PageListRow;
}

export const pagesListing: Listing<PageListWanted, ListedPage> = {
  name: 'pages',
  *rows({ ledger, directory, partitions }, wanted, after) {
    const without = partitions === 1 ? undefined : ELSEWHERE;
    for (const row of ledger.queries.pageList.rows({ ...wanted, without }, after))
      yield { key: row['key'] ?? (wanted.order === 'id' ? row.id : null), id: row.id, page: pageOf(row, directory) };
  },
  order: ({ order }) => (order === 'id' ? undefined : (one, two) => comparePlaces(order, one, two)),
};

/** Name by name: there may be millions, and copying what is left of an object costs twice that. */
function pageOf(row: PageListRow, directory: string): PageListRow {
  const segment = row['segment'];
  return {
    url: row['url']!,
    outcome: row['outcome']!,
    reason: row['reason']!,
    status: row['status']!,
    type: row['type']!,
    bytes: row['bytes']!,
    depth: row['depth']!,
    time: row['time']!,
    changed: row['changed']!,
    due: row['due']!,
    title: row['title']!,
    parent: row['parent']!,
    asciiCount: row['asciiCount']!,
    lastModified: row['lastModified']!,
    file: segment == null ? null : join(directory, 'archive', segmentName(Number(segment))),
    offset: row['offset'] ?? null,
  };
}
