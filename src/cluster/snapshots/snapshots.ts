/**
 * Whole ledgers of partitions, where another peer can get them. The port; the engine's object store is behind it
 * (nats-snapshots.ts).
 *
 * Invariant: a snapshot that is named here holds nothing that is not in the changelog, so that it is right whoever owns
 * the partition by now.
 */
export interface SnapshotNote {
  /** Newest changes in it. */
  readonly number: number;
  /** Of the changelog's message that completed them: what comes after it is not in the snapshot. */
  readonly sequence: number;
  /** Of the claim under which it was made. */
  readonly epoch: number;
  /** Version of the tables. */
  readonly schema: number;
  /** Compressed. */
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly time: number;
}

export interface Snapshots {
  /** Keeps it, and forgets all but the one before. Does nothing where a newer one is there. */
  put(partition: number, note: Omit<SnapshotNote, 'bytes'>, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  newest(partition: number): Promise<SnapshotNote | undefined>;
  /** The chunks of the newest one; throws where a chunk is missing or damaged. */
  read(partition: number): AsyncIterable<Uint8Array>;
}
