/**
 * Chunks that came, changed or went since a cursor, for whoever keeps something for each chunk. Nothing is remembered
 * here: both states, then and now, are read from the collection, and a chunk is a function of its page alone. So the same
 * cursor always gives the way from the same state, and whoever keeps the cursor with what it made of the answer loses
 * nothing and counts nothing twice, however often either side is killed.
 */
import type { Writable } from 'node:stream';
import { type Chunk, chunkChanges, chunksOf } from '../extract/chunks.ts';
import { extractPage } from '../extract/page.ts';
import { cursorAt, visitOf } from './cursor.ts';
import { put } from './exporter.ts';
import { type Version, Versions } from './versions.ts';

export interface ChunksWanted {
  readonly data: string;
  /** As an answer gave it; `0` = from the beginning. */
  readonly after: string;
  readonly matches: (url: string) => boolean;
}

export interface ChunksTold {
  readonly cursor: string;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

/** One JSON object a line; the last one has the cursor for the next time. */
export async function writeChunkChanges(wanted: ChunksWanted, out: Writable): Promise<ChunksTold> {
  using opened = new DisposableStack();
  const versions = opened.adopt(new Versions(wanted.data), each => each.close());
  const { ledger } = versions;
  const from = visitOf(wanted.after, ledger);
  const upTo = ledger.visits.newest();
  const told = { added: 0, changed: 0, removed: 0 };
  for (const { page, url } of ledger.visits.newsPages(from, upTo)) {
    if (!wanted.matches(url)) continue;
    const changes = chunkChanges(chunksIn(versions.of(page, from)), chunksIn(versions.of(page, upTo)));
    for (const kind of ['removed', 'changed', 'added'] as const) {
      for (const chunk of changes[kind]) await put(out, `${JSON.stringify(lineOf(kind, chunk))}\n`);
      told[kind] += changes[kind].length;
    }
  }
  const cursor = cursorAt(upTo, ledger);
  await put(out, `${JSON.stringify({ cursor, ...told })}\n`);
  return { cursor, ...told };
}

function chunksIn(version: Version | undefined): Chunk[] {
  return version ? chunksOf(extractPage(version.html(), version.url), version.url) : [];
}

function lineOf(kind: keyof ReturnType<typeof chunkChanges>, chunk: Chunk): object {
  const { id, url, path } = chunk;
  return kind === 'removed' ? { kind, id, url, path } : { kind, ...chunk };
}
