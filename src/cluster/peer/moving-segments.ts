/**
 * Archive segments of a partition on their way from the peer that had it to the one that has it now, piece by piece over
 * core messages. The peer that had it keeps its files until the other says that it has them all; if it is gone, so are
 * they, unless a store has copies.
 */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { syncDirectory, writeWhole } from '../../base/file.ts';
import { MOST_PARTITIONS } from '../../base/partition.ts';
import { segmentsSubject } from '../topology/layout.ts';

const FILE = /^segment-(\d{6,9})\.warc\.gz$/;
/** Bytes in one answer. */
const PIECE = 512 * 1024;
/** Milliseconds to wait for a piece; who does not answer in time, three times, is gone. */
const PATIENCE = 3000;
const TRIES = 3;

const partition = z.int().min(0).max(MOST_PARTITIONS);
const questionForm = z.discriminatedUnion('ask', [
  z.object({ ask: z.literal('list'), partition }),
  z.object({
    ask: z.literal('piece'),
    partition,
    file: z.string().regex(FILE),
    offset: z.int().min(0),
  }),
  z.object({ ask: z.literal('done'), partition }),
]);
type SegmentQuestion = z.infer<typeof questionForm>;

const listForm = z.array(z.object({ file: z.string().regex(FILE), bytes: z.int().min(0) })).max(100_000);

interface Leftovers {
  /** Where a partition is that this peer has no more; undefined = it still has it, or never had. */
  directoryOf(partition: number): string | undefined;
  /** Its heir has everything. */
  done(partition: number): void;
}

/** Answers those who ask for segments of partitions that this peer had. */
export function serveSegments(connection: NatsConnection, peer: string, leftovers: Leftovers): Disposable {
  const subscription = connection.subscribe(segmentsSubject(peer), {
    callback: (error, message) => {
      if (error) return;
      try {
        answer(message, leftovers);
      } catch {
        // The disk failed: no answer, so that nobody takes it for an empty list.
      }
    },
  });
  return { [Symbol.dispose]: () => subscription.unsubscribe() };
}

function answer(message: Msg, leftovers: Leftovers): void {
  const question = decodeSegmentsQuestion(message.data);
  if (!question) return;
  const directory = leftovers.directoryOf(question.partition);
  if (question.ask === 'done') {
    if (directory !== undefined) leftovers.done(question.partition);
    message.respond();
  } else if (question.ask === 'list')
    message.respond(JSON.stringify(directory === undefined ? [] : listOf(join(directory, 'archive'))));
  else if (directory !== undefined)
    message.respond(pieceOf(join(directory, 'archive', question.file), question.offset));
  else message.respond();
}

export function decodeSegmentsQuestion(data: Uint8Array): SegmentQuestion | undefined {
  if (data.length > 1000) return undefined;
  try {
    return questionForm.safeParse(JSON.parse(new TextDecoder().decode(data))).data;
  } catch {
    return undefined; // no question
  }
}

function listOf(archive: string): { file: string; bytes: number }[] {
  if (!existsSync(archive)) return [];
  const files = readdirSync(archive).filter(file => FILE.test(file));
  return files.sort().flatMap(file => {
    const found = statSync(join(archive, file), { throwIfNoEntry: false });
    return found?.isFile() ? [{ file, bytes: found.size }] : []; // else removed since, and nothing to give
  });
}

/** Empty behind the end, and where there is no such file. */
function pieceOf(file: string, offset: number): Uint8Array {
  try {
    const handle = openSync(file, 'r');
    try {
      const piece = Buffer.allocUnsafe(PIECE);
      return piece.subarray(0, readSync(handle, piece, 0, PIECE, offset));
    } finally {
      closeSync(handle);
    }
  } catch {
    return new Uint8Array(0); // the asker sees that bytes are missing
  }
}

/** Where segments go, and the length of each that the ledger there speaks of: nothing else is asked for. */
interface Heir {
  readonly directory: string;
  readonly wanted: ReadonlyMap<number, number>;
}

/** Brings what another peer has of a partition's archive; what does not come is left out. Returns how many bytes came. */
export async function fetchSegments(
  connection: NatsConnection,
  from: string,
  partition: number,
  { directory, wanted }: Heir,
): Promise<number> {
  const ask = async (question: SegmentQuestion): Promise<Uint8Array | undefined> => {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      try {
        return (await connection.request(segmentsSubject(from), JSON.stringify(question), { timeout: PATIENCE })).data;
      } catch (error) {
        if ((error as Error).name === 'NoRespondersError') return undefined;
      }
    }
    return undefined;
  };
  const answer = await ask({ ask: 'list', partition });
  const list = decodeSegmentsList(answer);
  let bytes = 0;
  let whole = true;
  for (const { file, bytes: has } of list) {
    const length = wanted.get(Number(FILE.exec(file)![1]));
    if (length === undefined) continue;
    // Behind what was committed is what nobody speaks of.
    const size = Math.min(has, length);
    const pieces = (offset: number) => ask({ ask: 'piece', partition, file, offset });
    const came = await fetchOne(join(directory, 'archive'), { file, size }, pieces);
    if (came) bytes += size;
    whole &&= came;
  }
  if (answer && whole) {
    if (list.length > 0) await syncDirectory(join(directory, 'archive'));
    await ask({ ask: 'done', partition });
  }
  return bytes;
}

export function decodeSegmentsList(data: Uint8Array | undefined): z.infer<typeof listForm> {
  if (!data) return [];
  try {
    return listForm.safeParse(JSON.parse(new TextDecoder().decode(data))).data ?? [];
  } catch {
    return []; // as if it had none
  }
}

async function fetchOne(
  archive: string,
  { file, size }: { file: string; size: number },
  pieces: (offset: number) => Promise<Uint8Array | undefined>,
): Promise<boolean> {
  mkdirSync(archive, { recursive: true });
  // It came before whoever brought it was killed.
  if ((statSync(join(archive, file), { throwIfNoEntry: false })?.size ?? -1) >= size) return true;
  const aside = join(archive, `${file}.new`);
  const handle = await open(aside, 'w', 0o600);
  try {
    for (let at = 0; at < size; ) {
      const piece = (await pieces(at))?.subarray(0, size - at);
      if (!piece || piece.length === 0) return false;
      await writeWhole(handle, piece, at);
      at += piece.length;
    }
    // Once this is told, its owner has it no more: neither the bytes nor the name may be in memory alone.
    await handle.sync();
    renameSync(aside, join(archive, file));
    return true;
  } finally {
    await handle.close();
    rmSync(aside, { force: true });
  }
}
