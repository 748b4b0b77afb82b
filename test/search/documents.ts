/** Documents and indexes for the search tests. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { openSearch, type Results, type Search, type SearchDocument } from '../../src/search/index.ts';

export const NOW = Date.UTC(2026, 0, 15);

export function document(page: number, some: Partial<SearchDocument> = {}): SearchDocument {
  return {
    page,
    url: `https://www.example.org/pages/${page}`,
    title: '',
    headings: '',
    anchors: '',
    text: '',
    language: 'en',
    mediaType: 'text/html',
    fetched: NOW - DAY,
    changed: NOW - 200 * DAY,
    importance: 0,
    noindex: false,
    noarchive: false,
    ...some,
  };
}

export function directory(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'skein-search-'));
  context.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A new index with these documents, closed after the test; `room`: pages of one shelf. */
export function indexOf(context: TestContext, documents: readonly SearchDocument[], room?: number): Search {
  const path = mkdtempSync(join(tmpdir(), 'skein-search-'));
  const search = openSearch(join(path, 'search.db'), room === undefined ? {} : { room });
  context.after(() => {
    search.close();
    rmSync(path, { recursive: true, force: true });
  });
  put(search, documents);
  return search;
}

/** Adds pages, or replaces what is known of them. */
export function put(search: Search, changed: readonly SearchDocument[]): void {
  search.updates.apply({ changed, gone: [] });
}

export function removePages(search: Search, gone: readonly number[]): void {
  search.updates.apply({ changed: [], gone });
}

export const pagesOf = (results: Results) => results.hits.map(hit => hit.page);

/** Pages that a query finds, in numerical order. */
export function found(search: Search, query: string): number[] {
  return pagesOf(search.query(query, { now: NOW, limit: 100 })).sort((a, b) => a - b);
}
