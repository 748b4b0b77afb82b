/**
 * This peer's slices of the budgets that all peers spend from together (src/cluster/budget/shared-budget.ts): settled every
 * two seconds, and at once when a slice is used up. What was issued and is settled, and what the slice still allows, is all
 * that may be issued; the engine being away leaves it at that.
 */
import { z } from 'zod';
import { type BudgetRecord, budgetForm, SharedBudget, type Spender } from '../../cluster/budget/shared-budget.ts';
import { SharedRecord } from '../../cluster/shared-record.ts';
import type { WatchedBucket } from '../../cluster/watched-bucket.ts';
import type { PageBudget } from '../../frontier/errands/page-budget.ts';
import type { Grant, Purse } from '../../home/supply.ts';

/** Budgets of an earlier run are over. */
const runBudgetForm = z.object({
  run: z
    .int()
    .min(0)
    .max(2 ** 48),
  budget: budgetForm,
});

interface SlicesParts {
  readonly meta: WatchedBucket;
  readonly me: Spender;
  readonly run: () => number;
  readonly living: () => readonly string[];
  readonly now: () => number;
}

/** Milliseconds between two settlements, and when more is needed. */
const EVERY = 2000;
const SOON = 300;

interface BudgetSlice {
  readonly shared: SharedBudget;
  readonly issued: () => number;
  /** Of what was issued, what the record knows of. */
  booked: number;
  most: number;
  settledAt: number;
  settling: boolean;
}

export class Slices {
  readonly #parts: SlicesParts;
  readonly #slices: BudgetSlice[] = [];
  readonly #budgets: { readonly budget: PageBudget; readonly slice: BudgetSlice }[] = [];

  constructor(parts: SlicesParts) {
    this.#parts = parts;
  }

  /** Budgets of a round, of which the limits are known. */
  get round(): Purse {
    return {
      pages: (issued, budget) =>
        this.#grant('pages', issued, shared => {
          shared.limit = budget;
        }),
      bytes: (issued, budget) =>
        this.#grant('bytes', issued, shared => {
          shared.limit = budget;
        }),
    };
  }

  /** Budgets a day, that grow while time goes on. */
  get daily(): Purse {
    const growing = (perDay: number) => (shared: SharedBudget) => {
      shared.growth = () => ({ perDay, now: this.#parts.now() });
    };
    return {
      pages: (issued, budget) => this.#grant('pages', issued, growing(budget)),
      bytes: (issued, budget) => this.#grant('bytes', issued, growing(budget)),
    };
  }

  /** Pages that a run may fetch in all, where there is a limit; called again and again, since people may set one later. */
  limit(budget: PageBudget | undefined): void {
    if (!budget) return;
    const known = this.#budgets.find(each => each.budget === budget);
    if (!Number.isFinite(budget.most)) budget.granted = Number.POSITIVE_INFINITY;
    else if (known) known.slice.shared.limit = budget.most;
    else {
      const slice = this.#add('crawl', () => budget.issued, 0);
      slice.shared.limit = budget.most;
      budget.granted = budget.issued;
      this.#budgets.push({ budget, slice });
    }
  }

  /** A budget is used up here, and others may have some of it left. */
  get mayGrow(): boolean {
    const lifted = this.#budgets.filter(({ budget }) => !Number.isFinite(budget.most)).map(({ slice }) => slice);
    return this.#slices.some(slice => slice.issued() >= slice.most && !slice.shared.isSpent && !lifted.includes(slice));
  }

  /** Called several times a second. */
  turn(): void {
    const now = performance.now();
    for (const slice of this.#slices) {
      const short = slice.issued() >= slice.most;
      if (short) slice.shared.spend(Number.POSITIVE_INFINITY); // says that more is wanted
      if (slice.settling || now - slice.settledAt < (short && !slice.shared.isSpent ? SOON : EVERY)) continue;
      void this.#settle(slice);
    }
  }

  /** Gives back what is not needed. */
  async close(): Promise<void> {
    for (const slice of this.#slices) {
      this.#book(slice);
      await slice.shared.close().catch(() => {}); // others get it back when they notice that this peer is gone
    }
  }

  #grant(kind: string, issued: () => number, begin: (shared: SharedBudget) => void): Grant {
    const slice = this.#add(kind, issued);
    begin(slice.shared);
    return {
      get most() {
        return slice.most;
      },
      get final() {
        return slice.shared.isSpent;
      },
    };
  }

  #add(kind: string, issued: () => number, booked = issued()): BudgetSlice {
    const { meta, me, run, living } = this.#parts;
    const record = new SharedRecord(meta, `budget-${kind}`, runBudgetForm);
    const change = async (settle: (budget: BudgetRecord | undefined) => BudgetRecord): Promise<BudgetRecord> => {
      const changed = await record.change(now => ({
        run: run(),
        budget: settle(now?.run === run() ? now.budget : undefined),
      }));
      return changed.budget;
    };
    const shared = new SharedBudget({ change }, me, 0, living);
    const slice: BudgetSlice = { shared, issued, booked, most: issued(), settledAt: 0, settling: false };
    this.#slices.push(slice);
    return slice;
  }

  #book(slice: BudgetSlice): void {
    const more = slice.issued() - slice.booked;
    if (more <= 0) return;
    slice.shared.book(more);
    slice.booked += more;
  }

  async #settle(slice: BudgetSlice): Promise<void> {
    slice.settling = true;
    this.#book(slice);
    const settled = slice.shared.settle();
    // What is given up is not spent from now on.
    this.#allow(slice);
    try {
      await settled;
    } catch {
      // The engine is away: what is left of the slice may be spent.
    } finally {
      slice.settling = false;
      slice.settledAt = performance.now();
      this.#allow(slice);
    }
  }

  #allow(slice: BudgetSlice): void {
    slice.most = slice.booked + slice.shared.left;
    for (const { slice: own, budget } of this.#budgets)
      if (own === slice && Number.isFinite(budget.most)) budget.granted = slice.most;
  }
}
