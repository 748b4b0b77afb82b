/** Copies of the archive elsewhere, as a run has them: the place is tried first, and what this disk has lost is brought back. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { copiedNote, copiesGoOn } from '../home/offsite/offsite.ts';
import { readCollection } from '../ledger/collection/collection.ts';
import type { EngineOptions, Extras } from './options.ts';
import type { OpenPartitions } from './partitions.ts';

/** Before anything is opened. Throws where the place that was asked for takes nothing. */
export async function prepareOffsite({ data, archive }: EngineOptions, { shared = false }: Extras): Promise<void> {
  // A peer has looked at what it takes, one by one.
  if (shared) return;
  if (archive !== undefined) await (await import('../home/offsite/offsite.ts')).tryPlace(archive);
  const copied = readCollection(data).here.filter(({ directory }) => copiedNote(directory) !== undefined);
  if (copied.length === 0) return;
  const { bringLast } = await import('../home/offsite/bring.ts');
  for (const { directory } of copied) if (existsSync(join(directory, 'ledger.db'))) await bringLast(directory);
}

/** Before house-keeping works in a partition that no run has open. */
export async function bringForHouse(directory: string): Promise<void> {
  if (copiedNote(directory) === undefined) return;
  const { bringHere } = await import('../home/offsite/bring.ts');
  await bringHere(directory);
}

/** Once it is done: what left this disk leaves the copies, too. What the store does not take now goes with the next run. */
export async function copyOnce(directories: readonly string[], say: (text: string) => void): Promise<void> {
  const copied = directories.filter(directory => copiedNote(directory) !== undefined);
  if (copied.length === 0) return;
  const { startCopying } = await import('../home/offsite/copying.ts');
  await startCopying({ directories: () => copied, say }).end(copied);
}

/** Copies what the run adds; undefined = nobody asked for copies. Closes the collection where the place is another's. */
export async function copyElsewhere(
  collection: OpenPartitions,
  { archive, say = () => {} }: EngineOptions,
  { copying: terms }: Extras,
): Promise<{ end(): Promise<void> } | undefined> {
  const { partitions } = collection.collection;
  if (archive !== undefined) {
    const { copyTo, placeOfPartition } = await import('../home/offsite/offsite.ts');
    try {
      for (const { id, ledger } of collection.partitions)
        await copyTo(ledger, partitions === 1 ? archive : placeOfPartition(archive, id));
    } catch (error) {
      await collection.closeAll();
      throw error;
    }
  }
  if (!collection.partitions.some(({ ledger }) => copiesGoOn(ledger))) return undefined;
  const { startCopying } = await import('../home/offsite/copying.ts');
  const all = new Map<string, number>();
  const directories = () => {
    for (const { id, ledger } of collection.partitions) all.set(ledger.directory, id);
    return collection.partitions.map(({ ledger }) => ledger.directory);
  };
  const copying = startCopying({ directories, say, until: terms?.until });
  const isOurs = ([directory, id]: [string, number]) =>
    existsSync(join(directory, 'ledger.db')) && (terms?.isMine(id) ?? true);
  return {
    end: () => copying.end([...all].filter(isOurs).map(([directory]) => directory)),
  };
}
