/** Snapshots in the engine's object store; the bucket `snapidx` says which one is the newest of a partition. */
import type { KV } from '@nats-io/kv';
import type { ObjectStore } from '@nats-io/obj';
import { z } from 'zod';
import { SkeinError } from '../../base/errors.ts';
import { isConflict } from '../connection/errors.ts';
import { untilItPasses } from '../connection/retry.ts';
import { ownerKey } from '../topology/layout.ts';
import type { SnapshotNote, Snapshots } from './snapshots.ts';

const OBJECT = /^p\d{1,5}\/\d{1,16}-\d{1,16}$/;
const count = z
  .int()
  .min(0)
  .max(2 ** 48);
const noteForm = z.object({
  object: z.string().regex(OBJECT),
  before: z.string().regex(OBJECT).optional(),
  number: count,
  sequence: count,
  epoch: count,
  schema: count,
  bytes: count,
  time: z.number().min(0).max(8.64e15),
});
type Note = z.infer<typeof noteForm>;

interface SnapshotParts {
  readonly snapshots: ObjectStore;
  readonly buckets: { readonly snapidx: KV };
}

/** Milliseconds for a chunk: an election lasts up to eight seconds. */
const CHUNK_TIMEOUT = 15_000;

export function natsSnapshots({ snapshots: store, buckets: { snapidx } }: SnapshotParts): Snapshots {
  const find = async (partition: number): Promise<{ note: Note | undefined; revision: number } | undefined> => {
    const entry = await untilItPasses(() => snapidx.get(ownerKey(partition)));
    if (entry?.operation !== 'PUT') return undefined;
    return { note: noteOf(entry.string(), partition), revision: entry.revision };
  };
  const write = async (partition: number, note: Note, revision: number | undefined): Promise<boolean> => {
    const text = JSON.stringify(note);
    try {
      if (revision === undefined) await snapidx.create(ownerKey(partition), text);
      else await snapidx.update(ownerKey(partition), text, revision);
      return true;
    } catch (error) {
      if (isConflict(error)) return false;
      throw error;
    }
  };
  /** True when the newest one is this one, or a newer one. */
  const announce = async (partition: number, note: Note): Promise<boolean> => {
    const found = await find(partition);
    if (found?.note && found.note.number >= note.number && found.note.epoch >= note.epoch) return true;
    const before = found?.note?.object;
    const written = await write(partition, { ...note, ...(before && { before }) }, found?.revision);
    const old = found?.note?.before;
    if (written && old && old !== note.object) await store.delete(old).catch(() => undefined); // kept a little longer
    return written;
  };
  return {
    async put(partition, note, chunks) {
      const object = `p${partition}/${note.epoch}-${note.number}`;
      const stream = ReadableStream.from(chunks) as ReadableStream<Uint8Array>;
      const { size } = await store.put({ name: object }, stream, { timeout: CHUNK_TIMEOUT });
      while (!(await untilItPasses(() => announce(partition, { ...note, object, bytes: size }))));
      const { object: newest, before } = (await find(partition))?.note ?? {};
      if (newest !== object && before !== object) await store.delete(object).catch(() => undefined); // somebody was faster; kept a little longer
    },
    async newest(partition): Promise<SnapshotNote | undefined> {
      return (await find(partition))?.note;
    },
    async *read(partition) {
      const found = await find(partition);
      const { object } = found?.note ?? {};
      const result = object === undefined ? null : await untilItPasses(() => store.get(object));
      if (!result) throw damaged(partition);
      yield* result.data as unknown as AsyncIterable<Uint8Array>;
      if (await result.error) throw damaged(partition);
    },
  };
}

/** Undefined = no peer wrote it: as if there were none, and the next one goes over it. */
function noteOf(text: string, partition: number): Note | undefined {
  try {
    return decodeNote(text, partition);
  } catch (error) {
    if (error instanceof SkeinError) return undefined;
    throw error;
  }
}

/** What the engine says of the newest snapshot; throws a sentence where it is no such note. */
export function decodeNote(text: string, partition: number): Note {
  const read = noteForm.safeParse(jsonOf(text));
  if (!read.success) throw damaged(partition);
  return read.data;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the form says so
  }
}

function damaged(partition: number): SkeinError {
  return new SkeinError('damaged', `The snapshot of partition ${partition} in the engine is missing or damaged.`);
}
