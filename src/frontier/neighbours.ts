/**
 * What the pages of one server, or its images, have shown together. A page that never changed is believed to be like
 * them, as they are known by now; one that changed speaks for itself.
 */
import { believed, NOTHING_SHOWN, type Shown, serverPrior, showing } from '../revisit/estimators/gamma.ts';
import type { ChangeState } from '../revisit/state.ts';
import type { Place } from './standing.ts';

/** Those that a page is like. */
export interface Kind {
  readonly server: number;
  readonly role: Place['role'];
}

/** Visits that are too few to ask again what all pages are believed to do. */
const FEW_VISITS = 100;

export class Neighbours {
  readonly #shown = new Map<string, Shown>();
  /** Visits when these were counted, and since. */
  #counted = 0;
  #learned = 0;

  /** As many visits have been learned from as there were before. */
  get doubled(): boolean {
    return this.#learned > Math.max(FEW_VISITS, this.#counted);
  }

  add(kind: Kind, state: ChangeState): void {
    this.#shown.set(keyOf(kind), showing(this.#of(kind), state));
    this.#counted += state.visits;
  }

  believed(kind: Kind, state: ChangeState): ChangeState {
    return believed(state, serverPrior(this.#of(kind)));
  }

  /** A page that was counted with `before` has shown more since. */
  learned(kind: Kind, before: ChangeState, after: ChangeState): void {
    this.#shown.set(keyOf(kind), showing(showing(this.#of(kind), before, -1), after));
    this.#learned++;
  }

  #of(kind: Kind): Shown {
    return this.#shown.get(keyOf(kind)) ?? NOTHING_SHOWN;
  }
}

function keyOf({ server, role }: Kind): string {
  return `${server} ${role}`;
}
