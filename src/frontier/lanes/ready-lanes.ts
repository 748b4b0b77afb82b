/**
 * Finds the lanes that may send an errand now, without looking at every lane in every turn of home's loop. It looks at a lane
 * only after something has happened to it, or when the time is over for which its server must be left alone. It offers the
 * lanes that may go to the director, the most relevant first.
 *
 * Invariant: a lane that may send an errand is offered, stirred or set aside here. So whoever changes something that `stateOf`
 * reads has to stir the lane.
 */
import { type Clock, ClockWatch } from '../../base/clock.ts';
import { MOST_URGENT } from '../orders/holdable-order.ts';
import { Director } from './director.ts';
import type { Lane } from './lane.ts';

/** Lanes whose best pages differ by less than this in relevance (0–255) are equally urgent. */
const RELEVANCE_STEP = 16;
const STEPS = MOST_URGENT / RELEVANCE_STEP + 1;

export class ReadyLanes {
  readonly #clock: Clock;
  readonly #most: (lane: Lane) => number;
  readonly #director: Director;
  readonly #shared: boolean;
  readonly #stirred = new Set<Lane>();
  /** Lanes that may go, by the relevance of their best page. */
  readonly #aside = Array.from({ length: STEPS }, () => new Set<Lane>());
  /** Lanes in the director's queues, by server, and the highest step among them. */
  readonly #offered = new Map<number, Lane>();
  #step = 0;
  readonly #resting = new Set<Lane>();
  /** The first of these may go on at this time. */
  #restUntil = Number.POSITIVE_INFINITY;
  readonly #watch: ClockWatch;

  /** `most`: errands of a lane that may be under way at once; `shared`: lanes share the lists of their pages. */
  constructor(domains: ReadonlyMap<string, number>, clock: Clock, most: (lane: Lane) => number, shared = false) {
    this.#director = new Director(domains);
    this.#clock = clock;
    this.#watch = new ClockWatch(clock);
    this.#most = most;
    this.#shared = shared;
  }

  /** Something happened to the lane that may let it go: it is looked at with the next wake(). */
  stir(lane: Lane): void {
    this.#stirred.add(lane);
  }

  /**
   * Offers the lanes that may go now; in a focused crawl only the most relevant ones. Returns the urgency of those that are
   * offered, -1 = none is.
   */
  wake(): number {
    const now = this.#clock.now();
    this.#follow();
    if (now >= this.#restUntil) this.#rouse();
    for (const lane of this.#stirred) this.#place(lane, now);
    this.#stirred.clear();
    if (this.#offered.size === 0) this.#step = 0;
    const best = this.#aside.findLastIndex(lanes => lanes.size > 0);
    if (best < this.#step) return this.#urgency;
    this.#step = best;
    const lanes = [...this.#aside[best]!];
    this.#aside[best]!.clear();
    for (const lane of lanes) {
      // The lane may have changed since it was set aside.
      if (stepOf(lane) === best && this.#stateOf(lane, now) === 'ready') this.#hand(lane);
      else this.#place(lane, now);
    }
    return this.#urgency;
  }

  get #urgency(): number {
    return this.#offered.size > 0 ? this.#step : -1;
  }

  /** When somebody sets the clock, no server waits an hour longer, and none gets a request an hour early. */
  #follow(): void {
    const step = this.#watch.step();
    if (step === 0) return;
    for (const { server } of this.#resting) server.notBefore += step;
    this.#restUntil += step;
  }

  /** Takes the lane whose turn it is. */
  next(): Lane | undefined {
    const id = this.#director.next(this.#shared ? server => this.#offered.get(server)!.order.called : undefined);
    if (id === undefined) return undefined;
    const lane = this.#offered.get(id)!;
    this.#offered.delete(id);
    return lane;
  }

  /** Offers a lane again that has just had its turn, if it may go again at once. */
  offer(lane: Lane): void {
    if (this.#stateOf(lane, this.#clock.now()) === 'ready') this.#hand(lane);
  }

  #hand(lane: Lane): void {
    const { id } = lane.server;
    if (this.#director.offer(id, lane.topLevelDomain)) this.#offered.set(id, lane);
  }

  #place(lane: Lane, now: number): void {
    if (this.#offered.has(lane.server.id)) return;
    const state = this.#stateOf(lane, now);
    if (state === 'ready') this.#aside[stepOf(lane)]!.add(lane);
    if (state === 'resting') {
      this.#resting.add(lane);
      this.#restUntil = Math.min(this.#restUntil, lane.server.notBefore);
    }
  }

  /** Passes over all resting lanes whenever one may go on: few lanes rest, and they rest for minutes. */
  #rouse(): void {
    for (const lane of this.#resting) this.#stirred.add(lane);
    this.#resting.clear();
    this.#restUntil = Number.POSITIVE_INFINITY;
  }

  /** Still: something else has to happen to it first. */
  #stateOf(lane: Lane, now: number): 'ready' | 'resting' | 'still' {
    const { server, order, errands } = lane;
    if (order.size + lane.elsewhere === 0 || server.paused || errands >= this.#most(lane)) return 'still';
    return server.notBefore > now ? 'resting' : 'ready';
  }
}

function stepOf({ order }: Lane): number {
  return Math.floor(order.top / RELEVANCE_STEP);
}
