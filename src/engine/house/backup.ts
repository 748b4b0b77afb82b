/** Backup of a whole collection, also while a run works in it, and a collection made of one. */
import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { SkeinError } from '../../base/errors.ts';
import { type BackedUp, backup, restore } from '../../home/house/backup.ts';
import { readCollection } from '../../ledger/collection/collection.ts';
import { requireCollection } from '../open-ledger.ts';

/** Says how many partitions there are; with one there is none. */
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
    const name = relative(data, place.directory);
    const one = await backup(place.directory, join(directory, name), text => {
      say(partitions > 1 ? `partition ${place.id}: ${text}` : text);
    });
    sum = { segments: sum.segments + one.segments, copied: sum.copied + one.copied, had: sum.had + one.had };
  }
  if (partitions > 1) copyFileSync(join(data, COLLECTION), join(directory, COLLECTION));
  return sum;
}

/** Makes a collection of a backup, in a directory that is empty or not there yet. */
export function restoreCollection(directory: string, data: string): void {
  refuseOverlap(data, directory);
  if (!isBackup(directory)) {
    throw new SkeinError(
      'not-found',
      `There is no backup in ${directory}.`,
      'Name the directory that "skein backup" wrote.',
    );
  }
  if (existsSync(data) && readdirSync(data).length > 0) {
    throw new SkeinError('refused', `${data} is not empty.`, 'Restore into a new directory with --data.');
  }
  mkdirSync(data, { recursive: true });
  const { here, partitions } = readCollection(directory);
  for (const place of here) restore(place.directory, join(data, relative(directory, place.directory)));
  if (partitions > 1) copyFileSync(join(directory, COLLECTION), join(data, COLLECTION));
}

function isBackup(directory: string): boolean {
  return existsSync(join(directory, 'ledger.db')) || existsSync(join(directory, COLLECTION));
}

function refuseOverlap(data: string, directory: string): void {
  const [one, two] = [resolve(data), resolve(directory)];
  if (one !== two && !`${one}/`.startsWith(`${two}/`) && !`${two}/`.startsWith(`${one}/`)) return;
  throw new SkeinError(
    'bad-option',
    'A backup and its collection cannot lie in one another.',
    'Name another directory.',
  );
}

/** What is there must be an earlier backup, or nothing. */
function refuseStranger(data: string, directory: string): void {
  if (!existsSync(directory) || readdirSync(directory).length === 0) return;
  const several = existsSync(join(data, COLLECTION));
  const known = new Set(['archive', 'partitions', COLLECTION]);
  const strange = readdirSync(directory).find(name => !known.has(name) && !/^(?:ledger|search|lock)\.db/.test(name));
  if (strange === undefined && (several || !existsSync(join(directory, COLLECTION)))) return;
  throw new SkeinError(
    'refused',
    `${directory} has something else in it than a backup of this collection${strange ? `: ${strange}` : ''}.`,
    'Name a new directory, or that of an earlier backup.',
  );
}
