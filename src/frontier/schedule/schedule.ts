/**
 * The schedule decides when each page is visited again, and learns from visits how often pages change. Due times are in an
 * index of the ledger: finding the next page costs O(log n), and they survive a restart. All pages share one threshold, theta:
 * it is computed anew when settings change or a day has passed, and adjusted in between by how late the budget runs.
 *
 * It never picks a page (the frontier does), and never decides whether a page changed (the detector does).
 */
import { DAY } from '../../base/clock.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { FLAG_CHANGED, FLAG_DOUBTED, isUnspoken, type KnownRow } from '../../ledger/pages/known-row.ts';
import { roles } from '../../ledger/pages/pages.ts';
import type { ScheduledPage } from '../../ledger/schedule/scheduled-pages.ts';
import type { Server } from '../../ledger/servers.ts';
import type { NoticeKind } from '../../notices/notice.ts';
import type { Balance, Belief } from '../../revisit/budget.ts';
import { believed } from '../../revisit/estimators/gamma.ts';
import { observe } from '../../revisit/estimators/observe.ts';
import { countedByPings } from '../../revisit/pings.ts';
import {
  intervalOf,
  MAX_INTERVAL,
  nextDue,
  type Plan,
  type PolicyTerms,
  phaseOf,
  planNamed,
} from '../../revisit/policy.ts';
import { type ChangeState, newState, packState, unpackState } from '../../revisit/state.ts';
import type { VisitCost } from '../../revisit/value.ts';
import { Rhythm, steerAfter } from '../steering.ts';
import { aliasDue, dueWithout, sitemapRest } from './due-after-failure.ts';
import { type Doubts, doubtsOf, Foresight, type Fresh, MOST_STEERED, wavesOf } from './freshness-forecast.ts';
import {
  costAfter,
  costOf,
  type Honoured,
  honouredBy,
  type ImportancePlace,
  meanCost,
  type PacedPage,
  pingsOf,
  priceByVisits,
  roleOf,
  weighed,
} from './importance.ts';
import type { Planned, ScheduleLesson } from './lesson.ts';
import { followUps } from './lots.ts';
import { type ServerPrior, survey } from './server-prior.ts';
import { ServerThetas } from './server-thetas.ts';
import {
  type SavedSchedule,
  type ScheduleContext,
  type ScheduleSettings,
  sameSettings,
  settingsAfter,
} from './settings.ts';
import { lastChangeAge } from './validator-trust.ts';
import { UNLIKELY, Voices } from './voices.ts';
import { WaveDays } from './wave-days.ts';
import { dueInWave, FIRST as FIRST_OF_ALL, partOf, type Waves } from './waves.ts';

/** The state of a page after its first visit, and the same packed: in a crawl this is the state of every page. */
const FIRST = newState();
const FIRST_CHANGE = packState(FIRST);
/** Until visits show otherwise, a sitemap is believed to change once a day, and a visit to cost so many kilobytes. */
const SITEMAP_PRIOR = { a: 1, b: 1 };
const FIRST_KILOBYTES = 5;

export class Schedule {
  readonly plan: Plan;
  settings: ScheduleSettings;
  readonly #continuous: boolean;
  /** Pages that were drawn by lot, to see whether forecasts come true. */
  readonly audits = new Set<number>();
  readonly #ledger: Ledger;
  readonly #searches: (page: number) => number;
  #theta: number;
  readonly #thetas: ServerThetas;
  #balance: Balance;
  #visitsPerDay: number;
  /** Cost of an average visit. */
  #kilobytes: number;
  #honoured: ((server: number) => Honoured) | undefined;
  readonly #foresight: Foresight;
  readonly #rhythm = new Rhythm();
  readonly #waves: Waves;
  readonly #waveDays: WaveDays;
  readonly #voices: Voices;
  readonly #doubts: Doubts;
  /** Pages that come next because of what visits have found since due times were computed. */
  readonly #next = new Set<number>();
  /** Time of the last question or visit, milliseconds since 1970. */
  #now = 0;
  #neighbours: ServerPrior | undefined;

  constructor(ledger: Ledger, settings: Partial<ScheduleSettings> = {}, context: ScheduleContext = {}) {
    this.#searches = context.searches ?? (() => 0);
    this.#continuous = context.continuous ?? false;
    const saved = ledger.settings.get<SavedSchedule>('schedule');
    this.#ledger = ledger;
    this.#voices = new Voices(ledger);
    this.settings = settingsAfter(saved, settings);
    this.plan = planNamed(this.settings.policy, this.settings.estimator, this.settings.thresholds);
    this.#theta = saved?.theta ?? 1;
    this.#thetas = new ServerThetas(saved?.thetas);
    this.#visitsPerDay = saved?.visitsPerDay ?? 0;
    this.#kilobytes = saved?.kilobytes ?? FIRST_KILOBYTES;
    const { share: visits = 0.1 } = this.settings;
    this.#balance = saved?.balance ?? { theta: this.#theta, visits, spent: 0, freshness: 0 };
    this.#waveDays = new WaveDays(ledger);
    this.#foresight = new Foresight(ledger, this.plan.estimator, this.#waveDays);
    this.#waves = wavesOf(this.#waveDays, this.#foresight, this.#voices);
    this.#doubts = doubtsOf(ledger.servers, this.#waves, this.#voices);
  }

  /** What the budget is expected to buy in the long run. */
  get balance(): Balance {
    return this.#balance;
  }

  get visitsPerDay(): number {
    return this.#visitsPerDay;
  }

  /** Visits have taught so much since the due times were computed that these are nearly worthless. */
  get outgrown(): boolean {
    return this.#neighbours?.doubled ?? false;
  }

  /** `kilobytes`: expected cost of a visit. */
  termsFor(weight: number, server: Server | undefined, kilobytes: VisitCost, unspoken = false): PolicyTerms {
    return {
      weight,
      theta: this.#theta * (server?.multiplier ?? 1) * this.#thetas.of(server?.id),
      maxInterval: MAX_INTERVAL,
      cycle: 1 / Math.max(this.settings.share ?? this.#balance.visits, 1e-6),
      meanRate: 0.1,
      recall: server && !unspoken ? this.#voices.silence(server) : 0,
      cost: this.#price(kilobytes),
    };
  }

  /** The aim is a freshness: every page counts the same, as in the figure that the user asked for. */
  get #aims(): boolean {
    return this.settings.freshness !== undefined;
  }

  #price(kilobytes: VisitCost): VisitCost {
    const inBytes = this.settings.bytes !== undefined || this.#aims;
    return inBytes ? kilobytes : priceByVisits(kilobytes, this.#kilobytes);
  }

  costOf(row: Parameters<typeof costOf>[0], server: number): VisitCost {
    return costOf(row, this.#answers(server));
  }

  #answers(server: number): Honoured {
    return (this.#honoured ??= honouredBy(this.#ledger, this.#now))(server);
  }

  /** Learns from a visit; returns the new state of the estimator and the next due time. */
  after(lesson: ScheduleLesson): Planned {
    const { id, visit, before, server } = lesson;
    const unspoken = before ? isUnspoken(before) : this.#voices.unnamed(server, id);
    if (visit.outcome !== 'fetched' && visit.outcome !== 'same') {
      this.#voices.gone(server, before, visit);
      return { change: before?.change ?? null, due: dueWithout(visit, before), unspoken };
    }
    const role = roleOf(visit);
    const first = role === 'sitemap' ? newState(SITEMAP_PRIOR) : FIRST;
    const next = before?.seen_time ? this.#learn(lesson, role, before) : first;
    const change = next === FIRST ? FIRST_CHANGE : packState(next);
    if (role === 'sitemap') return { change, due: visit.time + sitemapRest(next) * DAY, unspoken };
    if (lesson.alias) return { change, due: aliasDue(visit.time), unspoken };
    const weight = this.#weigh(id, visit.depth, role);
    if (this.#continuous)
      this.#theta = steerAfter(this.#ledger, { theta: this.#theta, visits: this.#visitsPerDay }, lesson);
    this.#now = visit.time;
    const terms = this.termsFor(weight, server, costAfter(visit, before, this.#answers(server.id)), unspoken);
    const flags = visit.outcome === 'fetched' ? FLAG_CHANGED : (before?.flags ?? 0);
    const paced = this.#paced(next, { server: server.id, role, flags });
    const due = nextDue(this.plan, paced, visit.time, { ...terms, phase: phaseOf(id) });
    return { change, due: this.#continuous ? this.#rhythm.due(next, visit.time, due) : due, unspoken };
  }

  /**
   * A notice says that a page has changed: the page moves forward by what such notices of its server have been worth.
   * `exact`: the notice named a content that differs from our copy.
   */
  ping(id: number, time: number, kind: NoticeKind = 'ping', exact = false): boolean {
    return this.#voices.heard(this.plan.estimator, { id, time, kind, exact });
  }

  /** Sets what the user asked for; computes due times anew if that differs from before, or if a day has passed. */
  aim(wanted: Partial<Pick<ScheduleSettings, 'share' | 'bytes' | 'freshness'>>, now: number): void {
    this.settings = { ...this.settings, share: undefined, bytes: undefined, freshness: undefined, ...wanted };
    const saved = this.#ledger.settings.get<SavedSchedule>('schedule');
    const same =
      saved !== undefined &&
      sameSettings(saved, this.settings) &&
      now - saved.time < DAY / 2 &&
      saved.pages >= this.#ledger.pages.size * 0.9;
    if (!same) this.reschedule(now);
  }

  /** Finds theta for the budget and gives every stored page its due time anew. Two passes over the known pages. */
  reschedule(now: number): Balance {
    const { neighbours, sample, step, pages } = survey(this.#ledger.schedule.pages.all());
    this.#neighbours = neighbours;
    this.#now = now;
    this.#honoured = honouredBy(this.#ledger, now);
    this.#foresight.plan(now);
    this.#next.clear();
    this.#kilobytes = meanCost(sample.map(row => this.#costOfRow(row))) || FIRST_KILOBYTES;
    const beliefs = sample.map(row => this.#beliefOf(row, this.#stateOf(row)));
    const targets = (wanted: number) => this.#foresight.targets(wanted, now);
    this.#balance = this.#thetas.balance(this.settings, targets, { beliefs, pages, serverOf: i => sample[i]!.server });
    this.#theta = this.#balance.theta;
    const states = sample.filter(({ role }) => roles[role] === 'page').map(row => this.#stateOf(row));
    this.#rhythm.measure(states, (this.#balance.visits * pages) / step);
    this.#visitsPerDay = this.#place(this.#ledger.schedule.pages.all());
    this.#save(now);
    return this.#balance;
  }

  /** Gives these pages their due times; returns the visits a day that they add up to. */
  #place(pages: Iterable<ScheduledPage>): number {
    let visits = 0;
    for (const row of pages) {
      const state = this.#stateOf(row);
      const server = this.#ledger.servers.byId(row.server);
      const { weight } = this.#beliefOf(row, state);
      const terms = this.termsFor(weight, server, this.#costOfRow(row), isUnspoken(row));
      const paced = this.#paced(state, { ...row, role: roles[row.role]! });
      const due = nextDue(this.plan, paced, row.seen_time, { ...terms, phase: phaseOf(row.page) });
      // The first visit comes somewhere within the interval, so visits a day follow from the whole interval.
      if (roles[row.role] === 'page') visits += 1 / intervalOf(this.plan, paced, terms);
      const soon = this.#continuous ? this.#rhythm.due(state, row.seen_time, due) : due;
      const moved = this.#moved(row, state, server, Math.min(soon, this.#dueByWaves(row, state, server, terms)));
      this.#ledger.schedule.pages.put(row.page, moved, packState(state));
    }
    return visits;
  }

  /** Share of the pages that is expected to be unchanged, as visits let expect; also for so many servers. */
  freshness(now: number, servers = 0): Fresh {
    return this.#foresight.freshness(now, servers, this.#doubts);
  }

  /** Servers that are as fresh as the user asked and need no more visits now; none where the aim is a budget. */
  kept(now: number): ReadonlySet<number> {
    return this.#foresight.kept(now, this.settings.freshness, this.#doubts);
  }

  /** Notes how fresh the collection is on this day, and the state of its waves. Inside the caller's transaction. */
  noteFreshness(now: number): void {
    this.#waveDays.running = this.#waves.saved;
    this.#foresight.note(now, this.freshness(now, this.#aims ? MOST_STEERED : 0));
  }

  #save(now: number): void {
    this.#ledger.settings.set('schedule', {
      ...this.settings,
      theta: this.#theta,
      thetas: this.#thetas.saved,
      balance: this.#balance,
      visitsPerDay: this.#visitsPerDay,
      kilobytes: this.#kilobytes,
      pages: this.#ledger.pages.size,
      time: now,
    } satisfies SavedSchedule);
  }

  #beliefOf(row: ScheduledPage, state: ChangeState): Belief {
    const role = roles[row.role]!;
    const { a, b } = this.#paced(state, { ...row, role });
    const recall = this.#aims && role === 'page' ? this.#voices.told(this.#ledger.servers.byId(row.server), row) : 0;
    return { a, b, weight: this.#weigh(row.page, row.depth, role), cost: this.#price(this.#costOfRow(row)), recall };
  }

  #costOfRow(row: ScheduledPage): VisitCost {
    return this.costOf({ ...row, tagged: row.tagged === 1 }, row.server);
  }

  /**
   * The belief that due times follow from. Where the aim is a freshness, it is corrected by what visits have found. A page that
   * ever changed will also be touched by the next wave of its server.
   */
  #paced(state: ChangeState, { server, role, flags }: PacedPage): ChangeState {
    if (role !== 'page') return state;
    const factor = this.#aims ? this.#foresight.factor(server, state) : 1;
    const waves = flags & FLAG_CHANGED && this.plan.estimator.posterior ? this.#waveDays.rate(server, this.#now) : 0;
    return { ...state, b: 1 / (factor / state.b + waves / state.a) };
  }

  /** A due time, moved by notices since the last visit and by what other pages of the server have shown. */
  #moved(row: ScheduledPage, state: ChangeState, server: Server, due: number): number {
    if (row.flags & FLAG_DOUBTED) return Math.min(due, row.seen_time);
    if (this.#next.has(row.page)) return Math.min(due, this.#now - FIRST_OF_ALL);
    if (row.pings === 0) return due;
    return Math.min(
      due,
      Math.max(row.seen_time - FIRST_OF_ALL, due - this.#voices.worth(server, row, this.plan.estimator.rate(state))),
    );
  }

  #dueByWaves(row: ScheduledPage, state: ChangeState, server: Server, terms: PolicyTerms): number {
    const touched = this.#waves.touched(server, row);
    if (!touched) return Number.POSITIVE_INFINITY;
    const { estimator } = this.plan;
    const stale = 1 - estimator.survival(state, (this.#now - row.seen_time) / DAY) * (1 - touched.likely);
    const rate = estimator.rate(this.#paced(state, { ...row, role: roles[row.role]!, flags: FLAG_CHANGED }));
    return dueInWave({ page: row.page, now: this.#now, stale, rate, freshness: this.settings.freshness }, terms);
  }

  #weigh(page: number, depth: number, role: ImportancePlace['role']): number {
    if (this.#aims && role === 'page') return 1;
    return weighed({ linksIn: this.#ledger.links.backward.of(page), depth, role, searches: this.#searches(page) });
  }

  #stateOf({ change, server, role, url }: ScheduledPage): ChangeState {
    return this.#known.believed({ server, role: roles[role]!, url }, unpackState(change));
  }

  get #known(): ServerPrior {
    this.#neighbours ??= survey(this.#ledger.schedule.pages.all()).neighbours;
    return this.#neighbours;
  }

  /** Learns from a visit about its page and the other pages of its server. */
  #learn(lesson: ScheduleLesson, role: ImportancePlace['role'], before: KnownRow): ChangeState {
    const state = before.change ? unpackState(before.change) : newState();
    if (role === 'sitemap') return this.#observe(believed(state, SITEMAP_PRIOR), lesson, before);
    const neighbours = this.#known;
    const kind = { server: lesson.server.id, role, url: lesson.visit.url };
    const next = this.#observe(neighbours.believed(kind, state), lesson, before);
    // A visit that is judged again was already counted, by the first judgement.
    const counted = lesson.again ? this.#ledger.pages.known(lesson.id)?.change : undefined;
    neighbours.learned(kind, counted ? unpackState(counted) : state, next);
    return next;
  }

  #observe(state: ChangeState, lesson: ScheduleLesson, before: KnownRow): ChangeState {
    const { visit, server } = lesson;
    const days = (visit.time - before.seen_time!) / DAY;
    const changed = visit.outcome === 'fetched';
    if (days <= 0 || (lesson.second && !changed)) return state;
    if (roleOf(visit) !== 'page') return observe(state, { days, changed });
    const counted = countedByPings(pingsOf(server), before.pings, { changed });
    const page = { ...before, url: visit.url, seen_time: before.seen_time! };
    const foretold = 1 - this.plan.estimator.survival(state, days);
    const withOthers = this.plan.estimator.posterior && changed && this.#waves.explains(server, page, foretold);
    this.#tell(lesson, before, { state, days });
    if (withOthers) return observe(state, { days, changed, withOthers });
    const age = changed ? lastChangeAge(server, visit) : undefined;
    return observe(state, { days, changed, ...counted, ...(age !== undefined && { lastChangeAge: age }) });
  }

  /** Learns from a visit about forecasts, waves and notices. */
  #tell(lesson: ScheduleLesson, before: KnownRow, { state, days }: { state: ChangeState; days: number }): void {
    const { visit, server, again } = lesson;
    // An edit that many pages share makes a copy as stale as any other edit.
    const changed = visit.outcome === 'fetched' || visit.stage === 'template';
    if (again) {
      if (!changed) this.#foresight.takeBack(visit.time, server.id, before.page);
      return;
    }
    // A change that a notice announced is no surprise, as far as notices are true, and one that none did is, as far as all are told.
    const word = this.#voices.believed(server, before);
    const { survival } = this.plan.estimator;
    const foretold = 1 - survival(state, days * (1 - this.#voices.told(server, before))) * (1 - word);
    this.#voices.judged(server, before, { time: visit.time, changed, foretold: 1 - survival(state, days) });
    this.#next.delete(before.page);
    const waved = server.wave > before.seen_time!;
    const named = before.pings > 0;
    const audit = this.audits.delete(before.page);
    const seen = { state, foretold, page: before.page, changed, waved, named, audit };
    const here = { ...before, server: server.id, url: visit.url };
    // A page that a notice named says nothing about pages that no notice named, but about others that one did.
    const surprise = changed && word < UNLIKELY ? 'suspected' : undefined;
    const counted = { ...seen, before: before.seen_time!, part: partOf(here) };
    const turn = named ? surprise : this.#waves.count(server, visit.time, counted);
    this.#foresight.learn(visit.time, server.id, seen);
    if (named && this.#voices.turned(server)) this.#place(this.#ledger.schedule.pages.ofServer(server.id));
    if (turn === undefined || turn === 'suspected') {
      const alone = changed && !named && !waved;
      const next = followUps(this.#ledger, here, { time: visit.time, alone, suspected: turn !== undefined });
      for (const { page } of next) this.#next.add(page);
      this.#ledger.schedule.due.hasten(next, visit.time - FIRST_OF_ALL);
      return;
    }
    if (turn === 'begun') {
      this.#waveDays.note(server.id, visit.time, lesson.pages);
      this.#foresight.setApart(visit.time, server.id);
    }
    this.#ledger.servers.touch(server);
    // Pages that were not seen since the wave began come next; when it has ended, normal due times are restored.
    this.#place(this.#ledger.schedule.pages.ofServer(server.id));
  }
}
