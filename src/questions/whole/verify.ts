/** Whether archive and ledger agree, and every byte of the archive checks. */
import { type CollectionReport, verifyCollection } from '../../home/checks/verify.ts';
import type { PartitionReader } from '../partition-reader.ts';
import { type Question, sumOf } from '../question.ts';
import type { NoArgs } from './status.ts';

const COUNTS = ['records', 'segments', 'bytes', 'digests', 'copies', 'writtenOff', 'lost'] as const;

export type Verified = Readonly<Record<(typeof COUNTS)[number], number>> & {
  readonly ledgerDamaged: boolean;
  readonly problems: readonly string[];
};

/** Problems that a partition tells one by one; whoever has more is past being read. */
const MOST_PROBLEMS = 5000;

export const verifyQuestion: Question<NoArgs, Verified, Verified> = {
  name: 'verify',
  ask: async (reader, _, onProgress) => verifiedOf(await verifyCollection(reader.ledger, onProgress), reader),
  merge: (_, parts) => mergedVerified(parts),
};

/** Of several partitions each problem says which it is in. */
export function verifiedOf(
  report: CollectionReport,
  { id, partitions }: Pick<PartitionReader, 'id' | 'partitions'>,
): Verified {
  const { segments, records, bytes, digests, copies, ledgerDamaged, writtenOff, problems, lost } = report;
  const where = partitions === 1 ? '' : `partition ${id}: `;
  const told = partitions === 1 ? problems : problems.slice(0, MOST_PROBLEMS);
  return {
    ...{ segments, records, bytes, digests, copies, ledgerDamaged, lost: lost.length, writtenOff },
    problems: told.map(problem => where + problem),
  };
}

export function mergedVerified(parts: readonly Verified[]): Verified {
  if (parts.length === 1) return parts[0]!;
  const counts = COUNTS.map(name => [name, sumOf(parts.map(part => part[name]))] as const);
  return {
    ...(Object.fromEntries(counts) as Record<(typeof COUNTS)[number], number>),
    ledgerDamaged: parts.some(part => part.ledgerDamaged),
    problems: parts.flatMap(part => part.problems),
  };
}
