/**
 * Pages that a decider is thinking about. The crawler hands them over and goes on with the next; verdicts come in
 * whatever time they take. Only when too many are waiting does it wait too, so that a slow decider slows the crawl down
 * instead of filling the memory.
 */
import type { Known } from '../errand/known.ts';
import type { Visit } from '../errand/visit.ts';
import { withAdded } from './analysis/added-links.ts';
import { noLinks } from './analysis/links.ts';
import type { Concluded } from './conclude.ts';
import { undecided } from './conclude.ts';
import type { Decider, PageQuestion, PageVerdict } from './decider.ts';

/** Pages of one errand that may wait for a verdict. */
const WAITING = 64;

export class Deciding {
  readonly #decider: Decider | undefined;
  readonly #waiting = new Set<Promise<void>>();

  constructor(decider: Decider | undefined) {
    this.#decider = decider;
  }

  /** The page as the decider wants it; undefined = nobody is to be asked about it. */
  ask(known: Known, concluded: Concluded): Promise<Concluded> | undefined {
    const { question } = concluded;
    return this.#decider && question && verdictOf(this.#decider, question, known, concluded);
  }

  /** Lets `work` go on by itself; a promise when the next page should not come before it resolves. */
  aside(work: Promise<void>): Promise<void> | undefined {
    const waiting = work.finally(() => this.#waiting.delete(waiting));
    this.#waiting.add(waiting);
    return this.#waiting.size < WAITING ? undefined : Promise.race(this.#waiting);
  }

  async idle(): Promise<void> {
    while (this.#waiting.size > 0) await Promise.all(this.#waiting);
  }
}

async function verdictOf(
  decider: Decider,
  question: PageQuestion,
  known: Known,
  concluded: Concluded,
): Promise<Concluded> {
  try {
    return decided(concluded, await decider.decide(question));
  } catch {
    return undecided(known, concluded); // whoever runs the decider says why it failed
  }
}

/** The page as code of the user's wants it: what it does not keep is still read for links, as with the filter. */
function decided(concluded: Concluded, { keep, follow, relevance, add, data }: PageVerdict): Concluded {
  const { visit, kept, question, ...rest } = concluded;
  const page = visit.page && { ...visit.page, filtered: visit.page.filtered || !keep };
  const said = !follow || relevance > 0;
  const more: Partial<Visit> = {
    ...(page && { page }),
    ...(said && { verdict: { follow, relevance } }),
    ...(add && { links: withAdded(visit.links ?? noLinks, visit.url, add) }),
    ...(data !== undefined && { data }),
  };
  return { ...rest, visit: { ...visit, ...more }, ...(keep && kept && { kept }) };
}
