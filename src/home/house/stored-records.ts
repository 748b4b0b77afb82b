/** What house-keeping needs: one partition that is open for writing, and a way to commit its changes. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Archive, openArchive } from '../../archive/archive.ts';
import { dropPart } from '../../archive/cdxj.ts';
import { segmentName } from '../../archive/segments.ts';
import type { SegmentStore } from '../../archive/store/segment-store.ts';
import { SkeinError } from '../../base/errors.ts';
import { version } from '../../base/version.ts';
import { Ledger } from '../../ledger/ledger.ts';
import type { CopyRow } from '../../ledger/storage/dropped.ts';
import { noteSealed } from '../checks/repair.ts';
import { segmentsOf } from '../copies/segments-of.ts';

export interface HouseParts {
  readonly ledger: Ledger;
  readonly archive: Archive;
  /** Commits what was written, together with the current lengths of the archive, and begins the next batch. */
  readonly commit: () => void;
}

/** The last segment that the ledger names, and its length. */
export function lastEnd(ledger: Ledger): { segment: number; length: number } {
  const last = ledger.storage.segments.all().at(-1);
  return last ? { segment: last.id, length: last.length } : { segment: 0, length: 0 };
}

/** Opens a partition in which no run works. */
export function openHouse(directory: string): HouseParts & { close(): Promise<void> } {
  const ledger = new Ledger(directory, 'write');
  const archive = openArchive(join(directory, 'archive'), { software: `Skein/${version}` });
  deleteReplaced(ledger, directory);
  archive.recover(lastEnd(ledger));
  ledger.begin();
  noteSealed(ledger);
  const commit = committing(ledger, archive);
  return {
    ledger,
    archive,
    commit,
    async close() {
      await archive.close();
      ledger.close();
    },
  };
}

/** Commits with the lengths of what was written since the last time; segments before that may be replaced by now. */
export function committing(ledger: Ledger, archive: Archive): () => void {
  let first = lastEnd(ledger).segment;
  return () => {
    ledger.begin();
    const ends = first === 0 ? [] : archive.ends(first);
    for (const { segment, length } of ends) ledger.storage.segments.setLength(segment, length);
    first = ends.at(-1)?.segment ?? 0;
    ledger.commit();
    ledger.begin();
  };
}

/**
 * Deletes the files of replaced segments. Before that it makes durable that the ledger no longer names them, or the ledger would
 * miss them after a power cut. Between batches.
 */
export function deleteReplaced(ledger: Ledger, directory: string): number {
  const replaced = ledger.storage.dropped.replaced();
  if (replaced.length === 0) return 0;
  ledger.storage.checkpoint();
  for (const id of replaced) {
    rmSync(join(directory, 'archive', segmentName(id)), { force: true });
    dropPart(join(directory, 'archive'), id);
  }
  ledger.begin();
  ledger.storage.dropped.deleted(replaced);
  ledger.commit();
  return replaced.length;
}

/** Reads bytes of segments here, inside a transaction. */
export class RawReader {
  readonly #segments: SegmentStore;

  constructor(ledger: Ledger) {
    this.#segments = segmentsOf(ledger);
  }

  /** Throws where the segment does not have them. */
  read({ segment, place }: Pick<CopyRow, 'segment' | 'place'>, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    if (this.#segments.here.read(segment, place, bytes) === length) return bytes;
    throw new SkeinError(
      'damaged',
      `${segmentName(segment)} ends before ${place + length}.`,
      'Run "skein verify --repair" first.',
    );
  }

  close(): void {
    this.#segments.close();
  }
}
