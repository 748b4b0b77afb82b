/**
 * The changelogs of a collection's partitions: what their owners committed, in order, where other peers can read it. The
 * port; NATS JetStream is behind it (nats-changelog.ts), and tests have one in memory.
 *
 * The fence: a message is taken only if the last one of its partition is the one that its writer knows of. An owner whose
 * partition somebody else has claimed can write no more, however long it slept.
 */
import { SkeinError } from '../../base/errors.ts';
import type { ChangelogEntry } from './entry.ts';

/** An entry with its place in the log; sequences of a partition rise, with gaps. */
export interface Logged extends ChangelogEntry {
  readonly sequence: number;
}

export interface Changelog {
  /**
   * Adds an entry if the last one of the partition is `expected` (0 = there is none), and returns its sequence when it is
   * durable. Throws `Fenced` when the last one is another writer's.
   */
  publish(partition: number, entry: ChangelogEntry, expected: number): Promise<number>;
  /** The newest entry; undefined = there is none. */
  last(partition: number): Promise<Logged | undefined>;
  /** Entries after `sequence`, up to the newest as of now. */
  read(partition: number, after: number): AsyncIterable<Logged>;
}

/** Somebody else owns the partition by now: it is to be dropped at once, and nothing more of it leaves this peer. */
export class Fenced extends SkeinError {
  readonly partition: number;
  readonly by: string;

  constructor(partition: number, by: Logged | undefined) {
    const who = by ? `${by.writer.peer} (epoch ${by.writer.epoch})` : 'no peer: its changelog is empty';
    super('refused', `Partition ${partition} now belongs to ${who}.`);
    this.partition = partition;
    this.by = by?.writer.peer ?? '';
  }
}

/** The engine has less of a changelog than its writer knows to have written: it was wiped, or restored from an old copy. */
export class Forgotten extends SkeinError {
  constructor(partition: number) {
    super('no-engine', `The engine has lost changes of partition ${partition}; it gets a snapshot.`);
  }
}

/**
 * What a refused publish means: the entry is there (its answer was lost), it is to be published after another one of the
 * same writer (of an attempt that was given up), its writer is fenced, or the engine has forgotten
 * what was there: a fence comes after what the writer knows of (`expected`).
 */
export function afterConflict(
  partition: number,
  entry: ChangelogEntry,
  last: Logged | undefined,
  expected: number,
): { readonly there: number } | { readonly expect: number } {
  const { peer, epoch } = entry.writer;
  if (!last || last.sequence < expected) throw new Forgotten(partition);
  if (last.writer.peer !== peer || last.writer.epoch !== epoch) throw new Fenced(partition, last);
  const same =
    last.number === entry.number && last.part === entry.part && last.parts === entry.parts && last.time === entry.time;
  return same ? { there: last.sequence } : { expect: last.sequence };
}
