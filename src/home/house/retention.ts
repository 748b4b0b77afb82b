/**
 * Retention decides how much of the past a collection keeps. Old versions are deleted, the newest copy of a page never is. A
 * segment is compacted when a quarter of it is waste, so the disk holds at most a third more than what is kept.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DAY } from '../../base/clock.ts';
import type { Settings } from '../../ledger/collection/settings.ts';
import type { NamedCopy } from '../../ledger/storage/dropped.ts';
import { compact, worthCompacting } from './compaction.ts';
import { References } from './references.ts';
import type { HouseParts } from './stored-records.ts';

interface Retention {
  /** Versions of a page, the newest included. */
  readonly keepVersions?: number | undefined;
  /** Days for which older versions are kept. */
  readonly keepDays?: number | undefined;
  /** Bytes that the collection may take on the disk; the newest copies stay even if they need more. */
  readonly maxDisk?: number | undefined;
}

/** What one run of house-keeping did. */
interface HousekeepingResult {
  readonly versions: number;
  /** Old visits that left no copy. */
  readonly looks: number;
}

const SETTING = 'retention';
/** Days for which visits without a copy are remembered; longer if versions are. */
const LOOK_DAYS = 30;
/** Versions to delete in one transaction. */
const AT_ONCE = 500;
/** Share of a segment that may be waste where the disk is the limit. */
const WASTE_AT_LIMIT = 0.05;

/** Remembers the limits that the user gave: they replace earlier ones, and 0 lifts one. Inside a transaction. */
export function rememberRetention(settings: Settings, given: Retention): Retention {
  const before = retentionIn(settings);
  const named = Object.entries(given).filter(([, value]) => value !== undefined);
  if (named.length === 0) return before;
  const all: Record<string, number> = Object.fromEntries([...Object.entries(before), ...named]);
  const now = Object.fromEntries(Object.entries(all).filter(([, amount]) => amount > 0));
  settings.set(SETTING, now);
  return now;
}

export function retentionIn(settings: Pick<Settings, 'get'>): Retention {
  return settings.get<Retention>(SETTING) ?? {};
}

/** Whether versions may ever have been deleted. */
export function everKept(settings: Pick<Settings, 'get'>): boolean {
  return settings.get<Retention>(SETTING) !== undefined;
}

export function isKeeping({ keepVersions, keepDays, maxDisk }: Retention): boolean {
  return keepVersions !== undefined || keepDays !== undefined || maxDisk !== undefined;
}

/**
 * Keeps house in a partition that no other process writes. The files of replaced segments stay until deleteReplaced(). `share`:
 * the partition's share of the disk limit, 0 to 1.
 */
export async function retain(
  parts: HouseParts,
  retention: Retention,
  now: number,
  share = 1,
): Promise<HousekeepingResult> {
  const { ledger, commit } = parts;
  if (!isKeeping(retention)) return { versions: 0, looks: 0 };
  const { keepVersions = Number.MAX_SAFE_INTEGER, keepDays, maxDisk } = retention;
  const references = new References(parts);
  let versions = 0;
  try {
    ledger.begin();
    references.learn();
    const before = keepDays === undefined ? 0 : now - keepDays * DAY;
    const beyond = () => ledger.storage.versions.beyond({ versions: keepVersions, before }, AT_ONCE);
    for (let some = beyond(); some.length > 0; some = beyond()) versions += dropAll(parts, references, some);
    if (maxDisk !== undefined) versions += fit(parts, references, maxDisk * share);
  } finally {
    references.close();
  }
  const looks = ledger.storage.versions.deleteLooks(now - Math.max(LOOK_DAYS, keepDays ?? 0) * DAY, ledger.visits.last);
  commit();
  const tight = maxDisk !== undefined && diskBytes(ledger.directory) > maxDisk * share;
  const segments = worthCompacting(parts, tight ? WASTE_AT_LIMIT : undefined).map(({ segment }) => segment);
  for await (const _ of compact(parts, segments)) await new Promise(setImmediate);
  ledger.commit();
  return { versions, looks };
}

function dropAll({ ledger, commit }: HouseParts, references: References, copies: readonly NamedCopy[]): number {
  const visits = new Set(copies.map(({ visit }) => visit));
  for (const { visit } of copies) {
    const copy = ledger.storage.dropped.copy(visit)!; // it may have been written again as an heir
    references.handOver(copy, other => visits.has(other.visit), false);
    ledger.storage.dropped.drop(copy, false);
    ledger.storage.revisits.remove(visit);
  }
  commit();
  return copies.length;
}

/** Deletes the least valuable versions until the rest fits; returns how many. */
function fit(parts: HouseParts, references: References, most: number): number {
  const { storage, directory } = parts.ledger;
  const waste = storage.dropped.segments().reduce((sum, { bytes }) => sum + bytes, 0);
  let over = diskBytes(directory) - waste - most;
  let versions = 0;
  while (over > 0) {
    const some: NamedCopy[] = [];
    for (const version of storage.versions.leastWorth(AT_ONCE)) {
      if (over <= 0) break;
      some.push(version);
      over -= version.length;
    }
    if (some.length === 0) break;
    versions += dropAll(parts, references, some);
  }
  return versions;
}

/** Bytes of all files below a directory. */
export function diskBytes(directory: string): number {
  let bytes = 0;
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    bytes += statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes;
}
