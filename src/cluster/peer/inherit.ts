/**
 * Takes a partition over: claims its changelog, so that nobody else can write to it, and makes its ledger from what is
 * here or, failing that, from the newest snapshot and the changes since.
 *
 * What is here is used only if this peer was the last to own the partition; otherwise it is removed before the claim, so
 * that whenever the last claim is this peer's, its files are not from another time. A ledger that is ahead of the
 * changelog, by what was committed and not yet sent when the peer died, is taken back to it: the archive stays, and some
 * pages are fetched again. Only where the engine was wiped is what is here all that there is, and the engine gets a
 * snapshot of it before anything else.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { SkeinError } from '../../base/errors.ts';
import { PRIVATE, replaceFile } from '../../base/file.ts';
import { emptyReplica, numberOf, type Replica, unpackSnapshot } from '../../ledger/replica/replica.ts';
import { SCHEMA_VERSION } from '../../ledger/schema.ts';
import type { Changelog } from '../changelog/changelog.ts';
import { readChanges } from '../changelog/changelog-reader.ts';
import { ChangelogWriter } from '../changelog/changelog-writer.ts';
import type { EntryWriter } from '../changelog/entry.ts';
import type { Snapshots } from '../snapshots/snapshots.ts';
import { PEER_NAME } from '../topology/layout.ts';

interface Estate {
  readonly partition: number;
  /** Of the partition on this machine. */
  readonly directory: string;
  readonly writer: EntryWriter;
  readonly log: Changelog;
  readonly snapshots: Snapshots;
}

export interface Inherited {
  readonly changelog: ChangelogWriter;
  /**
   * here:     what this machine has, as it is
   * ahead:    the same, and the engine does not know all of it
   * rewound:  the ledger was made again; the archive of this machine goes with it
   * restored: the ledger was made again, and nothing else is here
   * new:      there never was anything
   */
  readonly state: 'here' | 'ahead' | 'rewound' | 'restored' | 'new';
  /** The peer that had it before, empty = nobody. */
  readonly from: string;
  /** The peer whose archive belongs to this ledger and has not been brought; until `archiveIsHere` is called. */
  readonly archiveOf?: string | undefined;
}

/** Beside the ledger: whose archive is still to be brought. Whoever is killed on the way asks again. */
const OWED = 'archive-of.json';
const owedForm = z.object({ peer: z.string().regex(PEER_NAME) });

/** All that came of another peer's archive has come. */
export function archiveIsHere(directory: string): void {
  rmSync(join(directory, OWED), { force: true });
}

function archiveOf(directory: string): string | undefined {
  const file = join(directory, OWED);
  if (!existsSync(file)) return undefined;
  try {
    return owedForm.parse(JSON.parse(readFileSync(file, 'utf8'))).peer;
  } catch {
    return undefined; // nothing that we wrote
  }
}

/** Throws `Fenced` when another peer claimed it meanwhile. */
export async function inherit(estate: Estate): Promise<Inherited> {
  const { partition, directory, writer, log } = estate;
  const last = await log.last(partition);
  const from = last?.writer.peer ?? '';
  const own = !last || from === writer.peer;
  if (!own) rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  // Before the claim: from then on the engine says that the partition was this peer's.
  if (!own) replaceFile(join(directory, OWED), JSON.stringify({ peer: from }), PRIVATE);
  const owed = archiveOf(directory);
  const here = numberOf(directory);
  const number = last?.number ?? here ?? 0;
  const changelog = new ChangelogWriter(log, partition, { writer, sequence: last?.sequence ?? 0, number });
  await changelog.claim();
  if (here !== undefined && here >= number && here > 0) {
    if (!(await known(estate))) return { changelog, from, state: 'ahead', archiveOf: owed };
    if (here === number) return { changelog, from, state: 'here', archiveOf: owed };
  }
  const restored = await restore(estate, number);
  changelog.covered(restored);
  const state = restored === 0 ? 'new' : own && here !== undefined ? 'rewound' : 'restored';
  return { changelog, from, state, archiveOf: owed };
}

/** Whether the engine has enough to make the ledger again. */
async function known({ partition, log, snapshots }: Estate): Promise<boolean> {
  if (await snapshots.newest(partition)) return true;
  for await (const { number } of readChanges(log, partition, 0)) return number === 1;
  return false;
}

/** Returns the number of the newest changes in it, 0 = there is nothing. */
async function restore({ partition, directory, log, snapshots }: Estate, number: number): Promise<number> {
  const note = await snapshots.newest(partition);
  if (!note && number === 0) return 0;
  const replica = note
    ? await unpackSnapshot(directory, snapshots.read(partition))
    : emptyReplica(directory, SCHEMA_VERSION);
  try {
    for await (const changes of readChanges(log, partition, note?.sequence ?? 0)) replica.apply(changes);
    refuseShort(partition, replica, number);
    replica.finish();
    return replica.number;
  } catch (error) {
    replica.drop();
    throw error;
  }
}

function refuseShort(partition: number, { number: has }: Replica, number: number): void {
  if (has >= number) return;
  throw new SkeinError(
    'damaged',
    `The engine has lost changes of partition ${partition}: it has ${has} of ${number}.`,
    'Start the peer that had the partition last; it sends them again.',
  );
}
