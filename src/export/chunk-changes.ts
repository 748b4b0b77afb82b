/**
 * Chunks that came, changed or went since a cursor, for whoever keeps something for each chunk. Nothing is remembered
 * here: both states, then and now, are read from the collection, and a chunk is a function of its page alone. So the same
 * cursor always gives the way from the same state, and whoever keeps the cursor with what it made of the answer loses
 * nothing and counts nothing twice, however often either side is killed.
 */
import type { Writable } from 'node:stream';
import { type Chunk, chunkChanges, chunksOf } from '../extract/chunks.ts';
import { extractPage } from '../extract/page.ts';
import { isBegun, readCollection } from '../ledger/collection/collection.ts';
import { Ledger } from '../ledger/ledger.ts';
import { cursorAt, cursorOf, cursorsIn, newestIn, readUpTo } from './cursor.ts';
import { put } from './exporter.ts';
import { type Version, Versions } from './versions.ts';

interface ChunksWanted {
  readonly data: string;
  /** As an answer gave it; `0` = from the beginning. */
  readonly after: string;
  /** The same, of where it ends; absent = now. */
  readonly upTo?: string;
  readonly matches: (url: string) => boolean;
}

export interface ChunksTold {
  readonly cursor: string;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  /** Pages of which all that is kept goes: they were forgotten, or what a reader has of them is known no more. */
  readonly cleared: number;
}

/** One JSON object a line; the last one has the cursor for the next time. */
export async function writeChunkChanges(wanted: ChunksWanted, out: Writable): Promise<ChunksTold> {
  const { partitions, here } = readCollection(wanted.data);
  const cursors = new Map(cursorsIn(wanted.after, partitions));
  const ends = wanted.upTo === undefined ? undefined : cursorsIn(wanted.upTo, partitions);
  const told = { added: 0, changed: 0, removed: 0, cleared: 0 };
  for (const { id, directory } of here.filter(isBegun)) {
    const after = cursors.get(id) ?? '0';
    const upTo = ends && { upTo: ends.get(id) ?? '0' };
    cursors.set(id, await tellPart({ ...wanted, data: directory, after, ...upTo }, told, out));
  }
  const cursor = cursorOf(cursors, partitions);
  await put(out, `${JSON.stringify({ cursor, ...told })}\n`);
  return { cursor, ...told };
}

/** Where a reader stands who has read everything. */
export function newestCursor(data: string): string {
  const { partitions, here } = readCollection(data);
  const cursors = here.filter(isBegun).map(({ id, directory }): [number, string] => {
    using opened = new DisposableStack();
    const ledger = opened.adopt(new Ledger(directory, 'read'), each => each.close());
    return [id, cursorAt(newestIn(ledger))];
  });
  return cursorOf(new Map(cursors), partitions);
}

type ChunkCounts = Record<'added' | 'changed' | 'removed' | 'cleared', number>;

/** The same of one partition, counted in `told`; returns the partition's next cursor. */
async function tellPart(wanted: ChunksWanted, told: ChunkCounts, out: Writable): Promise<string> {
  using opened = new DisposableStack();
  const versions = opened.adopt(new Versions(wanted.data), each => each.close());
  const { ledger } = versions;
  const from = readUpTo(wanted.after, ledger);
  const upTo = wanted.upTo === undefined ? newestIn(ledger) : readUpTo(wanted.upTo, ledger);
  const clear = async (url: string) => {
    await put(out, `${JSON.stringify({ kind: 'cleared', url })}\n`);
    told.cleared++;
  };
  // First: a page that was allowed to come back may be among those below.
  if (wanted.after !== '0')
    for (const url of ledger.storage.forgetting.between(from.forgotten, upTo.forgotten))
      if (wanted.matches(url)) await clear(url);
  for (const { page, url } of ledger.queries.news.newsPages(from.visit, upTo.visit)) {
    if (!wanted.matches(url)) continue;
    const [before, now] = [await versions.at(page, from), await versions.of(page, upTo.visit)];
    if (before === 'lost') await clear(url);
    const changes = chunkChanges(before === 'lost' ? [] : chunksIn(before), chunksIn(now));
    for (const kind of ['removed', 'changed', 'added'] as const) {
      for (const chunk of changes[kind]) await put(out, `${JSON.stringify(lineOf(kind, chunk))}\n`);
      told[kind] += changes[kind].length;
    }
  }
  return cursorAt(upTo);
}

function chunksIn(version: Version | undefined): Chunk[] {
  return version ? chunksOf(extractPage(version.html(), version.url), version.url) : [];
}

function lineOf(kind: keyof ReturnType<typeof chunkChanges>, chunk: Chunk): object {
  const { id, url, path } = chunk;
  return kind === 'removed' ? { kind, id, url, path } : { kind, ...chunk };
}
