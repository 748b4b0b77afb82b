/**
 * Backs up a partition, even while another process writes it. First SQLite's own backup copies the ledger; then the segments
 * are copied up to the lengths that this copy of the ledger names, which were on the disk before it named them. A segment that
 * has its length already is not copied again, because segments only grow. The search index is rebuilt from the rest.
 */
import {
  chmodSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { segmentIn, segmentName } from '../../archive/segments.ts';
import { committedEnds, type SegmentSource } from '../../archive/store/segment-store.ts';
import { SkeinError } from '../../base/errors.ts';
import { writeWhole } from '../../base/file.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { adoptLedger, copyLedger } from '../../ledger/storage/copy.ts';
import { segmentsOf } from '../copies/segments-of.ts';
import { restoredSetting } from '../offsite/offsite.ts';

export interface BackedUp {
  readonly segments: number;
  /** Bytes of segments that were copied now, and bytes that an earlier backup had. */
  readonly copied: number;
  readonly had: number;
}

/** Only its owner may read a backup: it holds what the collection holds. */
const PRIVATE_DIRECTORY = 0o700;
const PRIVATE_FILE = 0o600;
const CHUNK = 1 << 20;

export async function backup(from: string, to: string, say: (text: string) => void = () => {}): Promise<BackedUp> {
  const archive = join(to, 'archive');
  const before = lstatSync(archive, { throwIfNoEntry: false });
  if (before && !before.isDirectory()) throw stranger(archive);
  mkdirSync(archive, { recursive: true, mode: PRIVATE_DIRECTORY });
  const fresh = join(to, 'ledger.db.new');
  rmSync(fresh, { force: true });
  say('the ledger');
  const noted = await copyLedger(from, fresh);
  using opened = new DisposableStack();
  const ledger = opened.adopt(new Ledger(from, 'read'), each => each.close());
  const source = opened.adopt(segmentsOf(ledger), each => each.close());
  const ends = committedEnds(await source.list(), noted);
  let [copied, had] = [0, 0];
  for (const [i, { id }] of noted.entries()) {
    say(`segment ${i + 1} of ${noted.length}`);
    const end = ends.get(id)!;
    const added = await copySegment(source, archive, id, end);
    copied += added;
    had += end - added;
  }
  // Whoever looked into the backup left files that belong to the ledger of before.
  for (const tail of ['-wal', '-shm']) rmSync(join(to, `ledger.db${tail}`), { force: true });
  renameSync(fresh, join(to, 'ledger.db'));
  removeOthers(archive, new Set(noted.map(({ id }) => segmentName(id))));
  return { segments: noted.length, copied, had };
}

/** Brings a segment of a backup to its length; returns how many bytes were missing. */
async function copySegment(source: SegmentSource, to: string, id: number, end: number): Promise<number> {
  const target = join(to, segmentName(id));
  refuseLink(target);
  const has = statSync(target, { throwIfNoEntry: false })?.size ?? 0;
  const start = has <= end ? has : 0;
  const { O_CREAT, O_RDWR, O_NOFOLLOW } = constants;
  const out = await open(target, O_CREAT | O_RDWR | O_NOFOLLOW, PRIVATE_FILE);
  try {
    const buffer = Buffer.allocUnsafe(CHUNK);
    for (let at = start; at < end; ) {
      const read = await source.read(id, at, buffer.subarray(0, Math.min(CHUNK, end - at)));
      if (read === 0)
        throw new SkeinError('damaged', `${segmentName(id)} is shorter than the ledger says.`, 'Run "skein verify".');
      await writeWhole(out, buffer.subarray(0, read), at);
      at += read;
    }
    await out.truncate(end);
    await out.sync();
  } finally {
    await out.close();
  }
  return end - start;
}

/** Segments that the collection has compacted since the last backup. */
function removeOthers(archive: string, named: ReadonlySet<string>): void {
  for (const name of readdirSync(archive)) if (!named.has(name)) rmSync(join(archive, name), { force: true });
}

/** Restores a partition from its backup into an empty directory. It takes only the segments and the ledger. */
export function restore(from: string, to: string): void {
  mkdirSync(join(to, 'archive'), { recursive: true, mode: PRIVATE_DIRECTORY });
  const archive = join(from, 'archive');
  const isThere = lstatSync(archive, { throwIfNoEntry: false });
  if (isThere && !isThere.isDirectory()) throw stranger(archive);
  for (const name of isThere ? readdirSync(archive) : [])
    if (segmentIn(name) !== undefined) copyPrivate(join(archive, name), join(to, 'archive', name));
  // Last: without it there is no collection, whatever else was copied.
  const fresh = join(to, 'ledger.db.new');
  copyPrivate(join(from, 'ledger.db'), fresh);
  adoptLedger(fresh, restoredSetting);
  renameSync(fresh, join(to, 'ledger.db'));
}

/** Copies a plain file for its owner only. A link might lead to somebody else's file, and a pipe would never end. */
export function copyPrivate(from: string, to: string): void {
  if (!lstatSync(from).isFile()) throw stranger(from);
  refuseLink(to);
  copyFileSync(from, to);
  chmodSync(to, PRIVATE_FILE);
}

/** Refuses to write a file of a backup through a link that somebody has left there. */
function refuseLink(file: string): void {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found && !found.isFile()) throw stranger(file);
}

function stranger(file: string): SkeinError {
  return new SkeinError(
    'refused',
    `${file} is not a regular file, so it cannot be part of a backup.`,
    'Remove it, or back up into a new directory.',
  );
}
