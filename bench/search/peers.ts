/** MiniSearch and Orama, installed by name into .cache/bench: they are measured, not used. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { SearchDocument } from '../../src/search/index.ts';

export const peerNames = ['minisearch', 'orama'] as const;

export interface Peer {
  readonly name: string;
  put(documents: readonly SearchDocument[]): unknown;
  query(text: string): unknown;
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
  return {
    name: 'minisearch',
    put: documents => index.addAll(documents),
    query: text => index.search(text).slice(0, 10),
  };
}

function orama(load: NodeJS.Require): Peer {
  const { create, insertMultiple, search } = load('@orama/orama');
  const database = create({ schema: Object.fromEntries(fields.map(field => [field, 'string'])) });
  return {
    name: 'orama',
    put: documents =>
      insertMultiple(
        database,
        documents.map(({ title, headings, anchors, text }) => ({ title, headings, anchors, text })),
        BATCH,
      ),
    query: text => search(database, { term: text, threshold: 0, boost: weights, limit: 10 }),
  };
}

const BATCH = 1000;
