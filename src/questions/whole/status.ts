/** The collection at a glance, from counts that the ledger keeps. */
import { DAY } from '../../base/clock.ts';
import { diskBytes } from '../../home/house/retention.ts';
import { notCopied } from '../../home/offsite/offsite.ts';
import { ELSEWHERE } from '../../ledger/outbox/border.ts';
import type { PartitionReader } from '../partition-reader.ts';
import { mergedBy, type Question, sumOf } from '../question.ts';

/** Milliseconds over which growth is told. */
const WEEK = 7 * DAY;
/** Servers that are named. */
const LARGEST = 10;

export interface Status {
  readonly known: number;
  readonly stored: number;
  readonly waiting: number;
  readonly retries: number;
  readonly servers: number;
  readonly archiveBytes: number;
  readonly wireBytes: number;
  /** All files of the collection. */
  readonly diskBytes: number;
  /** Of copies that were stored in the last week and are kept. */
  readonly weekBytes: number;
  /** Bytes of the archive that have no copy elsewhere yet: fetched again if this machine burned now. Null = none are made. */
  readonly notCopied: number | null;
  readonly lastVisit: number | null;
  readonly outcomes: readonly { outcome: string; reason: string; pages: number }[];
  readonly refused: Readonly<Record<string, number>>;
  readonly largest: readonly { origin: string; pages: number; notBefore: number }[];
}

export type NoArgs = Readonly<Record<string, never>>;

export const statusQuestion: Question<NoArgs, Status, Status> = { name: 'status', ask: statusOf, merge };

function statusOf({ ledger }: PartitionReader): Status {
  const { visits } = ledger;
  const { tallies } = ledger.servers;
  const refused: Record<string, number> = {};
  const servers = new Map<number, number>();
  let [open, stubs] = [0, 0];
  for (const { name, server, n } of tallies.of('pages')) {
    if (name === ELSEWHERE) {
      stubs += n;
      continue;
    }
    if (server !== 0) servers.set(server, (servers.get(server) ?? 0) + n);
    if (name === '') open += n;
    else refused[name] = (refused[name] ?? 0) + n;
  }
  const outcomes = tallies.of('known').map(({ name, n }) => {
    const [outcome = '', reason = ''] = name.split(' ');
    return { outcome, reason, pages: n };
  });
  const largest = [...servers].sort(([, one], [, two]) => two - one).slice(0, LARGEST);
  return {
    known: ledger.pages.newest() - stubs,
    stored: tallies.total('stored'),
    waiting: open - (tallies.total('known') - tallies.total('spurned')),
    retries: ledger.schedule.due.nextRetry()?.count ?? 0,
    servers: ledger.servers.newest(),
    archiveBytes: sumOf(ledger.storage.segments.all().map(segment => segment.length)),
    wireBytes: ledger.servers.account.total(),
    diskBytes: diskBytes(ledger.directory),
    weekBytes: ledger.storage.versions.bytesFrom(visits.since(Date.now() - WEEK)),
    notCopied: notCopied(ledger) ?? null,
    lastVisit: visits.get(visits.newest())?.time ?? null,
    outcomes: outcomes.sort((one, two) => two.pages - one.pages),
    refused,
    largest: largest.map(([server, pages]) => {
      const { origin, notBefore } = ledger.servers.read(server)!; // it may be newer than this ledger object
      return { origin, pages, notBefore };
    }),
  };
}

function merge(_: NoArgs, parts: readonly Status[]): Status {
  if (parts.length === 1) return parts[0]!;
  type Summed = 'known' | 'stored' | 'waiting' | 'retries' | 'servers' | `${'archive' | 'wire' | 'disk' | 'week'}Bytes`;
  const sum = (name: Summed) => sumOf(parts.map(part => part[name]));
  const copies = parts.flatMap(part => (part.notCopied === null ? [] : [part.notCopied]));
  const visits = parts.flatMap(({ lastVisit }) => (lastVisit === null ? [] : [lastVisit]));
  const outcomes = mergedBy(
    parts.flatMap(part => part.outcomes),
    ({ outcome, reason }) => `${outcome} ${reason}`,
    (one, two) => ({ ...one, pages: one.pages + two.pages }),
  );
  const refused = mergedBy(
    parts.flatMap(part => Object.entries(part.refused)),
    ([reason]) => reason,
    ([reason, one], [, two]): [string, number] => [reason, one + two],
  );
  return {
    ...{ known: sum('known'), stored: sum('stored'), waiting: sum('waiting'), retries: sum('retries') },
    ...{ servers: sum('servers'), archiveBytes: sum('archiveBytes'), wireBytes: sum('wireBytes') },
    ...{ diskBytes: sum('diskBytes'), weekBytes: sum('weekBytes') },
    notCopied: copies.length === 0 ? null : sumOf(copies),
    lastVisit: visits.length === 0 ? null : Math.max(...visits),
    outcomes: outcomes.sort((one, two) => two.pages - one.pages),
    refused: Object.fromEntries(refused),
    largest: parts
      .flatMap(part => part.largest)
      .sort((one, two) => two.pages - one.pages)
      .slice(0, LARGEST),
  };
}
