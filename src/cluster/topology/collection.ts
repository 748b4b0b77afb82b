/**
 * Which collection an engine holds, written once when it is made: key `collection` of the bucket `meta`. It fixes the
 * number of partitions, and says which Skein may work on it.
 */
import type { KV } from '@nats-io/kv';
import { z } from 'zod';
import { SkeinError } from '../../base/errors.ts';
import { harmless } from '../../base/harmless.ts';
import { MOST_PARTITIONS } from '../../base/partition.ts';
import { version } from '../../base/version.ts';
import { SCHEMA_VERSION } from '../../ledger/schema.ts';
import { isConflict } from '../connection/errors.ts';
import { untilItPasses } from '../connection/retry.ts';

/** Changes whenever peers of two versions of Skein could not work together. */
export const PROTOCOL = 1;

const collectionForm = z.object({
  id: z.string().regex(/^[\w-]{1,64}$/),
  partitions: z.int().min(1).max(MOST_PARTITIONS),
  protocol: z.int().min(1),
  /** Of the ledgers whose changes the peers send each other. */
  schema: z.int().min(1),
  /** The Skein that made it. */
  skein: z.string().max(40),
});

export type ClusterCollection = Readonly<z.infer<typeof collectionForm>>;

/** What a peer brings: what its data directory says, or what it wants to make. */
export interface OwnCollection {
  readonly id: string;
  readonly partitions: number;
  /** No files are of it yet: where another peer has made one meanwhile, that one is joined. */
  readonly isNew?: boolean;
}

const KEY = 'collection';

interface Agreement {
  readonly own?: OwnCollection | undefined;
  /** Whether a peer works on it now; a newer Skein raises the versions only when nobody does. */
  readonly isInUse: () => Promise<boolean>;
}

/**
 * The collection of this engine; with `own`, made if there is none (a new crawl, or an engine that was wiped). Throws
 * when the engine holds another one, or one that this Skein cannot work on.
 */
export async function agreeOnCollection(meta: KV, { own, isInUse }: Agreement): Promise<ClusterCollection> {
  const entry = await readEntry(meta);
  const held = own?.isNew ? undefined : own;
  if (entry && isOlder(entry.found) && !(await isInUse())) {
    checkSame(entry.found, held);
    const raised = { ...entry.found, protocol: PROTOCOL, schema: SCHEMA_VERSION, skein: version };
    await untilItPasses(() => meta.update(KEY, JSON.stringify(raised), entry.revision)).catch(refuseUnlessConflict);
    return check((await readCollection(meta)) ?? raised, held);
  }
  if (entry) return check(entry.found, held);
  if (!own) throw emptyError();
  const { id, partitions } = own;
  const made = { id, partitions, protocol: PROTOCOL, schema: SCHEMA_VERSION, skein: version };
  try {
    await untilItPasses(() => meta.create(KEY, JSON.stringify(made)));
    return made;
  } catch (error) {
    // Another peer was first, or the answer to this one's own attempt was lost.
    if (!isConflict(error)) throw error;
    const first = await readCollection(meta);
    if (!first) throw error;
    return check(first, held);
  }
}

async function readCollection(meta: KV): Promise<ClusterCollection | undefined> {
  return (await readEntry(meta))?.found;
}

async function readEntry(meta: KV): Promise<{ found: ClusterCollection; revision: number } | undefined> {
  const entry = await untilItPasses(() => meta.get(KEY));
  if (entry?.operation !== 'PUT') return undefined;
  const read = collectionForm.safeParse(jsonOf(entry.string()));
  if (read.success) return { found: read.data, revision: entry.revision };
  throw new SkeinError('damaged', 'What the engine says of its collection cannot be read.', 'Use an empty account.');
}

function refuseUnlessConflict(error: unknown): void {
  // Another peer raised it at the same time.
  if (!isConflict(error)) throw error;
}

function isOlder({ protocol, schema }: ClusterCollection): boolean {
  return protocol <= PROTOCOL && schema <= SCHEMA_VERSION && (protocol < PROTOCOL || schema < SCHEMA_VERSION);
}

export function emptyError(): SkeinError {
  return new SkeinError(
    'not-found',
    'The engine holds no crawl yet.',
    'Start one with its seeds: skein crawl SEEDS --engine …; other machines join it without seeds.',
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function check(found: ClusterCollection, own: OwnCollection | undefined): ClusterCollection {
  if (found.protocol !== PROTOCOL || found.schema !== SCHEMA_VERSION)
    throw new SkeinError(
      'version-mismatch',
      `This cluster runs Skein ${harmless(found.skein)} (protocol ${found.protocol}, ledger ${found.schema}), and this is ` +
        `${version} (protocol ${PROTOCOL}, ledger ${SCHEMA_VERSION}); they cannot work together.`,
      'Stop all peers, install the newer Skein on each, and start them again; docs/guides/cluster.md tells more.',
    );
  return checkSame(found, own);
}

function checkSame(found: ClusterCollection, own: OwnCollection | undefined): ClusterCollection {
  if (own && found.id !== own.id)
    throw new SkeinError(
      'refused',
      `The engine holds another collection (${found.id}) than this data directory (${own.id}).`,
      'Use the engine of this collection, or an empty data directory to join the other one.',
    );
  if (own && found.partitions !== own.partitions)
    throw new SkeinError(
      'refused',
      `The collection has ${found.partitions} partitions in the engine and ${own.partitions} here.`,
      'The number is fixed when a collection is made; leave --set partitions out.',
    );
  return found;
}
