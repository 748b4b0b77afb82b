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

/** The round that did not come to its end, or a new one. */
export function beginRound(ledger: Ledger, now: number): Round {
  const open = ledger.setting<Round | null>('round');
  if (open && open.begun <= now && now - open.begun < LONGEST) return open;
  const before = ledger.setting<number>('refreshed') ?? ledger.visits.lastTime ?? now;
  const round: Round = { begun: now, before };
  ledger.begin();
  ledger.set('round', round);
  ledger.set('refreshed', now);
  ledger.commit();
  return round;
}

/** It came to its end: whoever asks next gets a new one. */
export function endRound(ledger: Ledger): void {
  ledger.set('round', null);
}
