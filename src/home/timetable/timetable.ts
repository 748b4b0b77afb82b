/**
 * Looks at pages by the times that people set for them (src/revisit/timetable.ts), beside the budget of all others. Of each
 * rule the pages wait in one queue: all are looked at equally often, so that whoever was seen last is due last.
 *
 * It learns of visits from the ledger, as they are written there, and writes the due times of its pages, so that everybody
 * who reads the ledger knows when they are looked at.
 */
import { type Clock, DAY, HOUR } from '../../base/clock.ts';
import { nextLook, type TimedPages, timedFor } from '../../revisit/timetable.ts';
import { keyOf, type Pool, type PoolMember, type PoolPage } from '../partitions/pool.ts';
import type { Supply } from '../supply.ts';

/** Milliseconds between two looks into the ledger. */
const ASK_EVERY = 1000;
/** Visits that are read at once. */
const SLICE = 1000;
const ROLE_PAGE = 0;
/** It was let go: home sees to it that it is visited, and the visit says when it is due again. */
const UNDER_WAY = Number.POSITIVE_INFINITY;

interface WaitingLook {
  readonly key: number;
  readonly due: number;
}

interface TimedPage {
  readonly member: number;
  readonly page: number;
  readonly server: number;
  due: number;
}

/** The pages of one rule. */
interface Queue {
  /** By due time; entries of which the page has another due time by now do not count. */
  waiting: WaitingLook[];
  /** Looks that may be made now. */
  tokens: number;
}

export class Timetable {
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #ruleOf: (url: string) => TimedPages | undefined;
  readonly #queues: Map<TimedPages, Queue>;
  readonly #timed = new Map<number, TimedPage>();
  /** The last visit that was read of each partition. */
  readonly #read = new Map<number, number>();
  #asked: number;
  #written: number;

  constructor(pool: Pool, clock: Clock, rules: readonly TimedPages[]) {
    this.#pool = pool;
    this.#clock = clock;
    this.#ruleOf = timedFor(rules);
    this.#queues = new Map(rules.map(rule => [rule, { waiting: [], tokens: 1 }]));
    this.#asked = clock.ticks();
    this.#written = clock.ticks();
    for (const member of pool) this.#load(member);
  }

  /** Its times are set by a rule. */
  has(page: PoolPage): boolean {
    return this.#timed.has(keyOf(page));
  }

  /** Lets those go whose time has come. */
  fill(): void {
    const ticks = this.#clock.ticks();
    const passed = ticks - this.#asked;
    if (passed < ASK_EVERY) return;
    this.#asked = ticks;
    const members = new Map([...this.#pool].map(member => [member.id, member]));
    for (const member of members.values()) this.#learn(member);
    if (ticks - this.#written >= HOUR) this.#writeAll(members);
    for (const [rule, queue] of this.#queues) this.#give(rule, queue, passed, members);
  }

  /** The run is over: the ledger is to know when its last visits fall due again. */
  end(): void {
    for (const member of this.#pool) this.#learn(member);
  }

  #load(member: PoolMember): void {
    this.#read.set(member.id, member.ledger.visits.last);
    for (const { page, url, server, role, seen_time } of member.ledger.schedule.pages.all())
      if (role === ROLE_PAGE) this.#set(member, { page, url, server, seen: seen_time });
    for (const queue of this.#queues.values()) queue.waiting.sort((a, b) => a.due - b.due);
    this.#writeAll(new Map([[member.id, member]]));
  }

  #set(
    member: PoolMember,
    { page, url, server, seen }: { page: number; url: string; server: number; seen: number },
  ): void {
    const rule = this.#ruleOf(url);
    if (!rule) return;
    const key = keyOf({ member, page });
    const due = nextLook(rule, seen);
    this.#timed.set(key, { member: member.id, page, server, due });
    this.#queues.get(rule)!.waiting.push({ key, due });
  }

  /** Visits since it was last asked. A page that is gone or moved is left to the schedule, until it is back. */
  #learn(member: PoolMember): void {
    const { ledger, id } = member;
    if (!this.#read.has(id)) this.#load(member);
    for (let rows = ledger.visits.after(this.#read.get(id)!, SLICE); rows.length > 0; ) {
      for (const { page, url, time, outcome } of rows) {
        if (outcome === 'fetched' || outcome === 'same' || outcome === 'failed') {
          const server = ledger.pages.get(page)!.server;
          this.#set(member, { page, url, server, seen: time });
          this.#write(member, page);
        } else this.#timed.delete(keyOf({ member, page }));
      }
      this.#read.set(id, rows.at(-1)!.id);
      rows = rows.length < SLICE ? [] : ledger.visits.after(this.#read.get(id)!, SLICE);
    }
  }

  #give(rule: TimedPages, queue: Queue, passed: number, members: ReadonlyMap<number, PoolMember>): void {
    const { perDay = Number.POSITIVE_INFINITY } = rule;
    // What was not used may be saved up for an hour.
    queue.tokens = Math.min(queue.tokens + (perDay * passed) / DAY, Math.max(1, perDay / 24));
    const now = this.#clock.now();
    let taken = 0;
    for (const { key, due } of queue.waiting) {
      if (due > now || queue.tokens < 1) break;
      taken++;
      const timed = this.#timed.get(key);
      const member = timed?.due === due ? members.get(timed.member) : undefined;
      if (!timed || !member) continue;
      queue.tokens--;
      timed.due = UNDER_WAY;
      member.frontier.again([{ page: timed.page, server: timed.server }]);
    }
    if (taken > 0) queue.waiting = queue.waiting.slice(taken);
  }

  #write(member: PoolMember, page: number): void {
    const timed = this.#timed.get(keyOf({ member, page }));
    if (!timed || timed.due === UNDER_WAY) return;
    member.ledger.begin();
    member.ledger.schedule.due.set(page, timed.due);
  }

  /** Whenever the schedule may have computed all due times anew. */
  #writeAll(members: ReadonlyMap<number, PoolMember>): void {
    this.#written = this.#clock.ticks();
    for (const { member, page } of this.#timed.values()) {
      const its = members.get(member);
      if (its) this.#write(its, page);
    }
  }
}

/** What the times say comes first, and what they do not speak of after it. */
export function withTimetable(supply: Supply, timetable: Timetable | undefined): Supply {
  if (!timetable) return supply;
  return {
    get left() {
      return supply.left;
    },
    fill() {
      timetable.fill();
      supply.fill();
    },
    worthWaiting: () => supply.worthWaiting(),
  };
}
