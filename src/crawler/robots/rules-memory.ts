/** Parsed robots.txt by origin. */
import type { RobotsCopy } from '../../errand/errand.ts';
import type { ReasonCode } from '../../errand/reasons.ts';
import { type RobotsTerms, robotsTerms } from './robots.ts';

/** Servers whose parsed rules are remembered. */
const REMEMBERED = 1000;
/** Characters of their files, together: parsed, a file takes up to fifty times as much, and one may have half a million. */
const CHARACTERS = 2 << 20;

interface RememberedRules {
  /** Of the copy. */
  readonly time: number;
  readonly characters: number;
  readonly terms: RobotsTerms;
  /** Why no answer came, if that is known. */
  readonly failure: ReasonCode | undefined;
}

/** Parsed rules by origin, so that a thousand errands to one server parse its robots.txt once. */
export class RulesMemory {
  /** Oldest first. */
  readonly #known = new Map<string, RememberedRules>();
  #characters = 0;

  /** `failure`: why the server did not answer when it was asked for this copy just now. */
  of(origin: string, copy: RobotsCopy, now: number, failure?: ReasonCode): RememberedRules {
    const known = this.#known.get(origin);
    if (known?.time === copy.time) return known;
    this.#forget(origin);
    const { body, time, unreachableSince } = copy;
    const good = { status: 200, body, time, unreachableSince };
    const terms = robotsTerms(copy, now, unreachableSince > 0 ? { since: unreachableSince, good } : undefined);
    const remembered = { time, characters: body.length, terms, failure };
    this.#remember(origin, remembered);
    return remembered;
  }

  #remember(origin: string, rules: RememberedRules): void {
    this.#known.set(origin, rules);
    this.#characters += rules.characters;
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= REMEMBERED && this.#characters <= CHARACTERS) return;
      this.#forget(oldest);
    }
  }

  #forget(origin: string): void {
    this.#characters -= this.#known.get(origin)?.characters ?? 0;
    this.#known.delete(origin);
  }
}
