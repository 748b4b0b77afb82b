/**
 * The schedule without its ledger, so that months of thousands of pages pass in seconds: simulations and benches compare
 * policies with it. The same states, policies and feedbacks as in src/frontier/schedule/schedule.ts, with due times in memory.
 *
 * Picks the next page in O(log n): for each server a heap of its pages by due time, one heap of the servers that may be
 * visited by the due time of their first page, and one of those that must wait by the time they may be visited again.
 * Asked once for every visit that the budget allows; it keeps no time of its own.
 *
 * Two feedbacks keep what is due equal to what can be visited: theta, common to all pages, rises while visits come
 * after their due time; a server that cannot be visited as often as its pages deserve has a multiplier of its own.
 *
 * Invariant: a server with pages at rest is in exactly one of the two heaps unless one of its pages is out; at most
 * one page of a server is out at a time.
 */

import { DAY } from '../../src/base/clock.ts';
import { SkeinError } from '../../src/base/errors.ts';
import { balanceForShare, balanceForSpending } from '../../src/revisit/budget.ts';
import { type GammaMemory, MEMORY } from '../../src/revisit/estimators/gamma.ts';
import { observe } from '../../src/revisit/estimators/observe.ts';
import {
  countedByPings,
  learnPing,
  NO_PINGS,
  type PingRecord,
  pingWorth,
  silenceRecall,
} from '../../src/revisit/pings.ts';
import { intervalOf, MAX_INTERVAL, type Plan, phaseOf } from '../../src/revisit/policy.ts';
import { type ChangeState, newState, type Observation } from '../../src/revisit/state.ts';
import { type Load, steer, type VisitCost, visitCost } from '../../src/revisit/value.ts';
import { grow, Heap, type Keys } from './heap.ts';
import { meanPrior } from './mean-prior.ts';
import { type PageRow, PageTable } from './page-table.ts';

export interface SchedulerOptions {
  readonly plan: Plan;
  /** Per day. `bytes`: a page is due when a visit is worth the bytes that it is expected to cost. */
  readonly budget: { readonly pages: number } | { readonly bytes: number };
  /** Days. */
  readonly maxInterval?: number;
  readonly memory?: GammaMemory;
  readonly snapshot?: Snapshot;
}

/** What a restart needs beside the pages. */
export interface Snapshot {
  readonly theta: number;
  /** Mean bytes of a visit. */
  readonly visitBytes: number;
  readonly servers: readonly ServerSnapshot[];
}

export interface ServerSnapshot {
  readonly origin: string;
  readonly multiplier: number;
  readonly pings: PingRecord;
}

export interface Newcomer {
  readonly server: number;
  readonly weight?: number;
  readonly bytes?: number;
  /** Milliseconds of the last visit; absent = never, due at once. */
  readonly last?: number;
  readonly due?: number;
  readonly state?: ChangeState;
}

/** What a visit saw; `days` is the scheduler's to know. */
export interface Seen extends Omit<Observation, 'days'> {
  /** Bytes that the visit cost, and those of the body when one came. */
  readonly cost?: number;
  readonly body?: number;
}

interface Server {
  readonly origin: string;
  readonly heap: Heap;
  /** Milliseconds between visits; 0 = no limit. */
  pace: number;
  honoured: number;
  pages: number;
  /** One of its pages is being visited. */
  out: boolean;
  multiplier: number;
  pings: PingRecord;
  /** Over pages that were observed: how many, and the sums of their beliefs. */
  observed: number;
  sumA: number;
  sumB: number;
}

/** Visits over which the mean of bytes is taken at least; with more pages, one round of them. */
const SMOOTHING = 256;
/** Visits that a server may be behind before its multiplier rises: with none, it would idle in between. */
const BACKLOG = 20;
/** Pages that stand for all when the first theta is sought. */
const BEGIN_SAMPLE = 2_000;

export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #maxInterval: number;
  readonly #wantsMeanRate: boolean;
  readonly #pages = new PageTable();
  readonly #servers: Server[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #readyKeys: Keys = { keys: new Float64Array(8), places: new Int32Array(8).fill(-1) };
  readonly #waitingKeys: Keys = { keys: new Float64Array(8), places: new Int32Array(8).fill(-1) };
  readonly #ready = new Heap(this.#readyKeys);
  readonly #waiting = new Heap(this.#waitingKeys);
  #theta: number;
  #visitBytes: number;
  #sumRate = 0;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#maxInterval = options.maxInterval ?? MAX_INTERVAL;
    this.#wantsMeanRate = options.plan.policy.name === 'proportional';
    this.#theta = options.snapshot?.theta ?? 0;
    this.#visitBytes = options.snapshot?.visitBytes ?? 0;
    for (const { origin, multiplier, pings } of options.snapshot?.servers ?? []) {
      const server = this.#servers[this.server(origin, 0)]!;
      server.multiplier = multiplier;
      server.pings = pings;
    }
  }

  /**
   * The number of a server, made at first mention. `pace`: least milliseconds between its visits. `honoured`: share of
   * unchanged pages that it answers with 304.
   */
  server(origin: string, pace: number, honoured = 1): number {
    let number = this.#numbers.get(origin);
    if (number === undefined) {
      number = this.#servers.length;
      this.#numbers.set(origin, number);
      const heap = new Heap(this.#pages.order);
      this.#servers.push({
        ...{ origin, heap, pace, honoured, pages: 0, out: false, multiplier: 1, pings: NO_PINGS },
        ...{ observed: 0, sumA: 0, sumB: 0 },
      });
      grow(this.#readyKeys, number);
      grow(this.#waitingKeys, number);
    }
    this.#servers[number]!.pace = pace;
    this.#servers[number]!.honoured = honoured;
    return number;
  }

  /** The number of the new page; numbers of removed pages come back. */
  add(newcomer: Newcomer): number {
    const { server, weight = 1, bytes = 0, last = Number.NaN, state = newState(), due = Number.NaN } = newcomer;
    const page = this.#pages.insert({ server, weight, bytes, last, due, state });
    const home = this.#servers[server]!;
    home.pages++;
    if (state.visits > 0) believe(home, 1, state.a, state.b);
    if (this.#wantsMeanRate) this.#sumRate += this.#options.plan.estimator.rate(state);
    if (Number.isNaN(last)) this.#pages.order.keys[page] = 0;
    else if (Number.isNaN(due)) this.#pages.order.keys[page] = this.#theta === 0 ? last : this.#due(page, state);
    this.#rest(page);
    return page;
  }

  /** Not for a page that is out: that one is postponed first. */
  remove(page: number): void {
    const number = this.#pages.server[page]!;
    if (this.#pages.order.places[page]! < 0) throw new SkeinError('internal', `page ${page} is out or not there`);
    const home = this.#servers[number]!;
    const state = this.#pages.state(page);
    home.heap.remove(page);
    home.pages--;
    if (state.visits > 0) believe(home, -1, -state.a, -state.b);
    if (this.#wantsMeanRate) this.#sumRate -= this.#options.plan.estimator.rate(state);
    this.#pages.remove(page);
    if (this.#readyKeys.places[number]! < 0) return;
    if (home.heap.size === 0) this.#ready.remove(number);
    else this.#reorder(number);
  }

  /** The page to visit at `now`, which is then out until `done` or `postpone`; -1 when none may be visited. */
  next(now: number): number {
    if (this.#theta === 0) this.#begin();
    this.#admit(now);
    const number = this.#ready.top;
    if (number < 0) return -1;
    const server = this.#servers[number]!;
    const page = server.heap.top;
    const due = this.#pages.order.keys[page]!;
    if (!this.#options.plan.policy.usesWholeBudget && due > now) return -1;
    this.#ready.pop();
    server.heap.pop();
    server.out = true;
    // A server that is held back by its pace says nothing of the budget; nor does a page that was never fetched.
    if (server.multiplier <= 1.0001 && due > 0) this.#theta = steer(this.#theta, (now - due) / DAY, this.#load());
    return page;
  }

  done(page: number, now: number, seen: Seen): void {
    const table = this.#pages;
    const server = this.#servers[table.server[page]!]!;
    const last = table.last[page]!;
    let state = table.state(page);
    if (!Number.isNaN(last)) {
      const days = (now - last) / DAY;
      const pings = table.pings[page]!;
      const foretold = server.pings === NO_PINGS ? 0 : 1 - this.#options.plan.estimator.survival(state, days);
      state = this.#learn(server, state, { ...seen, ...countedByPings(server.pings, pings, seen), days });
      server.pings = learnPing(server.pings, { pings, changed: seen.changed, foretold });
      table.setState(page, state);
    }
    if (seen.cost !== undefined) this.#visitBytes += (seen.cost - this.#visitBytes) / Math.max(SMOOTHING, table.size);
    if (seen.body !== undefined) table.bytes[page] = seen.body;
    table.last[page] = now;
    table.pings[page] = 0;
    table.order.keys[page] = this.#due(page, state);
    this.#release(page, now);
  }

  /** The visit saw nothing (an error, a missing page): it is due at `due`, and nothing is learned. */
  postpone(page: number, now: number, due: number): void {
    this.#pages.order.keys[page] = due;
    this.#release(page, now);
  }

  /** A notice that the page changed: it moves forward by what this server's notices have been worth. */
  ping(page: number, now: number): void {
    const table = this.#pages;
    const number = table.server[page]!;
    const server = this.#servers[number]!;
    if (table.pings[page]! < 255) table.pings[page]!++;
    if (table.order.places[page]! < 0) return;
    const rate = this.#options.plan.estimator.rate(table.state(page));
    // Below the threshold the page changes so fast that even a sure change is not worth a visit.
    if (table.weight[page]! < this.#theta * server.multiplier * rate) return;
    const earlier = table.order.keys[page]! - pingWorth(server.pings, rate) * DAY;
    table.order.keys[page] = Math.min(table.order.keys[page]!, Math.max(now, earlier));
    server.heap.moved(page);
    if (this.#readyKeys.places[number]! >= 0) this.#reorder(number);
  }

  /** Undefined for a number that no page has. */
  page(number: number): PageRow | undefined {
    return this.#pages.row(number);
  }

  /** At most `limit` pages that stand for all, evenly spread over the order in which they were added. */
  sample(limit: number): PageRow[] {
    const rows: PageRow[] = [];
    const step = Math.max(1, this.#pages.end / limit);
    for (let at = 0; at < this.#pages.end; at += step) {
      const row = this.#pages.row(Math.floor(at));
      if (row) rows.push(row);
    }
    return rows;
  }

  snapshot(): Snapshot {
    const servers = this.#servers.map(({ origin, multiplier, pings }) => ({ origin, multiplier, pings }));
    return { theta: this.#theta, visitBytes: this.#visitBytes, servers };
  }

  /** Finds the theta that fits the budget, and the due times of all pages that were added without one before it. */
  #begin(): void {
    const sample = this.sample(BEGIN_SAMPLE);
    const { budget } = this.#options;
    if (this.#visitBytes === 0) this.#visitBytes = this.#firstVisitBytes(sample);
    const beliefs = sample.map(row => ({ a: row.state.a, b: row.state.b, weight: row.weight, ...this.#cost(row) }));
    const perDay = 'pages' in budget ? budget.pages : budget.bytes / 1000;
    this.#theta = ('bytes' in this.#options.budget ? balanceForSpending : balanceForShare)(
      perDay / Math.max(1, this.#pages.size),
      beliefs,
      this.#maxInterval,
    ).theta;
    const { order, last } = this.#pages;
    for (let page = 0; page < this.#pages.end; page++) {
      if (this.#pages.server[page]! < 0 || order.keys[page] !== last[page]) continue;
      order.keys[page] = this.#due(page, this.#pages.state(page));
      this.#servers[this.#pages.server[page]!]!.heap.moved(page);
    }
    for (let number = 0; number < this.#servers.length; number++)
      if (this.#readyKeys.places[number]! >= 0) this.#reorder(number);
  }

  /**
   * Due times follow from it and stay as they are until the next visit, so a wrong first guess would be felt for a
   * whole round. What a visit costs depends on how long a round takes, which depends on what a visit costs: a few steps
   * towards each other are enough.
   */
  #firstVisitBytes(sample: readonly PageRow[]): number {
    const { budget, plan } = this.#options;
    if ('pages' in budget) return 1;
    let mean = 1000;
    for (let step = 0; step < 6; step++) {
      const cycle = (this.#pages.size * mean) / budget.bytes;
      let sum = 0;
      for (const row of sample) {
        const { visit, change } = this.#cost(row).cost!;
        sum += visit + (1 - plan.estimator.survival(row.state, cycle)) * change;
      }
      mean = (1000 * sum) / Math.max(1, sample.length);
    }
    return mean;
  }

  /** Nothing where visits are counted. */
  #cost({ server, bytes }: { readonly server: number; readonly bytes: number }): { cost?: VisitCost } {
    if ('pages' in this.#options.budget) return {};
    return { cost: visitCost(bytes, this.#servers[server]!.honoured) };
  }

  #load(): Load {
    const { budget } = this.#options;
    const visits = 'pages' in budget ? budget.pages : budget.bytes / this.#visitBytes;
    return { pages: this.#pages.size, budget: visits };
  }

  /** The first observation replaces the general belief by that of the server, as it is by then. */
  #learn(server: Server, before: ChangeState, observation: Observation): ChangeState {
    const first = before.visits === 0;
    const start = first ? { ...before, ...meanPrior(server.observed, server.sumA, server.sumB) } : before;
    const after = observe(start, observation, this.#options.memory ?? MEMORY);
    believe(server, first ? 1 : 0, after.a - (first ? 0 : before.a), after.b - (first ? 0 : before.b));
    if (this.#wantsMeanRate) {
      const { estimator } = this.#options.plan;
      this.#sumRate += estimator.rate(after) - estimator.rate(before);
    }
    return after;
  }

  #due(page: number, state: ChangeState): number {
    const { plan } = this.#options;
    const table = this.#pages;
    const server = this.#servers[table.server[page]!]!;
    const load = this.#load();
    const cycle = load.pages / load.budget;
    const days = intervalOf(plan, state, {
      weight: table.weight[page]!,
      ...this.#cost({ server: table.server[page]!, bytes: table.bytes[page]! }),
      theta: this.#theta * server.multiplier,
      maxInterval: this.#maxInterval,
      cycle,
      meanRate: this.#sumRate / Math.max(1, load.pages),
      recall: silenceRecall(server.pings),
      phase: phaseOf(page),
    });
    return table.last[page]! + days * DAY;
  }

  /** Puts a new page into its server's heap, and the server into one if it was in none because it had no page. */
  #rest(page: number): void {
    const number = this.#pages.server[page]!;
    const server = this.#servers[number]!;
    server.heap.push(page);
    if (this.#readyKeys.places[number]! >= 0) this.#reorder(number);
    else if (!server.out && this.#waitingKeys.places[number]! < 0) this.#enter(number);
  }

  #release(page: number, now: number): void {
    const number = this.#pages.server[page]!;
    const server = this.#servers[number]!;
    server.heap.push(page);
    server.out = false;
    if (server.pace > 0) {
      this.#waitingKeys.keys[number] = now + server.pace;
      this.#waiting.push(number);
    } else this.#enter(number);
  }

  /** Moves the servers whose time has come from waiting to ready, and corrects their multipliers. */
  #admit(now: number): void {
    const load = this.#load();
    for (let number = this.#waiting.top; number >= 0; number = this.#waiting.top) {
      if (this.#waitingKeys.keys[number]! > now) return;
      this.#waiting.pop();
      const server = this.#servers[number]!;
      if (server.heap.size === 0) continue;
      const lag = now - this.#pages.order.keys[server.heap.top]! - BACKLOG * server.pace;
      const own: Load = { pages: server.pages, budget: (load.budget * server.pages) / load.pages };
      server.multiplier = Math.max(1, steer(server.multiplier, lag / DAY, own));
      this.#enter(number);
    }
  }

  #enter(number: number): void {
    this.#readyKeys.keys[number] = this.#pages.order.keys[this.#servers[number]!.heap.top]!;
    this.#ready.push(number);
  }

  #reorder(number: number): void {
    this.#readyKeys.keys[number] = this.#pages.order.keys[this.#servers[number]!.heap.top]!;
    this.#ready.moved(number);
  }
}

function believe(server: Server, pages: number, a: number, b: number): void {
  server.observed += pages;
  server.sumA += a;
  server.sumB += b;
}
