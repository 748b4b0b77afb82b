/** Brings segments that this disk has lost back from their copies: runs that write and house-keeping need them here. */
import { existsSync, mkdirSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { listSegments, segmentName } from '../../archive/segments.ts';
import { openDisk } from '../../archive/store/disk-segments.ts';
import { MissingSegment, type NotedSegment } from '../../archive/store/segment-store.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { noteCopied, type Offsite, offsiteOf, openObjects } from './offsite.ts';
import { CopiedSource } from './pieces.ts';

/**
 * Brings the segment that is being written, if this disk has less of it than the ledger names. Bytes that were never copied
 * are lost; the archive says so when it is opened. Returns how many bytes came.
 */
export async function bringLast(directory: string): Promise<number> {
  using opened = new DisposableStack();
  const ledger = opened.adopt(new Ledger(directory, 'read'), each => each.close());
  const last = ledger.storage.segments.all().at(-1);
  return last ? await bring(ledger, [last]) : 0;
}

/** Brings every segment that is not here; returns how many bytes came. */
export async function bringHere(directory: string): Promise<number> {
  using opened = new DisposableStack();
  return await bringAll(opened.adopt(new Ledger(directory, 'read'), each => each.close()));
}

/**
 * Does work that reads only this disk; when it needs a segment that is not here, brings that segment and starts again, once for
 * each segment. Most work needs none, so the ledger is opened only then.
 */
export async function bringing<T>(ledgerOf: () => Ledger, work: () => T): Promise<T> {
  for (let before = 0; ; ) {
    try {
      return work();
    } catch (error) {
      const { cause } = error as Error;
      const missing = error instanceof MissingSegment ? error : cause instanceof MissingSegment ? cause : undefined;
      if (!missing) throw error;
      const ledger = ledgerOf();
      const noted = ledger.storage.segments.all().filter(({ id }) => id === missing.segment && id !== before);
      if (noted.length === 0 || (await bring(ledger, noted)) === 0) throw error;
      before = noted[0]!.id;
    }
  }
}

/** Brings every segment that is not here. */
export async function bringAll(ledger: Ledger): Promise<number> {
  return await bring(ledger, ledger.storage.segments.all());
}

/**
 * Bytes of each copied segment, if this disk lacks any that the ledger names. A file that is shorter than its copy is deleted to
 * make room for it.
 */
export async function copiedElsewhere(directory: string): Promise<ReadonlyMap<number, number>> {
  if (!existsSync(join(directory, 'ledger.db'))) return new Map();
  using opened = new DisposableStack();
  const ledger = opened.adopt(new Ledger(directory, 'read'), each => each.close());
  const offsite = offsiteOf(ledger);
  const missing = offsite ? missingOf(ledger, ledger.storage.segments.all()) : [];
  if (!offsite || missing.length === 0) return new Map();
  const objects = opened.adopt(await openObjects(offsite.to), each => each.close());
  const copied = new Map((await new CopiedSource(objects).list()).map(({ id, bytes }) => [id, bytes]));
  const archive = join(directory, 'archive');
  for (const { id, length } of missing)
    if ((copied.get(id) ?? 0) >= length) rmSync(join(archive, segmentName(id)), { force: true });
  noteCopied(directory, { to: offsite.to, copied: Object.fromEntries(copied) });
  return copied;
}

function missingOf(ledger: Ledger, segments: readonly NotedSegment[]): NotedSegment[] {
  const here = new Map(listSegments(join(ledger.directory, 'archive')).map(({ id, bytes }) => [id, bytes]));
  return segments.filter(({ id, length }) => (here.get(id) ?? -1) < length);
}

async function bring(ledger: Ledger, segments: readonly NotedSegment[]): Promise<number> {
  const offsite = offsiteOf(ledger);
  let bytes = 0;
  if (offsite)
    for (const segment of missingOf(ledger, segments)) bytes += await bringOne(ledger.directory, offsite, segment);
  return bytes;
}

async function bringOne(directory: string, { to }: Offsite, { id, length }: NotedSegment): Promise<number> {
  const archive = join(directory, 'archive');
  const aside = join(archive, 'bringing');
  rmSync(aside, { recursive: true, force: true });
  mkdirSync(aside, { recursive: true });
  const objects = await openObjects(to);
  const disk = openDisk(aside);
  let bytes = 0;
  try {
    for await (const piece of new CopiedSource(objects).whole(id)) {
      disk.append(id, piece);
      bytes += piece.length;
    }
    disk.seal(id);
    await disk.sync();
    if (bytes < length) return 0;
    truncateSync(join(aside, segmentName(id)), length);
    renameSync(join(aside, segmentName(id)), join(archive, segmentName(id)));
    return length;
  } catch (error) {
    if (error instanceof MissingSegment) return 0;
    throw error;
  } finally {
    disk.close();
    objects.close();
    rmSync(aside, { recursive: true, force: true });
  }
}
