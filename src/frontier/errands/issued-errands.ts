/**
 * Errands, from issue to end. next() issues one: pages of the lane whose turn it is. Their visits come back through learn(),
 * and finish() ends it: what it did not visit waits again. A machine that cannot reach a page says so, and another one tries.
 *
 * Invariant: a page is in one errand at most, and a visit counts only for the errand that asked for it.
 */
import type { Clock } from '../../base/clock.ts';
import type { Errand } from '../../errand/errand.ts';
import type { ServerNews } from '../../errand/parcel.ts';
import type { Visit } from '../../errand/visit.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Admission } from '../admission/admission.ts';
import type { Brought } from '../brought.ts';
import type { ImageQueue } from '../image-queue.ts';
import { type Lane, shareOf } from '../lanes/lane.ts';
import type { Lanes } from '../lanes/lanes.ts';
import type { ReadyLanes } from '../lanes/ready-lanes.ts';
import type { Learned, Learning } from '../learning.ts';
import { clockOf, type FrontierOptions } from '../options.ts';
import type { Schedule } from '../schedule/schedule.ts';
import { learnNews } from '../server-news.ts';
import { DELEGATED, type Delegation, delegable, here, type Planner, placeOf, seenOn, sizeOf } from './delegation.ts';
import { type Anyone, type Elsewhere, isOwnReach, keptAway } from './elsewhere.ts';
import { errandTerms, hintOf, termsOf } from './errand-terms.ts';
import type { PageBudget } from './page-budget.ts';
import { asked, errandName, type Issued, type SentErrand, stillOut, type UnderWay, wantsPage } from './under-way.ts';

interface IssuedErrandsParts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly lanes: Lanes;
  readonly readyLanes: ReadyLanes;
  readonly underWay: Map<string, UnderWay>;
  readonly elsewhere: Elsewhere;
  readonly admission: Admission;
  readonly schedule: Schedule;
  readonly learning: Learning;
  readonly imageQueue: ImageQueue | undefined;
  readonly budget: PageBudget;
  /** As they are now: a run may change them. */
  readonly options: () => FrontierOptions;
}

export class IssuedErrands {
  readonly #parts: IssuedErrandsParts;
  readonly #budget: PageBudget;
  /** Pages of errands that an earlier run sent out. */
  readonly #resumed = new Set<number>();
  #issued = 0;
  #settled = 0;

  constructor(parts: IssuedErrandsParts) {
    this.#parts = parts;
    this.#budget = parts.budget;
  }

  get #options(): FrontierOptions {
    return this.#parts.options();
  }

  /** An errand of an earlier run has the page still. */
  hasStill(page: number): boolean {
    return this.#resumed.has(page);
  }

  /** Offers the lanes that may be visited now to next(); returns their urgency, -1 = there are none. */
  wake(): number {
    return this.#parts.readyLanes.wake();
  }

  /** The next errand that may leave now; undefined = none may. `plan` says where an errand of a server would go. */
  next<D extends Delegation = Delegation>(plan: Planner<D> = here as Planner<D>): Issued<D> | undefined {
    for (;;) {
      const budget = this.#budget.left;
      const lane = budget > 0 ? this.#parts.readyLanes.next() : undefined;
      if (!lane) return undefined;
      const place = { ...placeOf(lane, this.#options), away: keptAway(lane, this.#parts.clock.now()) };
      const not = this.#parts.elsewhere.barred(lane);
      const away = not && plan({ ...place, not });
      const planned = away ?? (lane.order.size > 0 ? plan(place) : undefined);
      if (!planned) {
        this.#parts.readyLanes.stir(lane); // no outpost can take it now: the next turn offers it again
        continue;
      }
      const delegation = { ...planned, follow: !away && planned.follow && delegable(this.#options, lane) };
      const size = Math.min(budget, sizeOf(delegation, lane, this.#options));
      const pages = away
        ? this.#parts.elsewhere.take(lane, away.machine, size)
        : this.#wanted(lane, lane.order.take(size));
      if (pages.length === 0) {
        if (lane.order.size + lane.elsewhere > 0) this.#parts.readyLanes.offer(lane);
        continue;
      }
      const issued = this.#issue(lane, pages, delegation, place.spread > 1);
      this.#parts.readyLanes.offer(lane);
      return { ...issued, planned };
    }
  }

  /** Leaves out pages whose shape has turned out to be a trap while they waited. */
  #wanted(lane: Lane, ids: number[]): number[] {
    if (!lane.shapes.refusing) return ids;
    return ids.filter(id => this.#parts.ledger.pages.known(id) !== undefined || this.#parts.admission.judgeWaiting(id));
  }

  /** False = nobody asked for this visit, so nothing of it is kept. */
  wants(errand: string, { url }: Pick<Visit, 'url'>): boolean {
    const underWay = this.#parts.underWay.get(errand);
    return underWay !== undefined && wantsPage(underWay, url, this.#parts.admission.find(url));
  }

  /** Learns from a visit, if its errand wants it. `brought`: what home has done with it. */
  learn(errand: string, told: Visit, brought: Brought): Learned | undefined {
    const underWay = this.#parts.underWay.get(errand);
    const id = this.#parts.admission.find(told.url);
    if (!underWay || !wantsPage(underWay, told.url, id)) return undefined;
    const now = this.#parts.clock.now();
    const visit = told.time > now ? { ...told, time: now } : told; // another machine's clock is ahead of ours
    const { before, counted } = this.#back(underWay, id);
    this.#parts.elsewhere.known(id);
    const seen = visit.outcome === 'fetched' || visit.outcome === 'same';
    if (counted) seen ? this.#settled++ : this.#budget.issued--;
    const learned = this.#parts.learning.learn({ id, lane: underWay.lane, visit, before, ...brought });
    this.#parts.imageQueue?.visited(id, visit);
    this.#parts.readyLanes.stir(underWay.lane);
    return learned;
  }

  /** A machine says that it cannot reach a page. True = another machine shall try, and nothing is learned. */
  sendElsewhere(errand: string, visit: Visit, from: { machine: string; outpost: string }, anyone: Anyone): boolean {
    const underWay = this.#parts.underWay.get(errand);
    const id = this.#parts.admission.find(visit.url);
    if (!underWay || !isOwnReach(visit)) return false;
    const { lane } = underWay;
    const page = { id, lane, visit, outpost: from.outpost };
    if (!anyone(lane.server.origin, this.#parts.elsewhere.refused(page, from.machine, this.#parts.clock.now())))
      return false;
    const { up, down, cause } = visit.cost;
    this.#parts.ledger.servers.account.add(visit.time, lane.server.id, cause, { spent: up + down });
    if (this.#back(underWay, id).counted) this.#budget.issued--;
    this.#parts.elsewhere.add(page);
    this.#parts.readyLanes.stir(lane);
    return true;
  }

  /** Learns what machines said about pages that no machine is left to try; `write` is called before each. */
  settleUnreached(anyone: Anyone, write: () => void): void {
    for (const page of this.#parts.elsewhere.hopeless(anyone)) {
      write();
      this.#parts.learning.learn({ ...page, before: this.#parts.ledger.pages.known(page.id) });
    }
  }

  #back(underWay: UnderWay, id: number): SentErrand {
    const sent = underWay.pages.get(id) ?? this.#followed(underWay, id);
    underWay.pages.delete(id);
    this.#resumed.delete(id);
    return sent;
  }

  /** A page that the outpost found by itself. */
  #followed(underWay: UnderWay, id: number): SentErrand {
    underWay.lane.order.visited(id);
    if (underWay.reserved > 0) underWay.reserved--;
    else this.#budget.issued++;
    return { before: this.#parts.ledger.pages.known(id), counted: true };
  }

  /** Learns what a crawler reports about a server. `machine`: who reports, empty = this machine. */
  news(news: ServerNews, machine = ''): void {
    const lane = this.#parts.lanes.of(news.origin);
    this.#parts.readyLanes.stir(lane);
    const time = this.#parts.clock.now();
    const clock = clockOf(this.#options.mode);
    learnNews(this.#parts.ledger, lane, news, { machine, now: time, clock });
    const source = { page: 0, depth: 0, hops: 0, time, nofollow: false };
    for (const url of news.sitemaps) this.#parts.admission.one(url, source, { role: 1 });
  }

  /** Ends an errand; pages that it did not visit wait again. */
  finish(errand: string): void {
    const underWay = this.#parts.underWay.get(errand);
    if (!underWay) return;
    this.#parts.underWay.delete(errand);
    underWay.lane.errands--;
    this.#parts.readyLanes.stir(underWay.lane);
    this.#budget.issued -= underWay.reserved;
    if (underWay.delegated) underWay.lane.order.release();
    for (const [id, { counted }] of underWay.pages) {
      if (counted) this.#budget.issued--;
      this.#resumed.delete(id);
      const page = { ...this.#parts.ledger.pages.get(id)!, page: id };
      underWay.lane.order.add(id, hintOf(this.#parts.ledger, this.#options.order, page));
    }
  }

  get full(): boolean {
    return this.#budget.full;
  }

  get settled(): number {
    return this.#settled;
  }

  #issue(lane: Lane, ids: number[], delegation: Delegation, spread: boolean): Omit<Issued, 'planned'> {
    const { connections, outposts, partition } = this.#options;
    const { pages, known, counted } = asked(ids, this.#parts.ledger, this.#parts.schedule);
    const now = this.#parts.clock.now();
    const id = errandName(now, this.#issued++, partition?.id);
    const { follow, among = outposts } = delegation;
    // At most half of what is left, so that other servers need not wait until this one has used it up.
    const reserved = follow ? Math.min(DELEGATED, Math.floor((this.#budget.left - counted) / 2)) : 0;
    this.#parts.underWay.set(id, { lane, pages, delegated: follow, reserved });
    this.#budget.issued += counted + reserved;
    lane.errands++;
    if (follow) lane.order.hold();
    const alone = follow || !spread;
    const shared = alone ? connections : shareOf(connections, among);
    const server = termsOf(lane, this.#options, shared, delegation.machine);
    const seen = follow ? seenOn(this.#parts.ledger, lane, new Set(ids)) : undefined;
    const errand = { id, ...errandTerms(this.#options, delegation, now), server, pages: known, ...(seen && { seen }) };
    const limits = { ...errand.limits, pages: known.length + reserved };
    return { errand: { ...errand, limits }, address: lane.server.address, spread: !alone };
  }

  /** An outpost still works on an errand of an earlier run, which left at `issued`: nobody else may visit its pages. */
  resume(errand: Errand, issued: number): void {
    const lane = this.#parts.lanes.of(errand.server.origin);
    const delegated = errand.limits.follow > 0;
    const pages = stillOut(errand, issued, this.#parts.ledger, url => this.#parts.admission.find(url));
    for (const id of pages.keys()) this.#resumed.add(id);
    this.#parts.underWay.set(errand.id, { lane, pages, delegated, reserved: 0 });
    for (const { counted } of pages.values()) if (counted) this.#budget.issued++;
    lane.errands++;
    if (delegated) lane.order.hold();
  }
}
