/** Snapshots in memory, for tests. */
import type { SnapshotNote, Snapshots } from '../../src/cluster/snapshots/snapshots.ts';

export function memorySnapshots(): Snapshots {
  const kept = new Map<number, { note: SnapshotNote; chunks: Uint8Array[] }>();
  return {
    async put(partition, note, chunks) {
      const list: Uint8Array[] = [];
      for await (const chunk of chunks) list.push(chunk);
      kept.set(partition, { note: { ...note, bytes: Buffer.concat(list).length }, chunks: list });
    },
    newest: async partition => kept.get(partition)?.note,
    async *read(partition) {
      yield* kept.get(partition)!.chunks;
    },
  };
}
