/**
 * Copies of the archive elsewhere (`--archive s3://bucket/prefix`): which store has them, that no other collection uses it, and
 * how much is copied. The place is a setting in each partition's ledger; credentials come from the environment.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SkeinError } from '../../base/errors.ts';
import { PRIVATE, replaceFile } from '../../base/file.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { ObjectStore } from './objects.ts';
import type { OpenCopies } from './offsite-segments.ts';
import { CopiedSource, piecesIn } from './pieces.ts';
import { parseS3 } from './s3-address.ts';

/** Setting of a ledger. */
export interface Offsite {
  /** Where its segments are copied to, of this partition alone: `s3://bucket/prefix`. */
  readonly to: string;
  /** The id by which the store knows this partition. */
  readonly id: string;
  /**
   * This collection was made of a backup, and the copies are those of the one that was backed up, which may live on: they are
   * read, and left as they are, until the user names the place again.
   */
  readonly readOnly?: boolean;
}

const SETTING = 'archive';
/** The object that says to which collection the copies belong. */
const MARK = 'collection.json';
/** File of a partition: how much is copied, for `status`. */
const NOTE = 'offsite.json';

export function offsiteOf(ledger: Pick<Ledger, 'settings'>): Offsite | undefined {
  return ledger.settings.get<Offsite>(SETTING);
}

/** The copies go on: what a run adds is copied. */
export function copiesGoOn(ledger: Pick<Ledger, 'settings'>): boolean {
  const offsite = offsiteOf(ledger);
  return offsite !== undefined && !offsite.readOnly;
}

/** The setting of a collection that was restored from a backup. */
export const restoredSetting = {
  name: SETTING,
  change: (offsite: unknown): unknown => ({ ...(offsite as Offsite), readOnly: true }),
};

/** Loaded by those who need it. */
export async function openObjects(address: string): Promise<ObjectStore> {
  const { openS3 } = await import('./s3-objects.ts');
  return openS3(address);
}

/** Throws if nothing can be copied there, before anything is made. */
export async function tryPlace(address: string): Promise<void> {
  parseS3(address);
  const objects = await openObjects(address);
  try {
    await objects.list(MARK);
  } finally {
    objects.close();
  }
}

/** Has the partition's segments copied there from now on. The place must be empty, or belong to this partition. */
export async function copyTo(ledger: Ledger, address: string): Promise<void> {
  const before = offsiteOf(ledger);
  const id = before?.id ?? randomUUID();
  const objects = await openObjects(address);
  try {
    await claim(objects, id);
  } finally {
    objects.close();
  }
  if (before?.to === address && !before.readOnly) return;
  ledger.begin();
  ledger.settings.set(SETTING, { to: address, id } satisfies Offsite);
  ledger.commit();
  noteCopied(ledger.directory, { to: address, copied: {} });
}

/**
 * Claims the place for a cluster, in which each partition has a prefix of its own below it. It must be empty, or belong to that
 * collection: `id` is the same on all machines.
 */
export async function claimPlace(address: string, id: string): Promise<void> {
  parseS3(address);
  const objects = await openObjects(address);
  try {
    await claim(objects, id);
  } finally {
    objects.close();
  }
}

export const placeOfPartition = (address: string, partition: number): string =>
  `${address.replace(/\/+$/, '')}/partition-${partition}`;

/** Does the same for a partition of a cluster, whose place is claimed; the ledger carries the setting to its heir. */
export function copyPartitionTo(ledger: Ledger, to: string, id: string): void {
  if (offsiteOf(ledger)?.to === to) return;
  ledger.begin();
  ledger.settings.set(SETTING, { to, id } satisfies Offsite);
  ledger.commit();
}

async function claim(objects: ObjectStore, id: string): Promise<void> {
  const room = Buffer.alloc(200);
  const read = await objects.get(MARK, 0, room);
  if (read === undefined) return objects.put(MARK, Buffer.from(JSON.stringify({ collection: id })));
  if (room.subarray(0, read).toString().includes(id)) return;
  throw new SkeinError(
    'refused',
    `${objects.address} holds the archive of another collection.`,
    'Choose another prefix: --archive s3://bucket/other.',
  );
}

/** For whoever reads what is not on this disk. */
export function copiesAt({ to, readOnly }: Offsite): OpenCopies {
  return async () => {
    const objects = await openObjects(to);
    return {
      source: new CopiedSource(objects),
      async remove(id) {
        if (readOnly) return;
        for (const { name } of (await piecesIn(objects, id)).get(id) ?? []) await objects.remove(name);
      },
      close: () => objects.close(),
    };
  };
}

interface CopiedNote {
  readonly to: string;
  /** Bytes by segment. */
  readonly copied: Readonly<Record<string, number>>;
  /** Why not more is copied, in a sentence. */
  readonly trouble?: string;
}

export function noteCopied(directory: string, note: CopiedNote): void {
  replaceFile(join(directory, NOTE), JSON.stringify(note), PRIVATE);
}

export function copiedNote(directory: string): CopiedNote | undefined {
  const file = join(directory, NOTE);
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as CopiedNote;
  } catch {
    return undefined; // the next turn writes it anew
  }
}

/** Bytes that the ledger names and the copies do not have; undefined = the collection has none elsewhere. */
export function notCopied(ledger: Ledger): number | undefined {
  const offsite = offsiteOf(ledger);
  if (!offsite || offsite.readOnly) return undefined;
  const note = copiedNote(ledger.directory);
  const copied = note?.to === offsite.to ? note.copied : {};
  return ledger.storage.segments
    .all()
    .reduce((sum, { id, length }) => sum + Math.max(0, length - (copied[id] ?? 0)), 0);
}
