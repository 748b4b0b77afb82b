/**
 * Goes on for ever: visits are let go at the pace of the budget, most overdue first. Its stages, each time it is asked: retries,
 * what the budget allows by now, the schedule once a day, what sites named, new pages and those that are due in turns, and on
 * top what stands aside and images, by how many pages were given out.
 */
import { type Clock, DAY } from '../../base/clock.ts';
import { LEAST_INTERVAL } from '../../revisit/policy.ts';
import type { Images } from '../images/images.ts';
import { keyOf, type Pool, type PoolMember, type PoolPage } from '../partitions/pool.ts';
import {
  ASK_EVERY,
  asideOf,
  type Grant,
  retriesOf,
  roomFor,
  SLICE,
  type Spending,
  type Supply,
  type SupplyParts,
} from '../supply.ts';
import { ToldLooks } from './told-looks.ts';

export class WatchSupply implements Supply {
  readonly left = 0;
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #images: Images | undefined;
  readonly #timed: (page: PoolPage) => boolean;
  readonly #retries: () => void;
  readonly #aside: (visits: number) => void;
  readonly #allowance: () => Spending;
  readonly #spent: () => number;
  /** What all machines may spend together; undefined = this machine has a budget of its own. */
  readonly #shared: { readonly pages: Grant; readonly bytes: Grant } | undefined;
  #tokens: Tokens;
  /** Ticks when the budget was last counted, and when the schedule was last computed. */
  #asked: number;
  #scheduled: number;
  /** Pages that were given out and still look due. */
  #given = new Set<number>();
  readonly #named: ToldLooks;
  /** The same of pages that were given out because sites named them. */
  #givenNamed = new Set<number>();
  #newPages: number;
  /** New pages and pages that are due take turns, so that neither starves the other. */
  #newFirst = true;
  /** Pages given out in all. */
  #visits = 0;

  /** `allowance`: what a day may cost, by what is known now; `spent`: bytes so far. */
  constructor(parts: SupplyParts, allowance: () => Spending, spent: () => number) {
    const { pool, clock, images, purse } = parts;
    this.#pool = pool;
    this.#clock = clock;
    this.#images = images;
    this.#timed = parts.timed ?? (() => false);
    this.#named = new ToldLooks(parts);
    this.#newPages = parts.newPages ?? Number.POSITIVE_INFINITY;
    this.#allowance = allowance;
    this.#spent = spent;
    this.#retries = retriesOf(parts);
    this.#aside = asideOf(pool, most => pool.due('aside', { time: clock.now() }, most));
    this.#tokens = { pages: 0, bytes: 0, seen: spent() };
    this.#asked = clock.ticks();
    this.#scheduled = this.#asked;
    const { pages, bytes } = allowance();
    this.#shared = purse && {
      pages: Number.isFinite(pages) ? purse.pages(() => this.#visits, pages) : UNLIMITED,
      bytes: Number.isFinite(bytes) ? purse.bytes(spent, bytes) : UNLIMITED,
    };
  }

  fill(): void {
    this.#retries();
    const ticks = this.#clock.ticks();
    if (ticks - this.#asked < ASK_EVERY) return;
    this.#earn(ticks);
    this.#rescheduleDaily(ticks);
    this.#visits += this.#giveNamed();
    const room = this.#room;
    if (room < 1) return;
    const admitted = this.#admit(room);
    this.#visits += admitted + this.#giveDue(room - admitted);
    this.#aside(this.#visits);
    this.#images?.fill(this.#visits, { time: this.#clock.now() });
  }

  worthWaiting(): boolean {
    return true;
  }

  /** Adds what the budget allows since the last call. */
  #earn(ticks: number): void {
    const days = (ticks - this.#asked) / DAY;
    this.#asked = ticks;
    const spent = this.#spent();
    this.#tokens = this.#shared
      ? { pages: this.#shared.pages.most - this.#visits, bytes: this.#shared.bytes.most - spent, seen: spent }
      : grown(this.#tokens, this.#allowance(), days, spent);
  }

  #rescheduleDaily(ticks: number): void {
    if (ticks - this.#scheduled <= DAY) return;
    this.#scheduled = ticks;
    for (const member of this.#pool) reschedule(member, this.#clock.now());
  }

  /**
   * Gives out pages that sites named, known ones and new ones, beside the plan, but no page again within the shortest
   * interval; returns how many.
   */
  #giveNamed(): number {
    const rested = this.#clock.now() - LEAST_INTERVAL * DAY;
    const due = this.#named.next(rested, SLICE + this.#givenNamed.size);
    const isFresh = (page: PoolPage) => !this.#isGiven(page) && !this.#timed(page);
    const fresh = due.filter(isFresh).slice(0, SLICE);
    this.#givenNamed = new Set([...due.map(keyOf).filter(key => this.#givenNamed.has(key)), ...fresh.map(keyOf)]);
    this.#pool.again(fresh);
    const admitted = this.#named.admit(Math.min(SLICE, this.#newPages)).length;
    this.#newPages -= admitted;
    return fresh.length + admitted;
  }

  #isGiven(page: PoolPage): boolean {
    return this.#given.has(keyOf(page)) || this.#givenNamed.has(keyOf(page));
  }

  /** Pages that may be given out at once. */
  get #room(): number {
    const { pages, bytes } = this.#tokens;
    return Math.floor(Math.min(SLICE * 16, pages, roomFor(this.#pool, bytes, this.#spent())));
  }

  /** Lets new pages in, if it is their turn; returns how many. */
  #admit(room: number): number {
    const theirTurn = this.#newFirst;
    this.#newFirst = !theirTurn;
    const admitted = theirTurn ? this.#pool.admit(Math.min(room, this.#newPages)).length : 0;
    this.#newPages -= admitted;
    this.#tokens.pages -= admitted;
    return admitted;
  }

  /** Gives out pages that are due; returns how many. */
  #giveDue(room: number): number {
    const until = { time: this.#clock.now() };
    const isFresh = (page: PoolPage) => !this.#isGiven(page) && !this.#timed(page);
    // Pages on their way still look due, and so may any number of pages that a timetable checks: skip them.
    let most = room + this.#given.size;
    let due: PoolPage[];
    let fresh: PoolPage[];
    do {
      due = [...this.#pool.due('sitemaps', until, most), ...this.#pool.due(this.#pool.kind, until, most)];
      fresh = due.filter(isFresh).slice(0, room);
      most *= 4;
    } while (fresh.length < room && due.length >= most / 4);
    this.#given = new Set([...due.map(keyOf).filter(key => this.#given.has(key)), ...fresh.map(keyOf)]);
    this.#tokens.pages -= fresh.length;
    this.#pool.again(fresh);
    return fresh.length;
  }
}

const UNLIMITED: Grant = { most: Number.POSITIVE_INFINITY, final: true };

/** Computes the schedule anew, once a day. */
function reschedule({ ledger, frontier }: PoolMember, now: number): void {
  ledger.begin();
  frontier.schedule.reschedule(now);
  frontier.schedule.noteFreshness(now);
}

interface Tokens {
  pages: number;
  bytes: number;
  /** Bytes spent when they were last counted. */
  seen: number;
}

/** Up to an hour of unused budget is saved, so that a busy moment need not wait. */
function grown(tokens: Tokens, { pages, bytes }: Spending, days: number, spent: number): Tokens {
  return {
    pages: Math.min(tokens.pages + pages * days, Math.max(1, pages / 24)),
    bytes: Math.min(tokens.bytes + bytes * days - (spent - tokens.seen), Math.max(1, bytes / 24)),
    seen: spent,
  };
}
