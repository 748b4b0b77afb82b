/**
 * The frontier decides which pages are visited, and in which order, and learns from the visits. Here is the life of a page: the
 * admission takes its URL in, and it waits in the lane of its server. The director picks the lane, the lane's order picks the
 * page, and it leaves with others in an errand. Its visit comes back through learn(); the links found on it go to the
 * admission. Later the schedule wants it checked, and again() puts it back into its lane.
 *
 * Invariants: a page is in an order, or under way in exactly one errand, or settled in the ledger, never in two of these.
 * After a restart every page that is not settled is found again. The frontier never fetches and never archives.
 */
import type { Clock } from '../base/clock.ts';
import type { Errand } from '../errand/errand.ts';
import type { ServerNews } from '../errand/parcel.ts';
import type { Visit } from '../errand/visit.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { roles } from '../ledger/pages/pages.ts';
import { Admission } from './admission/admission.ts';
import { outsideOf, takeIn } from './admission/crawl-bounds.ts';
import { Neighbours } from './admission/neighbours.ts';
import { withDomains } from './admission/new-link.ts';
import { doubtful } from './admission/robots-changed.ts';
import { changedRules, forgetRules, stillPending } from './admission/rules.ts';
import { takeSeeds } from './admission/seeds.ts';
import { Backlog } from './backlog.ts';
import type { Brought } from './brought.ts';
import { DELEGATED, type Delegation, delegable, here, type Planner, placeOf, seenOn, sizeOf } from './delegation.ts';
import { type Anyone, Elsewhere, isOwnReach, keptAway } from './elsewhere.ts';
import { errandTerms, hintOf, termsOf } from './errand-terms.ts';
import { ImageQueue } from './image-queue.ts';
import { type Lane, mostErrands, shareOf } from './lanes/lane.ts';
import { Lanes } from './lanes/lanes.ts';
import { ReadyLanes } from './lanes/ready-lanes.ts';
import { type Learned, Learning } from './learning.ts';
import { MemoryFile } from './memory-file.ts';
import type { FrontierOptions, Reading } from './options.ts';
import { Strays } from './orders/focused.ts';
import { PageQueue } from './orders/page-queue.ts';
import { PageBudget } from './page-budget.ts';
import { repairClock } from './schedule/clock-repair.ts';
import { Schedule } from './schedule/schedule.ts';
import { learnNews } from './server-news.ts';
import { asked, errandName, type Issued, type SentErrand, stillOut, type UnderWay, wantsPage } from './under-way.ts';

export type { FrontierOptions } from './options.ts';

export class Frontier {
  readonly admission: Admission;
  readonly schedule: Schedule;
  readonly backlog: Backlog;
  /** Only where images are watched. */
  readonly imageQueue: ImageQueue | undefined;
  readonly #ledger: Ledger;
  #options: FrontierOptions;
  readonly #clock: Clock;
  readonly #lanes: Lanes;
  readonly #readyLanes: ReadyLanes;
  readonly #underWay = new Map<string, UnderWay>();
  readonly learning: Learning;
  readonly #elsewhere = new Elsewhere();
  /** New pages that wait for a budget; undefined in a run that has none for them. */
  readonly #newcomers: PageQueue | undefined;
  /** Pages of errands that an earlier run sent out. */
  readonly #out = new Set<number>();
  readonly #budget: PageBudget;
  readonly #memory: MemoryFile;
  #errands = 0;
  #settled = 0;

  constructor(ledger: Ledger, options: FrontierOptions, clock: Clock, schedule = new Schedule(ledger)) {
    this.#ledger = ledger;
    this.#memory = new MemoryFile(ledger);
    this.#options = options;
    this.#clock = clock;
    this.#budget = options.budget ?? new PageBudget(options.maxPages);
    this.#readyLanes = new ReadyLanes(
      options.domains,
      clock,
      lane => mostErrands(lane, this.#options),
      options.order === 'pvalue',
    );
    this.#lanes = new Lanes(ledger, options, lane => this.#readyLanes.stir(lane));
    this.#newcomers = options.mode === 'refresh' ? new PageQueue() : undefined;
    const images = options.mode === 'refresh' && options.images === 'watch' ? new PageQueue() : undefined;
    const rules = {
      newcomers: this.#newcomers,
      images,
      scope: (url: string) => withDomains(this.#options.outside, options.domains)(url),
      depth: options.depth,
      pagesPerServer: options.pagesPerServer,
      strays: options.order === 'focused' ? new Strays() : undefined,
      neighbours: options.partition && new Neighbours(ledger, options.partition),
    };
    this.admission = new Admission(ledger, rules, origin => this.#lanes.of(origin));
    this.imageQueue = images && new ImageQueue(ledger, this.admission, images);
    this.backlog = new Backlog({
      ...{ lanes: this.#lanes, elsewhere: this.#elsewhere, underWay: this.#underWay },
      ...{ newcomers: this.#newcomers, clock },
    });
    this.schedule = schedule;
    this.learning = new Learning(ledger, this.admission, schedule, url => this.#moved(url));
  }

  /**
   * Restores what an earlier run left: fingerprints, duplicates, pages that wait. `out`: errands of that run that outposts on
   * other machines may still be working on. `reading` sees each row that is read, to show how far it is.
   */
  restore(
    out: readonly { readonly errand: Errand; readonly issued: number }[] = [],
    reading: Reading = rows => rows,
  ): void {
    repairClock(this.#ledger, this.#clock.now());
    const memory = this.#memory.read();
    this.admission.restore(memory, reading);
    this.learning.restore(memory, server => this.#lanes.ofServer(server), reading);
    for (const { errand, issued } of out) this.#resume(errand, issued);
    const changed = changedRules(this.#ledger, this.#options);
    const wanted = (id: number) => this.#out.has(id) || this.admission.judgeWaiting(id);
    for (const { id: page, role, ...hint } of stillPending(this.#ledger, changed, wanted)) {
      if (roles[role] === 'image' && this.#options.images !== 'store') this.imageQueue?.waiting.push(page);
      else if (this.#newcomers && roles[role] !== 'sitemap') this.#newcomers.push(page);
      else this.again([{ page, ...hint }]);
    }
    for (const rule of changed) this.admission.judgeRefused(rule);
    if (this.#options.mode === 'explore') this.again(doubtful(this.#ledger, this.#clock.now()));
  }

  /** Saves what is in memory for the next run, if enough of it is new. In a batch, before it is committed. */
  saveMemory(): void {
    if (this.#memory.due) this.#writeMemory();
  }

  #writeMemory(): void {
    const { fingerprints } = this.admission;
    this.#memory.write(() => ({ fingerprints: fingerprints.packed(), ...this.learning.packed(this.#lanes) }));
  }

  /** Saves all that is in memory for the next run. Nothing may be admitted or learned afterwards. */
  close(): void {
    this.#ledger.begin();
    this.#writeMemory();
    this.#ledger.commit();
    this.#memory.tidy();
  }

  /** Lets at most `most` new pages join their lanes, in the order in which they were found; returns their ids. */
  admit(most: number, kind: 'pages' | 'images' = 'pages'): number[] {
    const pages: number[] = [];
    (kind === 'pages' ? this.#newcomers : this.imageQueue?.waiting)?.shift(most, pages);
    for (const page of pages) {
      const { server, depth, relevance } = this.#ledger.pages.get(page)!;
      this.again([{ page, server, depth, relevance }]);
    }
    return pages;
  }

  /** Takes seeds in: they are visited whatever the scope says, before pages that wait already. Returns how many were new. */
  seed(urls: readonly string[]): number {
    const first = this.#lanes.pages > 0 && this.#options.mode === 'explore';
    const idle = this.#underWay.size + this.#elsewhere.size === 0;
    const parts = { ledger: this.#ledger, admission: this.admission, lanes: this.#lanes };
    return takeSeeds(parts, urls, { time: this.#clock.now(), first, idle });
  }

  get options(): Readonly<FrontierOptions> {
    return this.#options;
  }

  /**
   * Changes options during the run, for all servers or for one (whose row the caller has then changed). Errands that have left
   * keep their terms.
   */
  adjust(changes: Partial<Pick<FrontierOptions, 'pace' | 'connections' | 'maxPages' | 'scope' | 'outside'>>): void {
    this.#options = { ...this.#options, ...changes };
    this.#budget.most = this.#options.maxPages;
    for (const lane of this.#lanes) this.#readyLanes.stir(lane);
    if (!changes.outside) return;
    this.admission.judgeRefused('out-of-scope');
    forgetRules(this.#ledger);
  }

  /** A seed has moved to this URL. If the user named domains, these decide whether the crawl follows. */
  #moved(url: string): void {
    const { scope, outside, moved } = this.#options;
    if (scope.domains.length > 0 || outside(url) === undefined) return;
    if (moved) moved(url);
    else {
      takeIn(this.#ledger.settings, url);
      this.widen(outsideOf(this.#ledger.settings, scope));
    }
  }

  /** Widens the crawl. Pages that were refused before stay refused. */
  widen(outside: FrontierOptions['outside']): void {
    this.#options = { ...this.#options, outside };
  }

  /** Puts pages back into their lanes: retries, and pages that the schedule wants checked. */
  again(pages: readonly { page: number; server: number; depth?: number; relevance?: number }[]): void {
    for (const { page, server, depth = 0, relevance = 0 } of pages) {
      if (this.#out.has(page)) continue;
      const lane = this.#lanes.ofServer(server);
      lane.order.add(page, hintOf(this.#ledger, this.#options.order, { page, depth, relevance }));
    }
  }

  /** Offers the lanes that may be visited now to next(); returns their urgency, -1 = there are none. */
  wake(): number {
    return this.#readyLanes.wake();
  }

  /** The next errand that may leave now; undefined = none may. `plan` says where an errand of a server would go. */
  next<D extends Delegation = Delegation>(plan: Planner<D> = here as Planner<D>): Issued<D> | undefined {
    for (;;) {
      const budget = this.#budget.left;
      const lane = budget > 0 ? this.#readyLanes.next() : undefined;
      if (!lane) return undefined;
      const place = { ...placeOf(lane, this.#options), away: keptAway(lane, this.#clock.now()) };
      const not = this.#elsewhere.barred(lane);
      const away = not && plan({ ...place, not });
      const planned = away ?? (lane.order.size > 0 ? plan(place) : undefined);
      if (!planned) {
        this.#readyLanes.stir(lane); // no outpost can take it now: the next turn offers it again
        continue;
      }
      const delegation = { ...planned, follow: !away && planned.follow && delegable(this.#options, lane) };
      const size = Math.min(budget, sizeOf(delegation, lane, this.#options));
      const pages = away ? this.#elsewhere.take(lane, away.machine, size) : this.#wanted(lane, lane.order.take(size));
      if (pages.length === 0) {
        if (lane.order.size + lane.elsewhere > 0) this.#readyLanes.offer(lane);
        continue;
      }
      const issued = this.#issue(lane, pages, delegation, place.spread > 1);
      this.#readyLanes.offer(lane);
      return { ...issued, planned };
    }
  }

  /** Leaves out pages whose shape has turned out to be a trap while they waited. */
  #wanted(lane: Lane, ids: number[]): number[] {
    if (!lane.shapes.refusing) return ids;
    return ids.filter(id => this.#ledger.pages.known(id) !== undefined || this.admission.judgeWaiting(id));
  }

  /** False = nobody asked for this visit, so nothing of it is kept. */
  wants(errand: string, { url }: Pick<Visit, 'url'>): boolean {
    const underWay = this.#underWay.get(errand);
    return underWay !== undefined && wantsPage(underWay, url, this.admission.find(url));
  }

  /** Learns from a visit, if its errand wants it. `brought`: what home has done with it. */
  learn(errand: string, told: Visit, brought: Brought): Learned | undefined {
    const underWay = this.#underWay.get(errand);
    const id = this.admission.find(told.url);
    if (!underWay || !wantsPage(underWay, told.url, id)) return undefined;
    const now = this.#clock.now();
    const visit = told.time > now ? { ...told, time: now } : told; // another machine's clock is ahead of ours
    const { before, counted } = this.#back(underWay, id);
    this.#elsewhere.known(id);
    const seen = visit.outcome === 'fetched' || visit.outcome === 'same';
    if (counted) seen ? this.#settled++ : this.#budget.issued--;
    const learned = this.learning.learn({ id, lane: underWay.lane, visit, before, ...brought });
    this.imageQueue?.visited(id, visit);
    this.#readyLanes.stir(underWay.lane);
    return learned;
  }

  /** A machine says that it cannot reach a page. True = another machine shall try, and nothing is learned. */
  sendElsewhere(errand: string, visit: Visit, from: { machine: string; outpost: string }, anyone: Anyone): boolean {
    const underWay = this.#underWay.get(errand);
    const id = this.admission.find(visit.url);
    if (!underWay || !isOwnReach(visit)) return false;
    const { lane } = underWay;
    const page = { id, lane, visit, outpost: from.outpost };
    if (!anyone(lane.server.origin, this.#elsewhere.refused(page, from.machine, this.#clock.now()))) return false;
    const { up, down, cause } = visit.cost;
    this.#ledger.servers.account.add(visit.time, lane.server.id, cause, { spent: up + down });
    if (this.#back(underWay, id).counted) this.#budget.issued--;
    this.#elsewhere.add(page);
    this.#readyLanes.stir(lane);
    return true;
  }

  /** Learns what machines said about pages that no machine is left to try; `write` is called before each. */
  settleUnreached(anyone: Anyone, write: () => void): void {
    for (const page of this.#elsewhere.hopeless(anyone)) {
      write();
      this.learning.learn({ ...page, before: this.#ledger.pages.known(page.id) });
    }
  }

  #back(underWay: UnderWay, id: number): SentErrand {
    const sent = underWay.pages.get(id) ?? this.#followed(underWay, id);
    underWay.pages.delete(id);
    this.#out.delete(id);
    return sent;
  }

  /** A page that the outpost found by itself. */
  #followed(underWay: UnderWay, id: number): SentErrand {
    underWay.lane.order.visited(id);
    if (underWay.reserved > 0) underWay.reserved--;
    else this.#budget.issued++;
    return { before: this.#ledger.pages.known(id), counted: true };
  }

  /** Learns what a crawler reports about a server. `machine`: who reports, empty = this machine. */
  news(news: ServerNews, machine = ''): void {
    const lane = this.#lanes.of(news.origin);
    this.#readyLanes.stir(lane);
    const time = this.#clock.now();
    const clock = this.#options.mode === 'explore' ? 'retry_at' : 'due';
    learnNews(this.#ledger, lane, news, { machine, now: time, clock });
    const source = { page: 0, depth: 0, hops: 0, time, nofollow: false };
    for (const url of news.sitemaps) this.admission.one(url, source, { role: 1 });
  }

  /** Ends an errand; pages that it did not visit wait again. */
  finish(errand: string): void {
    const underWay = this.#underWay.get(errand);
    if (!underWay) return;
    this.#underWay.delete(errand);
    underWay.lane.errands--;
    this.#readyLanes.stir(underWay.lane);
    this.#budget.issued -= underWay.reserved;
    if (underWay.delegated) underWay.lane.order.release();
    for (const [id, { counted }] of underWay.pages) {
      if (counted) this.#budget.issued--;
      this.#out.delete(id);
      const page = { ...this.#ledger.pages.get(id)!, page: id };
      underWay.lane.order.add(id, hintOf(this.#ledger, this.#options.order, page));
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
    const { pages, known, counted } = asked(ids, this.#ledger, this.schedule);
    const now = this.#clock.now();
    const id = errandName(now, this.#errands++, partition?.id);
    const { follow, among = outposts } = delegation;
    // At most half of what is left, so that other servers need not wait until this one has used it up.
    const reserved = follow ? Math.min(DELEGATED, Math.floor((this.#budget.left - counted) / 2)) : 0;
    this.#underWay.set(id, { lane, pages, delegated: follow, reserved });
    this.#budget.issued += counted + reserved;
    lane.errands++;
    if (follow) lane.order.hold();
    const alone = follow || !spread;
    const shared = alone ? connections : shareOf(connections, among);
    const server = termsOf(lane, this.#options, shared, delegation.machine);
    const seen = follow ? seenOn(this.#ledger, lane, new Set(ids)) : undefined;
    const errand = { id, ...errandTerms(this.#options, delegation, now), server, pages: known, ...(seen && { seen }) };
    const limits = { ...errand.limits, pages: known.length + reserved };
    return { errand: { ...errand, limits }, address: lane.server.address, spread: !alone };
  }

  /** An outpost still works on an errand of an earlier run: nobody else may visit its pages. */
  #resume(errand: Errand, issued: number): void {
    const lane = this.#lanes.of(errand.server.origin);
    const delegated = errand.limits.follow > 0;
    const pages = stillOut(errand, issued, this.#ledger, url => this.admission.find(url));
    for (const id of pages.keys()) this.#out.add(id);
    this.#underWay.set(errand.id, { lane, pages, delegated, reserved: 0 });
    for (const { counted } of pages.values()) if (counted) this.#budget.issued++;
    lane.errands++;
    if (delegated) lane.order.hold();
  }
}
