/**
 * One round of refresh. It visits the pages that are due or come next, within the budget that has gathered since the last
 * round (or the crawl), and at least within that of one day: whoever asks for a round gets one. When a round goes on that
 * an earlier run left unfinished, the visits of that run count as done and as spent.
 *
 * Pages are given out in stages: sitemaps, because they say which pages have changed; pages drawn by lot; failures that are
 * due for a retry; then, slice by slice, pages that sites named, new pages, and pages that are due, until the budget or the
 * pages are used up (`dry`). Images, dead links, redirects and second addresses come on top, in proportion to the pages.
 */
import { type Clock, DAY } from '../../base/clock.ts';
import type { Images } from '../images/images.ts';
import { keyOf, type Pool, type PoolMember, type PoolPage } from '../partitions/pool.ts';
import type { Round } from '../round.ts';
import { asideOf, type Grant, retriesBy, roomFor, type Spending, type Supply, type SupplyParts } from '../supply.ts';
import { KeptServers } from './kept-servers.ts';
import { aimed, grantsOf, type RoundTerms, SMALL_SLICE, sliceOf, stepOf, termsOf } from './round-terms.ts';
import { ToldLooks } from './told-looks.ts';

/** Extra rows to read: pages that this round has given out may look due again. */
const BESIDES = 2048;
/** Milliseconds that a round waits for sitemaps before it goes on without them, and for a server that asked for a pause. */
const SITEMAP_PATIENCE = 30_000;
const PATIENCE = 60_000;
/** Share of the budget for retries: a server that stays away must not keep the pages of others from their turn. */
const RETRIES = 1 / 4;

export class RefreshSupply implements Supply {
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #images: Images | undefined;
  readonly #begun: number;
  readonly #terms: RoundTerms;
  /** What may be spent; `#spent` counts the bytes. */
  readonly #pages: Grant;
  readonly #wire: Grant;
  readonly #spent: () => number;
  readonly #slice: number;
  /** When this run began with the round: milliseconds since 1970, and ticks. */
  readonly #now: number;
  readonly #began: number;
  readonly #aside: (visits: number) => void;
  readonly #lots: PoolPage[];
  readonly #retries: PoolPage[];
  readonly #named: ToldLooks;
  /** Pages given out because sites named them, on top of the plan. */
  #onTop = 0;
  readonly #kept: KeptServers;
  /** New pages that may be let in, and those that were. */
  readonly #newPages: number;
  #admitted = 0;
  #sitemapsRead = false;
  /** The last slice was empty. */
  #dry = false;

  constructor(parts: SupplyParts, round: Round, allowance: Spending, spent: () => number) {
    const { pool, clock, images, newPages = Number.POSITIVE_INFINITY } = parts;
    this.#pool = pool;
    this.#clock = clock;
    this.#images = images;
    this.#newPages = newPages;
    this.#begun = round.begun;
    this.#spent = spent;
    this.#now = clock.now();
    this.#began = clock.ticks();
    this.#terms = termsOf(parts, round, allowance);
    const { pages, wire } = grantsOf(parts, this.#terms, allowance, spent);
    this.#pages = pages;
    this.#wire = wire;
    this.#slice = sliceOf(pool, this.#terms);
    this.#kept = new KeptServers(pool, this.#now, Math.max(this.#slice, stepOf(pool)));
    const { days, most } = this.#terms;
    const soon = { time: this.#now + (days * DAY) / 2, seenBefore: round.begun };
    pool.again(pool.due('sitemaps', soon, most));
    this.#aside = asideOf(pool, some => pool.due('aside', soon, some));
    this.#lots = pool.lots(most, round.begun);
    this.#retries = retriesBy(pool, this.#now, Math.ceil(most * RETRIES));
    this.#named = new ToldLooks(parts);
  }

  /** Pages that are due, but beyond the budget of this round; none where the aim is a freshness. */
  get left(): number {
    return aimed(this.#pool) ? 0 : this.#pool.countDue(this.#now);
  }

  fill(): void {
    this.#sitemapsRead ||= this.#pool.quiet || this.#clock.ticks() - this.#began > SITEMAP_PATIENCE;
    if (this.#sitemapsRead) {
      this.#drawLots();
      this.#tryAgain();
    }
    while (this.#mayTakeMore()) this.#takeSlice();
    const { given, horizon } = this.#terms;
    if (this.#room > 0) this.#aside(given.size);
    if (this.#room > 0) this.#images?.fill(given.size, { time: horizon, seenBefore: this.#begun });
  }

  worthWaiting(): boolean {
    const pool = this.#pool;
    if (!this.#sitemapsRead || this.#images?.busy || pool.wake <= this.#clock.now() + PATIENCE) return true;
    if (!pool.quiet) return false;
    if (this.#awaitsGrant) return this.#due(1).length > 0 || (pool.newcomers > 0 && this.#admitted < this.#newPages);
    if (this.#room <= 0) return false;
    // The last visits may have moved other pages forward.
    const full = this.#pagesLeft <= 0 || this.#admitted >= this.#newPages;
    const none = this.#next().length + this.#nextNamed().length === 0;
    this.#dry = none && (pool.newcomers === 0 || full);
    return !this.#dry;
  }

  /** Pages that the budget still allows. */
  get #pagesLeft(): number {
    return this.#pages.most - this.#terms.given.size + this.#onTop;
  }

  /** Visits that the bytes still allow. */
  get #room(): number {
    return roomFor(this.#pool, this.#wire.most - this.#spent(), this.#spent());
  }

  /** The grant is used up, but other machines may still return what they do not need. */
  get #awaitsGrant(): boolean {
    return (this.#pagesLeft <= 0 && !this.#pages.final) || (this.#room <= 0 && !this.#wire.final);
  }

  /** The one question before each slice. At most a slice waits in the lanes, because visits teach about the rest. */
  #mayTakeMore(): boolean {
    if (!this.#sitemapsRead || this.#dry) return false;
    const waiting = this.#slice === SMALL_SLICE ? this.#pool.outstanding : this.#pool.pagesWaiting;
    return waiting < this.#slice && this.#room > 0 && !this.#awaitsGrant;
  }

  #takeSlice(): void {
    const named = this.#takeNamed();
    // New pages take at most half of the budget, unless the pages that are due do not use up the rest.
    const fresh = this.#admit(Math.min(Math.ceil(this.#pages.most / 2) - this.#admitted, Math.ceil(this.#room / 2)));
    const due = this.#next();
    this.#give(due);
    this.#pool.again(due);
    this.#dry = named + fresh + due.length === 0 && this.#admit(this.#terms.most) === 0;
  }

  /** Gives out pages that sites named, known ones and new ones; returns how many. */
  #takeNamed(): number {
    const fresh = this.#named.admit(Math.min(this.#slice, this.#newPages - this.#admitted, this.#room));
    this.#admitted += fresh.length;
    const named = this.#nextNamed();
    this.#give([...fresh, ...named]);
    this.#pool.again(named);
    this.#onTop += fresh.length + named.length;
    return fresh.length + named.length;
  }

  #nextNamed(): PoolPage[] {
    const { given } = this.#terms;
    const named = this.#named.next(this.#begun, this.#slice + this.#pool.outstanding + BESIDES);
    return named.filter(page => !given.has(keyOf(page))).slice(0, Math.max(0, Math.min(this.#slice, this.#room)));
  }

  /** Lets new pages in; returns how many. */
  #admit(wanted: number): number {
    const most = Math.min(wanted, this.#slice, this.#pagesLeft, this.#newPages - this.#admitted, this.#room);
    const pages = this.#pool.admit(Math.max(0, most));
    this.#give(pages);
    this.#admitted += pages.length;
    return pages.length;
  }

  #next(): PoolPage[] {
    return this.#due(Math.min(this.#slice, this.#pagesLeft, this.#room));
  }

  /** The pages that come next. The ledger is asked each time, because visits move other pages forward. */
  #due(most: number): PoolPage[] {
    const { given, horizon } = this.#terms;
    for (const member of this.#pool) relearn(member, this.#now);
    if (most <= 0) return [];
    // Pages that wait or are under way still look due, and so do those of servers that need no more checks: skip them.
    let asked = this.#slice + this.#pool.outstanding + BESIDES;
    while (true) {
      const due = this.#pool.due(this.#pool.kind, { time: horizon, seenBefore: this.#begun }, asked);
      const next = this.#kept.without(due.filter(page => !given.has(keyOf(page))));
      if (next.length > 0 || due.length < asked) return next.slice(0, most);
      asked *= 4;
    }
  }

  /** Sends the pages that were drawn by lot. */
  #drawLots(): void {
    const lots = this.#lots.splice(0, Math.max(0, this.#pagesLeft));
    const drawn = lots.filter(page => !this.#terms.given.has(keyOf(page)));
    this.#give(drawn);
    for (const { member, page } of drawn) member.frontier.schedule.audits.add(page);
    this.#pool.again(drawn);
  }

  /** A page that failed has no due time until a visit succeeds; without this no later round would check it. */
  #tryAgain(): void {
    const failures = this.#retries.splice(0).filter(page => !this.#terms.given.has(keyOf(page)));
    const most = Math.min(this.#pagesLeft, this.#room, Math.ceil(this.#terms.most * RETRIES));
    const some = failures.slice(0, Math.max(0, most));
    this.#give(some);
    this.#pool.again(some);
  }

  #give(pages: readonly PoolPage[]): void {
    for (const page of pages) this.#terms.given.add(keyOf(page));
  }
}

/**
 * What a wanted freshness takes is a guess until visits have shown how often pages change. A first round learns it from
 * some hundreds, and leaves the rest alone where it would have asked for all.
 */
function relearn({ ledger, frontier }: PoolMember, now: number): void {
  const { schedule } = frontier;
  if (schedule.settings.freshness === undefined || !schedule.outgrown) return;
  ledger.begin();
  schedule.reschedule(now);
}
