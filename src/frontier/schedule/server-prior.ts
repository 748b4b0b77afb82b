/**
 * What the pages of one server, or its images, have shown together. A page that was never looked at twice is believed to
 * be like them, as they are known by now. Where a freshness is to be kept, so is one that never changed; under a budget
 * that one keeps its first belief, which is more cautious.
 */
import { roles } from '../../ledger/pages/pages.ts';
import { SAMPLE, type ScheduledPage } from '../../ledger/pages/scheduled-pages.ts';
import {
  believed,
  meanPrior,
  NOTHING_SHOWN,
  type Shown,
  serverPrior,
  showing,
} from '../../revisit/estimators/gamma.ts';
import { type ChangeState, unpackState } from '../../revisit/state.ts';
import type { Place } from './importance.ts';

/** Those that a page is like. */
export interface Kind {
  readonly server: number;
  readonly role: Place['role'];
}

/** Visits that are too few to ask again what all pages are believed to do. */
const FEW_VISITS = 100;

export class ServerPrior {
  readonly #shown = new Map<string, Shown>();
  /** Over pages that were looked at twice: how many, and the sums of their beliefs. */
  readonly #beliefs = new Map<string, { readonly pages: number; readonly a: number; readonly b: number }>();
  readonly #renewed: boolean;
  /** Visits when these were counted, and since. */
  #counted = 0;
  #learned = 0;

  /** `renewed`: beliefs about pages that never changed are made anew. */
  constructor(renewed: boolean) {
    this.#renewed = renewed;
  }

  /** As many visits have been learned from as there were before. */
  get doubled(): boolean {
    return this.#learned > Math.max(FEW_VISITS, this.#counted);
  }

  add(kind: Kind, state: ChangeState): void {
    this.#shown.set(keyOf(kind), showing(this.#of(kind), state));
    this.#counted += state.visits;
    if (state.visits === 0) return;
    const { pages, a, b } = this.#beliefsOf(kind);
    this.#beliefs.set(keyOf(kind), { pages: pages + 1, a: a + state.a, b: b + state.b });
  }

  believed(kind: Kind, state: ChangeState): ChangeState {
    if (this.#renewed) return believed(state, serverPrior(this.#of(kind)));
    const { pages, a, b } = this.#beliefsOf(kind);
    return state.visits === 0 ? { ...state, ...meanPrior(pages, a, b) } : state;
  }

  /** A page that was counted with `before` has shown more since. */
  learned(kind: Kind, before: ChangeState, after: ChangeState): void {
    this.#shown.set(keyOf(kind), showing(showing(this.#of(kind), before, -1), after));
    this.#learned++;
  }

  #beliefsOf(kind: Kind): { readonly pages: number; readonly a: number; readonly b: number } {
    return this.#beliefs.get(keyOf(kind)) ?? { pages: 0, a: 0, b: 0 };
  }

  #of(kind: Kind): Shown {
    return this.#shown.get(keyOf(kind)) ?? NOTHING_SHOWN;
  }
}

function keyOf({ server, role }: Kind): string {
  return `${server} ${role}`;
}

interface Survey {
  readonly neighbours: ServerPrior;
  /** Every `step`th of the pages. */
  readonly sample: readonly ScheduledPage[];
  readonly step: number;
  /** How many there are. */
  readonly pages: number;
}

/** Reads all pages once and keeps a sample of them: SAMPLE pages or more, twice as many at most. */
export function survey(rows: Iterable<ScheduledPage>, renewed: boolean): Survey {
  const neighbours = new ServerPrior(renewed);
  let sample: ScheduledPage[] = [];
  let step = 1;
  let pages = 0;
  for (const row of rows) {
    neighbours.add({ server: row.server, role: roles[row.role]! }, unpackState(row.change));
    if (pages++ % step === 0) sample.push(row);
    if (sample.length < 2 * SAMPLE) continue;
    sample = sample.filter((_, i) => i % 2 === 0);
    step *= 2;
  }
  return { neighbours, sample, step, pages };
}
