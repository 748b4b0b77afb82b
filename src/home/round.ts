/**
 * A round of refresh as the ledger remembers it: one that was killed or stopped is gone on with, so that no page is
 * asked for twice and no budget spent twice. Invariant: what a round has done is read from the visits since it began;
 * nothing is counted apart from them.
 */
import { DAY } from '../base/clock.ts';
import type { Ledger } from '../ledger/ledger.ts';

export interface Round {
  /** Milliseconds since 1970. */
  readonly begun: number;
  /** When the round before it began, or the last visit of the crawl was: its budget is that of the time since. */
  readonly before: number;
}

/** How long a round may be gone on with; later, pages that it visited are due again. Milliseconds. */
const LONGEST = DAY;

/** Each has a ledger, and remembers the round. */
type RoundPartitions = Iterable<{ readonly ledger: Ledger }>;

/** The round that did not come to its end, or a new one. */
export function beginRound(partitions: RoundPartitions, now: number): Round {
  const ledgers = [...partitions].map(({ ledger }) => ledger);
  const opened = newest(
    ledgers.map(ledger => ledger.setting<Round | null>('round') ?? undefined),
    round => round.begun,
  );
  if (opened && opened.begun <= now && now - opened.begun < LONGEST) return opened;
  const round = newRound(partitions, now);
  joinRound(partitions, round);
  return round;
}

/** One that begins now, and is not written down yet. */
export function newRound(partitions: RoundPartitions, now: number): Round {
  const ledgers = [...partitions].map(({ ledger }) => ledger);
  const refreshed = newest(ledgers.map(ledger => ledger.setting<number>('refreshed')));
  return { begun: now, before: refreshed ?? newest(ledgers.map(({ visits }) => visits.lastTime)) ?? now };
}

/** Writes down that these take part in a round, which somebody else may have begun. */
export function joinRound(partitions: RoundPartitions, { begun, before }: Round): void {
  for (const { ledger } of partitions)
    if (ledger.setting<Round | null>('round')?.begun !== begun) begin(ledger, { begun, before });
}

function begin(ledger: Ledger, round: Round): void {
  ledger.begin();
  ledger.set('round', round);
  ledger.set('refreshed', round.begun);
  ledger.commit();
}

/** It came to its end: whoever asks next gets a new one. */
export function endRound(partitions: RoundPartitions): void {
  for (const { ledger } of partitions) {
    ledger.begin();
    ledger.set('round', null);
  }
}

function newest<T>(of: readonly (T | undefined)[], timeOf: (value: T) => number = Number): T | undefined {
  return of.reduce((best, each) => {
    if (each === undefined) return best;
    return best === undefined || timeOf(each) > timeOf(best) ? each : best;
  }, undefined);
}
