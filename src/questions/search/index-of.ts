/** The search index of a partition; it is brought up to date first, unless a running home does that. */
import { existsSync } from 'node:fs';
import { freshIndex, type IndexState, searchFile } from '../../home/indexing/indexing.ts';
import { openSearch } from '../../search/index.ts';
import type { PartitionReader } from '../partition-reader.ts';

/** Called with the number of pages read, and whether these were all. */
export type IndexProgress = (pages: number, ended?: boolean) => void;

const opened = new WeakMap<PartitionReader, Promise<IndexState>>();

/** Opened once; closed with its reader. */
export function indexOf(reader: PartitionReader, onProgress?: IndexProgress): Promise<IndexState> {
  const known = opened.get(reader);
  if (known) return known;
  if (reader.indexFed && !existsSync(searchFile(reader.directory)))
    return Promise.resolve({ search: reader.keep(nothingYet).search, fed: true });
  const made = open(reader, onProgress);
  opened.set(reader, made);
  return made;
}

/** Before the process that feeds the index has begun. */
const nothingYet = () => {
  const search = openSearch(':memory:');
  return { search, close: () => search.close() };
};

async function open(reader: PartitionReader, onProgress: IndexProgress = () => {}): Promise<IndexState> {
  const state = await freshIndex(
    reader.directory,
    ({ changed, caughtUp }) => onProgress(changed, caughtUp),
    reader.indexFed ? 'fed' : { home: reader.collection },
  );
  const close = () => {
    opened.delete(reader);
    state.search.close();
  };
  reader.keep(() => ({ close }));
  return state;
}
