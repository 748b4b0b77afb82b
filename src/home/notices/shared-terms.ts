/** Sites that the user lets know which terms led to their pages: when each was last told, and what went wrong. */
import type { Ledger } from '../../ledger/ledger.ts';

interface SharedWith {
  /** Milliseconds since 1970, 0 = never. */
  readonly asked: number;
  /** Empty = nothing. */
  readonly trouble: string;
}

export const SHARED_TERMS = 'sites told terms';

/** By origin. */
export function sharedTerms(ledger: Ledger): Readonly<Record<string, SharedWith>> {
  return ledger.settings.get<Record<string, SharedWith>>(SHARED_TERMS) ?? {};
}
