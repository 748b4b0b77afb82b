/**
 * A round of refresh as the ledger remembers it. A round that was killed or stopped continues, so that no page is requested
 * twice and no budget is spent twice. Invariant: the visits since a round began are the only record of what it has done.
 */
import { DAY } from '../base/clock.ts';
import type { Ledger } from '../ledger/ledger.ts';

export interface Round {
  /** Milliseconds since 1970. */
  readonly begun: number;
  /** Start of the previous round, or time of the last visit of the crawl: the budget has gathered since then. */
  readonly before: number;
}

/** Milliseconds after which a round no longer continues, because pages that it visited are due again. */
const LONGEST = DAY;

/** Each has a ledger, and remembers the round. */
type RoundPartitions = Iterable<{ readonly ledger: Ledger }>;

/** The round that has not ended, or a new one. */
export function beginRound(partitions: RoundPartitions, now: number): Round {
  const ledgers = [...partitions].map(({ ledger }) => ledger);
  const opened = newest(
    ledgers.map(ledger => ledger.settings.get<Round | null>('round') ?? undefined),
    round => round.begun,
  );
  if (opened && opened.begun <= now && now - opened.begun < LONGEST) return opened;
  const round = newRound(partitions, now);
  joinRound(partitions, round);
  return round;
}

/** A round that begins now, and is not in the ledgers yet. */
export function newRound(partitions: RoundPartitions, now: number): Round {
  const ledgers = [...partitions].map(({ ledger }) => ledger);
  const refreshed = newest(ledgers.map(ledger => ledger.settings.get<number>('refreshed')));
  return { begun: now, before: refreshed ?? newest(ledgers.map(({ visits }) => visits.lastTime)) ?? now };
}

/** Notes in the ledgers of these partitions that they take part in a round. */
export function joinRound(partitions: RoundPartitions, { begun, before }: Round): void {
  for (const { ledger } of partitions)
    if (ledger.settings.get<Round | null>('round')?.begun !== begun) begin(ledger, { begun, before });
}

function begin(ledger: Ledger, round: Round): void {
  ledger.begin();
  ledger.settings.set('round', round);
  ledger.settings.set('refreshed', round.begun);
  ledger.commit();
}

/** Ends the round: the next one is new. */
export function endRound(partitions: RoundPartitions): void {
  for (const { ledger } of partitions) {
    ledger.begin();
    ledger.settings.set('round', null);
  }
}

function newest<T>(of: readonly (T | undefined)[], timeOf: (value: T) => number = Number): T | undefined {
  return of.reduce((best, each) => {
    if (each === undefined) return best;
    return best === undefined || timeOf(each) > timeOf(best) ? each : best;
  }, undefined);
}
