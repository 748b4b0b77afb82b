/**
 * What feeds the frontier while home runs, besides links: pages to try again, and pages that the schedule wants looked
 * at. One small port with three implementations: `crawl` ends when nothing is left, `refresh` after one round,
 * `watch` never.
 */
import type { Clock } from '../base/clock.ts';
import type { Frontier } from '../frontier/frontier.ts';
import type { Ledger } from '../ledger/ledger.ts';

const DAY = 86_400_000;
/** How often the ledger is asked, milliseconds. */
const ASK_EVERY = 1000;
/** Days of unspent budget that a collection may save up. */
const MOST_SAVED = 7;

export interface Supply {
  /** Called once a turn of home's loop. */
  fill(): void;
  /** Something will come up soon, though nothing is under way now. */
  worthWaiting(): boolean;
  /** Pages that the budget does not allow any more in this run; for the summary. */
  readonly left: number;
}

export interface SupplyParts {
  readonly ledger: Ledger;
  readonly frontier: Frontier;
  readonly clock: Clock;
}

/** Retries fall due while a crawl goes on; it waits for them, and for servers that asked for a pause, with patience. */
export function crawlSupply({ ledger, frontier, clock }: SupplyParts, patience: number): Supply {
  const retries = retriesOf({ ledger, frontier, clock });
  return {
    left: 0,
    fill: retries,
    worthWaiting() {
      const until = clock.now() + patience;
      if (frontier.full) return false;
      if (frontier.waiting().wake <= until) return true;
      const retry = ledger.pages.nextRetry();
      return retry !== undefined && retry.time <= until;
    },
  };
}

/** What a budget allows: pages, bytes, or both. */
export interface Allowance {
  /** Visits a day. */
  readonly pages: number;
  /** Bytes on the wire a day. */
  readonly bytes: number;
}

/** One round: what is due now, as far as the budget since the last round goes. */
export function refreshSupply(parts: SupplyParts, allowance: Allowance, spent: () => number): Supply {
  const { ledger, frontier, clock } = parts;
  const now = clock.now();
  const last = ledger.setting<number>('refreshed') ?? now - DAY;
  const days = Math.min(MOST_SAVED, (now - last) / DAY);
  const due = ledger.pages.due(0, now, Math.max(1, Math.ceil(allowance.pages * days)));
  const overdue = ledger.pages.countDue(now);
  let queued = 0;
  return {
    left: Math.max(0, overdue - due.length),
    fill() {
      // In slices, so that a budget of bytes can end the round between them.
      while (
        queued < due.length &&
        frontier.waiting().pages < 256 &&
        spent() < allowance.bytes * Math.max(days, 1e-6)
      ) {
        const slice = due.slice(queued, queued + 256);
        queued += slice.length;
        frontier.again(slice);
      }
    },
    worthWaiting: () => frontier.waiting().wake <= clock.now() + 60_000,
  };
}

/** Goes on for ever: visits are let go at the pace of the budget, most overdue first. */
export function watchSupply(parts: SupplyParts, allowance: () => Allowance, spent: () => number): Supply {
  const { ledger, frontier, clock } = parts;
  const retries = retriesOf(parts);
  let pages = 0;
  let bytes = 0;
  let seen = spent();
  let time = clock.now();
  let taken = 0;
  return {
    left: 0,
    fill() {
      retries();
      const now = clock.now();
      if (now - time < ASK_EVERY) return;
      const { pages: perDay, bytes: bytesPerDay } = allowance();
      const days = (now - time) / DAY;
      time = now;
      // What was not used may be saved up for an hour, so that a busy moment does not have to wait.
      pages = Math.min(pages + perDay * days, Math.max(1, perDay / 24));
      bytes = Math.min(bytes + bytesPerDay * days - (spent() - seen), Math.max(1, bytesPerDay / 24));
      seen = spent();
      if (pages < 1 || bytes <= 0) return;
      const due = ledger.pages.due(taken, now, Math.floor(pages));
      if (due.length === 0) return;
      taken = due.at(-1)!.due;
      pages -= due.length;
      frontier.again(due);
    },
    worthWaiting: () => true,
  };
}

/** Puts failures back into their lanes when their time has come. A retry is always set for later, so none slips by. */
function retriesOf({ ledger, frontier, clock }: SupplyParts): () => void {
  let until = 0;
  return () => {
    const now = clock.now();
    if (now - until < ASK_EVERY) return;
    frontier.again(ledger.pages.retries(until, now));
    until = now;
  };
}
