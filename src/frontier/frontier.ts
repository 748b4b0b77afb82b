/**
 * The frontier decides which pages are visited, and in which order, and learns from the visits. Here is the life of a page: the
 * admission takes its URL in, and it waits in the lane of its server. The ready lanes pick a lane, the lane's order picks the
 * page, and it leaves with others in an errand (errands/issued-errands.ts). Its visit comes back and is learned from; the links
 * found on it go to the admission. Later the schedule wants it checked, and again() puts it back into its lane.
 *
 * Invariants: a page is in an order, or under way in exactly one errand, or settled in the ledger, never in two of these.
 * After a restart every page that is not settled is found again. The frontier never fetches and never archives.
 */
import type { Clock } from '../base/clock.ts';
import type { Errand } from '../errand/errand.ts';
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
import { Elsewhere } from './errands/elsewhere.ts';
import { hintOf } from './errands/errand-terms.ts';
import { IssuedErrands } from './errands/issued-errands.ts';
import { PageBudget } from './errands/page-budget.ts';
import type { UnderWay } from './errands/under-way.ts';
import { ImageQueue } from './image-queue.ts';
import { mostErrands } from './lanes/lane.ts';
import { Lanes } from './lanes/lanes.ts';
import { ReadyLanes } from './lanes/ready-lanes.ts';
import { Learning } from './learning.ts';
import { MemoryFile } from './memory-file.ts';
import { clockOf, type FrontierOptions, type Reading } from './options.ts';
import { Strays } from './orders/focused.ts';
import { PageQueue } from './orders/page-queue.ts';
import { repairClock } from './schedule/clock-repair.ts';
import { Schedule } from './schedule/schedule.ts';

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
  readonly errands: IssuedErrands;
  readonly learning: Learning;
  readonly #elsewhere = new Elsewhere();
  /** New pages that wait for a budget; undefined in a run that has none for them. */
  readonly #newcomers: PageQueue | undefined;
  readonly #budget: PageBudget;
  readonly #memory: MemoryFile;

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
    this.errands = new IssuedErrands({
      ...{
        ledger,
        clock,
        lanes: this.#lanes,
        readyLanes: this.#readyLanes,
        underWay: this.#underWay,
        budget: this.#budget,
      },
      ...{ elsewhere: this.#elsewhere, admission: this.admission, schedule, learning: this.learning },
      ...{ imageQueue: this.imageQueue, options: () => this.#options },
    });
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
    for (const { errand, issued } of out) this.errands.resume(errand, issued);
    const changed = changedRules(this.#ledger, this.#options);
    const wanted = (id: number) => this.errands.hasStill(id) || this.admission.judgeWaiting(id);
    for (const { id: page, role, ...hint } of stillPending(this.#ledger, changed, wanted)) {
      if (roles[role] === 'image' && this.#options.images !== 'store') this.imageQueue?.waiting.push(page);
      else if (this.#newcomers && roles[role] !== 'sitemap') this.#newcomers.push(page);
      else this.again([{ page, ...hint }]);
    }
    const { mode, allowPrivate } = this.#options;
    for (const rule of changed) {
      if (rule !== 'private-address') this.admission.judgeRefused(rule);
      else if (allowPrivate) this.#ledger.schedule.due.allow(rule, this.#clock.now(), clockOf(mode));
    }
    if (mode === 'explore') this.again(doubtful(this.#ledger, this.#clock.now()));
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
      if (this.errands.hasStill(page)) continue;
      const lane = this.#lanes.ofServer(server);
      lane.order.add(page, hintOf(this.#ledger, this.#options.order, { page, depth, relevance }));
    }
  }
}
