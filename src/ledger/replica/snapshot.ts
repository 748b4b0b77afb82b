/**
 * A whole ledger as it was at one moment, while its owner goes on writing: SQLite's own backup over a second connection,
 * whose read transaction holds the moment. It runs beside this thread.
 */
import { randomUUID } from 'node:crypto';
import { createReadStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import { diskError } from '../ledger.ts';
import { versionOf } from '../schema.ts';
import { numberIn } from './changes.ts';

/** Pages in one step: all of them, or a commit in between would make the backup begin anew. */
const ALL_AT_ONCE = 0x7fffffff;
/** Bytes of a chunk, but for the last one. */
const CHUNK = 512 * 1024;
/** Of zstd: a snapshot is made beside a crawl, and costs little time. */
const LEVEL = 3;

export interface Snapshot {
  /** Of the newest changes in it. */
  readonly number: number;
  /** Version of its tables. */
  readonly schema: number;
  /** Its bytes, compressed, in chunks; to be read once. */
  chunks(): AsyncIterable<Uint8Array>;
  /** Removes the file that it is read from. */
  remove(): void;
}

/**
 * Of the ledger in `directory`, as it is when this is called: call it between two batches, right after the changes were
 * taken, and it holds exactly these and all before.
 */
export function takeSnapshot(directory: string): Promise<Snapshot> {
  const source = new DatabaseSync(join(directory, 'ledger.db'), { readOnly: true });
  source.exec('PRAGMA busy_timeout = 5000; BEGIN');
  const number = numberIn(source); // the first question begins the transaction
  const schema = versionOf(source);
  return copied(source, join(directory, `snapshot-${randomUUID()}.tmp`), { number, schema });
}

async function copied(source: DatabaseSync, file: string, told: { number: number; schema: number }): Promise<Snapshot> {
  const remove = () => {
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${file}${suffix}`, { force: true });
  };
  try {
    await backup(source, file, { rate: ALL_AT_ONCE });
  } catch (error) {
    remove();
    throw diskError(error);
  } finally {
    source.close();
  }
  return { ...told, chunks: () => compressed(file), remove };
}

async function* compressed(file: string): AsyncIterable<Uint8Array> {
  const packer = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: LEVEL } });
  const done = pipeline(createReadStream(file, { highWaterMark: CHUNK }), packer);
  // Whoever reads gets the error; here it is only kept from ending the process.
  done.catch(() => undefined);
  let held: Uint8Array[] = [];
  let size = 0;
  for await (const piece of packer as AsyncIterable<Buffer>) {
    held.push(piece);
    size += piece.length;
    if (size < CHUNK) continue;
    const whole = Buffer.concat(held);
    let at = 0;
    for (; whole.length - at >= CHUNK; at += CHUNK) yield whole.subarray(at, at + CHUNK);
    held = [whole.subarray(at)];
    size = whole.length - at;
  }
  await done;
  if (size > 0) yield Buffer.concat(held);
}
