/** Backs up a whole collection, also while a run works in it, and restores one. */
import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { SkeinError } from '../../base/errors.ts';
import { type BackedUp, backup, copyPrivate, restore } from '../../home/house/backup.ts';
import { readCollection } from '../../ledger/collection/collection.ts';
import { requireCollection } from '../open-ledger.ts';

/** Marks a directory in which a restore is under way. */
const UNFINISHED = 'restore.part';
/** All that a restore makes; a run in that directory makes more. */
const RESTORED = /^(?:archive|partitions|collection\.json|restore\.part|ledger\.db(?:\.new)?(?:-wal|-shm|-journal)?)$/;
/** Names the number of partitions; absent where there is only one. */
const COLLECTION = 'collection.json';

export async function backupCollection(
  data: string,
  directory: string,
  say: (text: string) => void = () => {},
): Promise<BackedUp> {
  requireCollection(data);
  refuseOverlap(data, directory);
  const { here, partitions } = readCollection(data);
  refuseStranger(data, directory);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  let sum: BackedUp = { segments: 0, copied: 0, had: 0 };
  for (const place of here) {
    if (place.directory !== data && existsSync(join(directory, relative(data, place.directory))))
      refuseLinked(directory, join(directory, relative(data, place.directory)));
    const name = relative(data, place.directory);
    const one = await backup(place.directory, join(directory, name), text => {
      say(partitions > 1 ? `partition ${place.id}: ${text}` : text);
    });
    sum = { segments: sum.segments + one.segments, copied: sum.copied + one.copied, had: sum.had + one.had };
  }
  if (partitions > 1) copyPrivate(join(data, COLLECTION), join(directory, COLLECTION));
  return sum;
}

/** Restores a backup into a directory that is empty or does not exist. */
export function restoreCollection(directory: string, data: string): void {
  refuseOverlap(data, directory);
  if (!isBackup(directory)) {
    throw new SkeinError(
      'not-found',
      `There is no backup in ${directory}.`,
      'Name the directory that "skein backup" wrote.',
    );
  }
  const isNew = !existsSync(data);
  if (!isNew) removeUnfinished(data);
  if (!isNew && readdirSync(data).length > 0) {
    throw new SkeinError('refused', `${data} is not empty.`, 'Restore into a new directory with --data.');
  }
  const { here, partitions } = readCollection(directory);
  for (const place of here) if (place.directory !== directory) refuseLinked(directory, place.directory);
  mkdirSync(data, { recursive: true, mode: 0o700 });
  writeFileSync(join(data, UNFINISHED), '', { flag: 'wx', mode: 0o600 });
  try {
    for (const place of here) restore(place.directory, join(data, relative(directory, place.directory)));
    if (partitions > 1) copyPrivate(join(directory, COLLECTION), join(data, COLLECTION));
    rmSync(join(data, UNFINISHED));
  } catch (error) {
    removeUnfinished(data);
    if (isNew) rmSync(data, { recursive: true, force: true });
    throw error;
  }
}

/** Removes what a refused or killed restore left behind, unless a run has worked there since. */
function removeUnfinished(data: string): void {
  const names = readdirSync(data);
  if (!names.includes(UNFINISHED) || !names.every(name => RESTORED.test(name))) return;
  // The mark goes last, so the next restore continues if this one is killed here.
  for (const name of [...names.filter(each => each !== UNFINISHED), UNFINISHED])
    rmSync(join(data, name), { recursive: true, force: true });
}

function isBackup(directory: string): boolean {
  return existsSync(join(directory, 'ledger.db')) || existsSync(join(directory, COLLECTION));
}

/** A partition must lie inside the backup, not behind a link. */
function refuseLinked(directory: string, place: string): void {
  for (const each of [join(place, '..'), place])
    if (!lstatSync(each).isDirectory())
      throw new SkeinError('refused', `${relative(directory, each)} in this backup is not a directory.`);
}

function refuseOverlap(data: string, directory: string): void {
  const [one, two] = [resolve(data), resolve(directory)];
  if (one !== two && !`${one}/`.startsWith(`${two}/`) && !`${two}/`.startsWith(`${one}/`)) return;
  throw new SkeinError(
    'bad-option',
    'A backup cannot be inside its collection, nor the collection inside the backup.',
    'Name another directory.',
  );
}

/** The target must be empty or an earlier backup. */
function refuseStranger(data: string, directory: string): void {
  if (!existsSync(directory) || readdirSync(directory).length === 0) return;
  const several = existsSync(join(data, COLLECTION));
  const known = new Set(['archive', 'partitions', COLLECTION]);
  const strange = readdirSync(directory).find(name => !known.has(name) && !/^(?:ledger|search|lock)\.db/.test(name));
  if (strange === undefined && (several || !existsSync(join(directory, COLLECTION)))) return;
  throw new SkeinError(
    'refused',
    `${directory} has files that are not a backup of this collection${strange ? `: ${strange}` : ''}.`,
    'Name a new directory, or that of an earlier backup.',
  );
}
