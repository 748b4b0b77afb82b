/** Every visit to a page. */
import { visitMeans } from '../../errand/reasons.ts';
import type { VisitRow } from '../../ledger/visits.ts';
import { pageQuestion } from './page.ts';

interface History {
  readonly url: string;
  /** Oldest first. */
  readonly timeline: readonly TimelineEntry[];
}

export interface TimelineEntry {
  readonly time: number;
  readonly outcome: string;
  readonly reason: string;
  readonly means: string;
  readonly status: number;
  readonly stage: string | null;
  readonly amount: number | null;
  /** Words that went and came. */
  readonly removed: number | null;
  readonly added: number | null;
  /** On the wire, both ways. */
  readonly bytes: number;
  readonly cause: string;
  readonly ms: number;
  readonly outpost: string;
  /** Number of the version that this visit stored; null = none. */
  readonly version: number | null;
}

function timelineOf(visits: readonly VisitRow[]): TimelineEntry[] {
  let versions = 0;
  return visits.map(visit => ({
    time: visit.time,
    outcome: visit.outcome,
    reason: visit.reason,
    means: visitMeans(visit),
    status: visit.status,
    stage: visit.stage,
    amount: visit.amount,
    removed: visit.removed,
    added: visit.added,
    bytes: visit.up + visit.down,
    cause: visit.cause,
    ms: visit.ms,
    outpost: visit.outpost,
    version: visit.segment === null ? null : ++versions,
  }));
}

export const historyQuestion = pageQuestion(
  'history',
  ({ ledger }, { page }): History => ({ url: page.url, timeline: timelineOf(ledger.visits.of(page.id)) }),
);
