/**
 * A collection on this disk: how many partitions it has, and which of them are here. With one partition the directory
 * itself is the partition. With more there is a `collection.json`, and `partitions/0007/` for each that is here: all of
 * them, or in a cluster those that this peer has.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SkeinError } from '../../base/errors.ts';
import { PRIVATE, replaceFile } from '../../base/file.ts';
import { MOST_PARTITIONS } from '../../base/partition.ts';
import { readSmallFile } from './small-file.ts';

const FILE = 'collection.json';
const FOLDER = 'partitions';
const VERSION = 1;

/** A partition that is on this disk. */
interface PartitionPlace {
  /** From 0 on. */
  readonly id: number;
  /** Has ledger.db, archive/ and the index. */
  readonly directory: string;
}

export interface Collection {
  readonly directory: string;
  /** The same on every machine that has a part of it; empty where there is only one partition. */
  readonly id: string;
  /** Fixed when it was made. */
  readonly partitions: number;
  /** Those that are here, in order. */
  readonly here: readonly PartitionPlace[];
}

/** What is in the directory. One that is empty or not there yet is a collection of one partition that nothing was put in. */
export function readCollection(directory: string): Collection {
  const made = readMade(directory);
  if (!made) return { directory, id: '', partitions: 1, here: [{ id: 0, directory }] };
  const here = partitionsIn(join(directory, FOLDER)).filter(id => id < made.partitions);
  return { directory, ...made, here: here.map(id => placeOf(directory, id)) };
}

/** A ledger was begun in it. */
export function isBegun({ directory }: PartitionPlace): boolean {
  return existsSync(join(directory, 'ledger.db'));
}

/** The directory that a partition of a collection with several has, whether it is here or not. */
export function partitionDirectory(directory: string, id: number): string {
  return join(directory, FOLDER, String(id).padStart(4, '0'));
}

/**
 * The collection in the directory, made first where there is none. `partitions`: how many it is to have, absent = as many
 * as it has, or one; another number than it has is refused. `id`: of a collection that other machines have parts of.
 */
export function makeCollection(directory: string, partitions?: number, id: string = randomUUID()): Collection {
  const found = readCollection(directory);
  const exists = found.id !== '' || existsSync(join(directory, 'ledger.db'));
  if (partitions === undefined || partitions === found.partitions) return found;
  if (exists) throw otherPartitions(found, partitions);
  refuseNumber(partitions);
  mkdirSync(join(directory, FOLDER), { recursive: true, mode: 0o700 });
  replaceFile(join(directory, FILE), `${JSON.stringify({ version: VERSION, id, partitions })}\n`, PRIVATE);
  return readCollection(directory);
}

/** The directory of a partition, made where it is not here yet. */
export function makePartition({ directory, partitions }: Collection, id: number): PartitionPlace {
  if (partitions === 1) return { id: 0, directory };
  const place = placeOf(directory, id);
  mkdirSync(place.directory, { recursive: true, mode: 0o700 });
  return place;
}

const placeOf = (directory: string, id: number): PartitionPlace => ({
  id,
  directory: partitionDirectory(directory, id),
});

/** Numbers of the partitions that a folder has, in order. */
function partitionsIn(folder: string): number[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter(name => /^\d{4}$/.test(name));
  return names.map(Number).sort((a, b) => a - b);
}

function readMade(directory: string): { id: string; partitions: number } | undefined {
  const file = join(directory, FILE);
  const made = readSmallFile(file, damaged(file));
  if (!made) return undefined;
  const { version, id, partitions } = made;
  if (typeof version === 'number' && version > VERSION)
    throw new SkeinError('data-too-new', `A newer Skein made ${directory}.`, 'Update Skein to work with it.');
  if (typeof id !== 'string' || id === '' || !isNumber(partitions)) throw damaged(file);
  return { id, partitions };
}

function damaged(file: string): SkeinError {
  return new SkeinError(
    'damaged',
    `${file} is damaged.`,
    'Restore it from a copy: it says how many partitions there are.',
  );
}

function isNumber(partitions: unknown): partitions is number {
  return Number.isInteger(partitions) && (partitions as number) >= 1 && (partitions as number) <= MOST_PARTITIONS;
}

function refuseNumber(partitions: number): void {
  if (isNumber(partitions)) return;
  throw new SkeinError('bad-option', `A collection has 1 to ${MOST_PARTITIONS} partitions, not ${partitions}.`);
}

function otherPartitions({ directory, partitions: has }: Collection, wanted: number): SkeinError {
  const now = has === 1 ? 'one partition' : `${has} partitions`;
  return new SkeinError(
    'bad-option',
    `The collection in ${directory} was made with ${now}, which cannot become ${wanted}.`,
    'Leave the setting partitions out, or collect into another directory with --data.',
  );
}
