/** MiniSearch and Orama, installed by name into .cache/bench, and SQLite's FTS5: they are measured, not used. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { highlightsOf } from '../../src/search/ask/match.ts';
import { highlight, snippet } from '../../src/search/ask/snippet.ts';
import type { SearchDocument } from '../../src/search/index.ts';
import { terms } from '../../src/search/terms/words.ts';

export const peerNames = ['minisearch', 'orama'] as const;

export interface Peer {
  readonly name: string;
  put(documents: readonly SearchDocument[]): unknown;
  /** The ten best pages; the twenty best of a forgiving one. */
  query(text: string): number[];
  /** Title and snippet of a page, as Skein shows them. */
  shown(page: number, query: string): unknown;
}

/** Keeps titles and texts, and shows them with Skein's own code: the same work as Skein's. */
function shelf(): Pick<Peer, 'shown'> & { keep(documents: readonly SearchDocument[]): void } {
  const kept = new Map<number, { title: string; text: string }>();
  return {
    keep(documents) {
      for (const { page, title, text } of documents) kept.set(page, { title, text });
    },
    shown(page, query) {
      const { title, text } = kept.get(page)!;
      const highlights = highlightsOf(new Set(terms(query, 'en').split(' ')), []);
      return [highlight(title, 'en', highlights), snippet(text, 'en', highlights)];
    },
  };
}

const packages = ['minisearch@7.2.0', '@orama/orama@3.1.18'];
const fields = ['title', 'headings', 'anchors', 'text'];
const weights = { title: 8, headings: 3, anchors: 4 };

/**
 * Installs them when they are not there, and opens one. `forgiving`: as it finds best, with half-typed and misspelt words;
 * else as it does about the work that Skein does.
 */
export async function openPeer(root: string, name: string, forgiving = false): Promise<Peer> {
  if (name === 'fts5') return fts5();
  const directory = join(root, '.cache', 'bench');
  mkdirSync(directory, { recursive: true });
  if (!existsSync(join(directory, 'package.json')))
    writeFileSync(join(directory, 'package.json'), '{"private":true}\n');
  const load = createRequire(join(directory, 'package.json'));
  if (!existsSync(join(directory, 'node_modules', '@orama', 'orama'))) {
    execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages], {
      cwd: directory,
      stdio: 'ignore',
    });
  }
  return name === 'minisearch' ? miniSearch(load, forgiving) : orama(load, forgiving);
}

function miniSearch(load: NodeJS.Require, forgiving: boolean): Peer {
  const MiniSearch = load('minisearch');
  const index = new MiniSearch({
    fields,
    idField: 'page',
    searchOptions: forgiving ? { prefix: true, fuzzy: 0.2, boost: weights } : { combineWith: 'AND', boost: weights },
  });
  const { keep, shown } = shelf();
  return {
    name: 'minisearch',
    put: documents => {
      keep(documents);
      index.addAll(documents);
    },
    query: text =>
      index
        .search(text)
        .slice(0, forgiving ? 20 : 10)
        .map(({ id }: { id: number }) => id),
    shown,
  };
}

function orama(load: NodeJS.Require, forgiving: boolean): Peer {
  const { create, insertMultiple, search } = load('@orama/orama');
  const database = create({ schema: Object.fromEntries(fields.map(field => [field, 'string'])) });
  const { keep, shown } = shelf();
  return {
    name: 'orama',
    put: documents => {
      keep(documents);
      const entries = documents.map(({ page, title, headings, anchors, text }) => ({
        ...{ id: String(page), title, headings, anchors, text },
      }));
      return insertMultiple(database, entries, BATCH);
    },
    query: text =>
      search(database, { term: text, boost: weights, ...(forgiving ? loose : strict) }).hits.map(
        ({ id }: { id: string }) => Number(id),
      ),
    shown,
  };
}

const BATCH = 1000;

/** Any word counts, with one mistake; all words count. */
const loose = { threshold: 1, tolerance: 1, limit: 20 };
const strict = { threshold: 0, limit: 10 };

/** All words, or any where none has all; the last as a beginning. */
function fts5(): Peer {
  const database = new DatabaseSync(':memory:');
  database.exec("CREATE VIRTUAL TABLE pages USING fts5(title, headings, anchors, text, tokenize = 'porter unicode61')");
  const put = database.prepare('INSERT INTO pages (rowid, title, headings, anchors, text) VALUES (?, ?, ?, ?, ?)');
  const find = database.prepare(
    'SELECT rowid AS id FROM pages WHERE pages MATCH ? ORDER BY bm25(pages, 8, 3, 4, 1) LIMIT 20',
  );
  const { keep, shown } = shelf();
  return {
    name: 'fts5',
    put: documents => {
      keep(documents);
      database.exec('BEGIN');
      for (const { page, title, headings, anchors, text } of documents) put.run(page, title, headings, anchors, text);
      database.exec('COMMIT');
    },
    query: text => {
      const words = (text.match(/[\p{L}\p{N}]+/gu) ?? []).map(word => `"${word}"`);
      if (words.length === 0) return [];
      const last = words.pop()!;
      const ids = (joint: string) =>
        find.all([...words, `(${last} OR ${last} *)`].join(joint)).map(row => Number(row['id']));
      const all = ids(' AND ');
      return all.length > 0 ? all : ids(' OR ');
    },
    shown,
  };
}
