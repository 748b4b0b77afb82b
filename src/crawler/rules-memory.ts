/** Parsed robots.txt by origin. */
import type { RobotsCopy } from '../errand/errand.ts';
import type { ReasonCode } from '../errand/reasons.ts';
import { type RobotsTerms, robotsTerms } from './robots.ts';

/** Servers whose parsed rules are remembered. */
const REMEMBERED = 1000;

interface Remembered {
  /** Of the copy. */
  readonly time: number;
  readonly terms: RobotsTerms;
  /** Why no answer came, if that is known. */
  readonly failure: ReasonCode | undefined;
}

/** Parsed rules by origin, so that a thousand errands to one server parse its robots.txt once. */
export class RulesMemory {
  readonly #terms = new Map<string, Remembered>();

  /** `failure`: why the server did not answer when it was asked for this copy just now. */
  of(origin: string, copy: RobotsCopy, now: number, failure?: ReasonCode): Remembered {
    const known = this.#terms.get(origin);
    if (known?.time === copy.time) return known;
    const good = { ...copy, status: 200 };
    const terms = robotsTerms(
      copy,
      now,
      copy.unreachableSince > 0 ? { since: copy.unreachableSince, good } : undefined,
    );
    if (this.#terms.size >= REMEMBERED) this.#terms.clear();
    const remembered = { time: copy.time, terms, failure };
    this.#terms.set(origin, remembered);
    return remembered;
  }
}
