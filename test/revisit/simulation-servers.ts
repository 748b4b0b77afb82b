/**
 * The same with servers: of different sizes, each with a pace, some of which send notices of changes. Here changes are
 * drawn one by one, since a notice tells of one, so the freshness is that of the draws.
 */

import { DAY } from '../../src/base/clock.ts';
import { Heap } from './heap.ts';
import { Scheduler } from './scheduler.ts';
import { type Random, type Result, randomFrom, type Trial } from './simulation.ts';

export interface Web extends Trial {
  /** Server of each page. */
  readonly servers: readonly number[];
  /** Days between two visits to the same server; 0 = no limit. */
  readonly pace: number;
  /** Servers below this number send notices. */
  readonly telling: number;
  /** Share of changes that are told, and of tellings that are true. */
  readonly recall: number;
  readonly precision: number;
}

export function simulateServers(web: Web): Result & { readonly scheduler: Scheduler } {
  const count = web.people.rates.length;
  const scheduler = new Scheduler({ plan: web.plan, budget: { pages: web.share * count } });
  for (const [page, server] of web.servers.entries()) {
    const number = scheduler.server(`http://s${server}.example`, web.pace * DAY);
    scheduler.add({ server: number, last: 0, weight: web.people.weights[page]! });
  }
  const truth = new Truth(web);
  const step = 1 / (web.share * count);
  let visits = 0;
  for (let tick = 1; tick * step < web.days; tick++) {
    const day = tick * step;
    truth.tell(day, (page, time) => scheduler.ping(page, time * DAY));
    const page = scheduler.next(day * DAY);
    if (page < 0) continue;
    visits++;
    scheduler.done(page, day * DAY, { changed: truth.visit(page, day) });
  }
  return { freshness: truth.freshness(), visits, scheduler };
}

class Truth {
  readonly #web: Web;
  readonly #random: Random;
  readonly #last: Float64Array;
  /** Day of the first change since the last visit. */
  readonly #stale: Float64Array;
  readonly #next: { keys: Float64Array; places: Int32Array };
  readonly #notices: Heap;
  #fresh = 0;

  constructor(web: Web) {
    const count = web.people.rates.length;
    this.#web = web;
    this.#random = randomFrom(web.seed + 104_729);
    this.#last = new Float64Array(count);
    this.#stale = new Float64Array(count);
    this.#next = { keys: new Float64Array(count), places: new Int32Array(count).fill(-1) };
    this.#notices = new Heap(this.#next);
    for (let page = 0; page < count; page++) {
      this.#stale[page] = this.#after(0, this.#hidden(page));
      if (!this.#tells(page)) continue;
      this.#next.keys[page] = this.#after(0, this.#told(page));
      this.#notices.push(page);
    }
  }

  tell(day: number, ping: (page: number, day: number) => void): void {
    for (let page = this.#notices.top; page >= 0 && this.#next.keys[page]! <= day; page = this.#notices.top) {
      const time = this.#next.keys[page]!;
      if (this.#random() < this.#web.precision) this.#stale[page] = Math.min(this.#stale[page]!, time);
      this.#next.keys[page] = this.#after(time, this.#told(page));
      this.#notices.moved(page);
      ping(page, time);
    }
  }

  visit(page: number, day: number): boolean {
    const stale = this.#stale[page]!;
    const start = Math.max(this.#last[page]!, this.#web.from);
    this.#fresh += this.#web.people.weights[page]! * Math.max(0, Math.min(day, stale) - start);
    this.#last[page] = day;
    this.#stale[page] = this.#after(day, this.#hidden(page));
    return stale < day;
  }

  freshness(): number {
    const { weights } = this.#web.people;
    for (let page = 0; page < weights.length; page++) this.visit(page, this.#web.days);
    return this.#fresh / (this.#web.days - this.#web.from) / weights.reduce((sum, weight) => sum + weight, 0);
  }

  #after(day: number, rate: number): number {
    return day - Math.log(1 - this.#random()) / rate;
  }

  #tells(page: number): boolean {
    return this.#web.servers[page]! < this.#web.telling && this.#web.recall > 0;
  }

  #hidden(page: number): number {
    return this.#web.people.rates[page]! * (this.#tells(page) ? 1 - this.#web.recall : 1);
  }

  #told(page: number): number {
    return (this.#web.people.rates[page]! * this.#web.recall) / this.#web.precision;
  }
}
