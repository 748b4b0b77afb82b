/** Parsed robots.txt by origin. */
import type { RobotsCopy } from '../errand/errand.ts';
import { type RobotsTerms, robotsTerms } from './robots.ts';

/** Servers whose parsed rules are remembered. */
const REMEMBERED = 1000;

/** Parsed rules by origin, so that a thousand errands to one server parse its robots.txt once. */
export class RulesMemory {
  readonly #terms = new Map<string, { time: number; terms: RobotsTerms }>();

  of(origin: string, copy: RobotsCopy, now: number): RobotsTerms {
    const known = this.#terms.get(origin);
    if (known?.time === copy.time) return known.terms;
    const good = { ...copy, status: 200 };
    const terms = robotsTerms(
      copy,
      now,
      copy.unreachableSince > 0 ? { since: copy.unreachableSince, good } : undefined,
    );
    if (this.#terms.size >= REMEMBERED) this.#terms.clear();
    this.#terms.set(origin, { time: copy.time, terms });
    return terms;
  }
}
