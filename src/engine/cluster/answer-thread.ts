/** The thread that answers what others ask of this peer's partitions: reads beside home, and never writes a ledger. */
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { SkeinError } from '../../base/errors.ts';
import { readEngineAddress } from '../../cluster/connection/address.ts';
import { connectTo } from '../../cluster/connection/connect.ts';
import { AnswerDesk, type AskedByPeer, Streamed } from '../../cluster/rpc/answering.ts';
import { peerExporterOf } from '../../export/formats.ts';
import { partitionDirectory } from '../../ledger/collection/collection.ts';
import { answerOf } from '../../questions/catalogue.ts';
import { PartitionReader } from '../../questions/partition-reader.ts';
import { askedForm } from '../../questions/peers/elsewhere.ts';
import type { PeerAnswers } from '../../workbench/whole/peer-answers.ts';
import { exportWantedOf } from '../library/data-out.ts';
import { openLedger } from '../open-ledger.ts';

export interface ThreadStart {
  /** As --engine takes it. */
  readonly engine: string;
  readonly data: string;
  readonly partitions: number;
}

export interface ThreadQuestion extends AskedByPeer {
  readonly held: readonly (readonly [partition: number, epoch: number])[];
}

/** Questions at once: a list of many partitions begins with one for each. */
const MOST = 1024;

const { engine, data, partitions } = workerData as ThreadStart;
const readers = new Map<number, { readonly epoch: number; readonly reader: PartitionReader }>();

/** Those that are here now. One that left and came back is another: its files are not those that were open. */
function refresh(held: ThreadQuestion['held']): void {
  const now = new Map(held);
  for (const [id, { epoch, reader }] of readers) {
    if (now.get(id) === epoch) continue;
    reader.close();
    readers.delete(id);
  }
  for (const [id, epoch] of now) {
    if (readers.has(id)) continue;
    const directory = partitionDirectory(data, id);
    readers.set(id, {
      epoch,
      reader: new PartitionReader({ id, partitions, directory, collection: data, openLedger }),
    });
  }
}

async function ask(given: unknown): Promise<unknown> {
  const { name, args, partitions: wanted } = askedForm.parse(given);
  const parts: { partition: number; part: unknown }[] = [];
  for (const partition of wanted) {
    const found = readers.get(partition);
    if (!found) continue;
    parts.push({ partition, part: await answerOf(found.reader, name, args) });
    await setImmediate(); // other questions have a turn
  }
  return { parts };
}

const exportForm = z.object({
  format: z.string().max(20),
  choice: z.object({
    pattern: z.string().max(10_000).optional(),
    since: z.number().optional(),
    until: z.number().optional(),
    newest: z.boolean().optional(),
    body: z.boolean().optional(),
    filename: z.string().max(255).optional(),
  }),
  partitions: z.array(z.int().min(0)).max(4096),
});

function exported(given: unknown): Streamed {
  const { format, choice, partitions: wanted } = exportForm.parse(given);
  const exporter = peerExporterOf(format);
  const here = wanted.map(partition => {
    const found = readers.get(partition)?.reader;
    if (!found) throw new SkeinError('not-found', `Partition ${partition} has just moved to another peer.`);
    return found;
  });
  let count = 0;
  const through = new PassThrough({ highWaterMark: 1 << 20 });
  exporter.write(exportWantedOf(here, data, choice), through).then(
    written => {
      count = written;
      through.end();
    },
    (error: Error) => through.destroy(error),
  );
  return new Streamed(through, () => count);
}

let workbench: PeerAnswers | undefined;

/** Asked by the workbench of another peer. */
async function shown(given: unknown): Promise<unknown> {
  const { PeerAnswers } = await import('../../workbench/whole/peer-answers.ts');
  workbench ??= new PeerAnswers(data);
  return workbench.answer(given, new Set(readers.keys()));
}

const connection = await connectTo(readEngineAddress(engine), { name: 'skein answers' });
const desk = new AnswerDesk(connection, { ask, export: exported, workbench: shown }, { most: MOST });
parentPort!.on('message', ({ data: bytes, reply, held }: ThreadQuestion) => {
  refresh(held);
  void desk.take({ data: bytes, reply }).then(() => parentPort!.postMessage(reply));
});
