/**
 * When each page is visited again, and what visits teach about how often it changes. Due times live in the ledger, in
 * an index, so that picking the next page costs O(log n) and survives a restart; the threshold theta that all of them
 * share is steered by how late the budget runs.
 *
 * It never picks a page by itself (the frontier does) and never decides whether a page changed (the detector did).
 */
import { type ReasonCode, reasons } from '../errand/reasons.ts';
import type { Visit } from '../errand/visit.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { KnownRow } from '../ledger/pages.ts';
import type { Server } from '../ledger/servers.ts';
import { type Balance, type Belief, balanceForFreshness, balanceForShare } from '../revisit/budget.ts';
import { observe } from '../revisit/estimators/observe.ts';
import { type Missing, whenMissing } from '../revisit/gone.ts';
import { MAX_INTERVAL, nextDue, type Plan, planNamed, type Terms } from '../revisit/policy.ts';
import { type ChangeState, DAY, newState, packState, unpackState } from '../revisit/state.ts';
import { importance, steer } from '../revisit/value.ts';

/** What a user asked for; kept in the ledger, so that a later run goes on with it. */
export interface ScheduleSettings {
  readonly policy: string;
  readonly estimator: string | undefined;
  /** Share of the pages to be visited a day, or the freshness to be kept for the least. */
  readonly share: number | undefined;
  readonly freshness: number | undefined;
}

export const defaultSettings: ScheduleSettings = {
  policy: 'value',
  estimator: undefined,
  share: 0.1,
  freshness: undefined,
};

interface Saved extends ScheduleSettings {
  /** Pages there were when theta was last sought. */
  readonly pages: number;
  readonly theta: number;
  readonly balance: Balance;
}

/** Days until an alias or a page that was refused after it had been stored is asked for again. */
const SELDOM = 30;
/** Pages that stand for all when theta is sought. */
const SAMPLE = 20_000;

export class Schedule {
  readonly plan: Plan;
  settings: ScheduleSettings;
  readonly #ledger: Ledger;
  #theta: number;
  #balance: Balance;

  constructor(ledger: Ledger, settings: Partial<ScheduleSettings> = {}) {
    const saved = ledger.setting<Saved>('schedule');
    this.#ledger = ledger;
    this.settings = { ...defaultSettings, ...saved, ...settings };
    this.plan = planNamed(this.settings.policy, this.settings.estimator);
    this.#theta = saved?.theta ?? 1;
    this.#balance = saved?.balance ?? { theta: this.#theta, share: this.settings.share ?? 0.1, freshness: 0 };
  }

  get theta(): number {
    return this.#theta;
  }

  /** What the budget is expected to buy. */
  get balance(): Balance {
    return this.#balance;
  }

  /** Importance of a page; also what `why` shows. */
  weightOf(page: number, depth: number): number {
    return importance({ linksIn: this.#ledger.backward.of(page), depth, weight: 1, searches: 0 });
  }

  termsFor(weight: number, server: Pick<Server, 'multiplier'> | undefined): Terms {
    const share = Math.max(this.#balance.share, 1e-6);
    return {
      weight,
      theta: this.#theta * (server?.multiplier ?? 1),
      maxInterval: MAX_INTERVAL,
      cycle: 1 / share,
      meanRate: 0.1,
      recall: 0,
    };
  }

  /** What a visit leaves behind: the state of the estimator and the next due time. */
  after(lesson: { id: number; visit: Visit; before: KnownRow | undefined; server: Server }): Planned {
    const { id, visit, before, server } = lesson;
    const state = before?.change ? unpackState(before.change) : newState();
    if (visit.outcome === 'fetched' || visit.outcome === 'same') {
      const next = before?.seen_time ? this.#observe(state, visit, before.seen_time) : state;
      const terms = this.termsFor(this.weightOf(id, visit.depth), server);
      this.#steer(visit, before);
      return { change: packState(next), due: nextDue(this.plan, next, visit.time, terms) };
    }
    return { change: before?.change ?? null, due: this.#dueWithout(visit, before) };
  }

  /** Sets the share of pages to visit a day (undefined: by freshness), and reschedules when that is news. */
  aim(share: number | undefined): void {
    this.settings = { ...this.settings, share, ...(share !== undefined && { freshness: undefined }) };
    const saved = this.#ledger.setting<Saved>('schedule');
    const { policy, estimator, freshness } = this.settings;
    const same =
      saved?.policy === policy &&
      saved.estimator === estimator &&
      saved.freshness === freshness &&
      near(saved.share ?? 0, share ?? 0) &&
      near(saved.pages, this.#ledger.pages.size);
    if (!same) this.reschedule();
  }

  /** Finds theta for the budget and gives every stored page its due time anew. One pass; when settings change. */
  reschedule(): Balance {
    const { database } = this.#ledger;
    const rows = database.prepare(
      `SELECT k.page, k.seen_time, k.change, p.depth, p.server FROM known k JOIN pages p ON p.id = k.page
       WHERE k.change IS NOT NULL AND k.outcome IN ('fetched', 'same', 'failed')`,
    );
    const pages = rows.all() as unknown as {
      page: number;
      seen_time: number;
      change: Uint8Array;
      depth: number;
      server: number;
    }[];
    const step = Math.max(1, Math.floor(pages.length / SAMPLE));
    const beliefs: Belief[] = [];
    for (let i = 0; i < pages.length; i += step) {
      const { page, change, depth } = pages[i]!;
      const { a, b } = unpackState(change);
      beliefs.push({ a, b, weight: this.weightOf(page, depth) });
    }
    const { freshness, share } = this.settings;
    this.#balance =
      freshness === undefined
        ? balanceForShare(share ?? 0.1, beliefs, MAX_INTERVAL)
        : balanceForFreshness(freshness, beliefs, MAX_INTERVAL);
    this.#theta = this.#balance.theta;
    const put = database.prepare('UPDATE known SET due = ? WHERE page = ?');
    for (const { page, seen_time, change, depth, server } of pages) {
      const terms = this.termsFor(this.weightOf(page, depth), this.#ledger.servers.byId(server));
      put.run(nextDue(this.plan, unpackState(change), seen_time, terms), page);
    }
    this.save();
    return this.#balance;
  }

  /** Inside the caller's transaction. */
  save(): void {
    this.#ledger.set('schedule', {
      ...this.settings,
      theta: this.#theta,
      balance: this.#balance,
      pages: this.#ledger.pages.size,
    } satisfies Saved);
  }

  #observe(state: ChangeState, visit: Visit, seen: number): ChangeState {
    const days = (visit.time - seen) / DAY;
    if (days <= 0) return state;
    return observe(state, { days, changed: visit.outcome === 'fetched' });
  }

  /** Late visits mean that too much is due for the budget: the threshold rises a little, and falls when they are early. */
  #steer(visit: Visit, before: KnownRow | undefined): void {
    if (before?.due == null) return;
    const pages = this.#ledger.pages.size;
    this.#theta = steer(this.#theta, (visit.time - before.due) / DAY, { pages, budget: this.#balance.share * pages });
  }

  /** Visits that brought no page say nothing of its rate. */
  #dueWithout(visit: Visit, before: KnownRow | undefined): number | null {
    if (visit.outcome === 'gone') {
      const misses = before?.outcome === 'gone' ? before.tries : 0;
      return visit.time + whenMissing(visit.reason as Missing, misses, MAX_INTERVAL).after * DAY;
    }
    if (visit.outcome === 'moved') return visit.time + SELDOM * DAY;
    if (before?.segment == null) return null;
    const tries = before.tries;
    const retried = tries < (reasons[visit.reason as ReasonCode]?.retries ?? 0);
    return retried ? null : visit.time + Math.min(SELDOM, 2 ** tries) * DAY;
  }
}

/** Within a tenth of each other. */
function near(a: number, b: number): boolean {
  return Math.abs(a - b) <= 0.1 * Math.max(a, b);
}

export interface Planned {
  readonly change: Uint8Array | null;
  readonly due: number | null;
}
