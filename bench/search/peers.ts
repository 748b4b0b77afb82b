/** MiniSearch and Orama, installed by name into .cache/bench: they are measured, not used. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { SearchDocument } from '../../src/search/index.ts';
import { highlightsOf } from '../../src/search/match.ts';
import { highlight, snippet } from '../../src/search/snippet.ts';
import { terms } from '../../src/search/words.ts';

export const peerNames = ['minisearch', 'orama'] as const;

export interface Peer {
  readonly name: string;
  put(documents: readonly SearchDocument[]): unknown;
  /** The ten best pages. */
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

/** Installs them when they are not there, and opens one. */
export async function openPeer(root: string, name: string): Promise<Peer> {
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
  return name === 'minisearch' ? miniSearch(load) : orama(load);
}

function miniSearch(load: NodeJS.Require): Peer {
  const MiniSearch = load('minisearch');
  const index = new MiniSearch({ fields, idField: 'page', searchOptions: { combineWith: 'AND', boost: weights } });
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
        .slice(0, 10)
        .map(({ id }: { id: number }) => id),
    shown,
  };
}

function orama(load: NodeJS.Require): Peer {
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
      search(database, { term: text, threshold: 0, boost: weights, limit: 10 }).hits.map(({ id }: { id: string }) =>
        Number(id),
      ),
    shown,
  };
}

const BATCH = 1000;
