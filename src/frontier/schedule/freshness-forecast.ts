/**
 * What is foretold of the collection's freshness, corrected by what visits have found. Holds the ledger's cells against
 * the beliefs of all pages; revisit/calibration.ts does the sums. It moves no page by itself.
 */
import { DAY } from '../../base/clock.ts';
import type { Draft } from '../../base/draft.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { SampledPage } from '../../ledger/schedule/scheduled-pages.ts';
import type { Servers } from '../../ledger/servers.ts';
import type { Audited } from '../../ledger/storage/inferred.ts';
import {
  AUDITED,
  BURST,
  Calibration,
  type CalibrationPart,
  IN_WAVE,
  type Interval,
  NAMED,
} from '../../revisit/calibration.ts';
import type { Estimator } from '../../revisit/estimators/port.ts';
import { type ChangeState, unpackState } from '../../revisit/state.ts';
import { Voices } from './voices.ts';
import { WaveDays } from './wave-days.ts';
import { type Touched, type WaveShown, Waves } from './waves.ts';

export interface Fresh extends Interval {
  /** Visits that it rests on: looks at pages that were seen before. 0 = nothing but a guess. */
  readonly looks: number;
  readonly servers: readonly (Interval & { readonly server: number; readonly pages: number })[];
}

/** A visit and what was foretold of it. */
interface ForetoldVisit {
  readonly page: number;
  readonly state: ChangeState;
  readonly foretold: number;
  readonly changed: boolean;
  /** The page was chosen by lot. */
  readonly audit: boolean;
  /** A wave brought it forward. */
  readonly waved: boolean;
  /** A notice named it. */
  readonly named: boolean;
}

/** What makes a copy doubtful besides its age. */
export interface Doubts {
  /** The wave in which its server is may have touched it. */
  readonly waved: (page: SampledPage) => Touched | undefined;
  /** Probability that the notices about a page were true. */
  readonly believed: (page: SampledPage) => number;
  /** Share of its changes of which its server would have told. */
  readonly told: (page: SampledPage) => number;
}

export function doubtsOf(servers: Servers, waves: Waves, voices: Voices): Doubts {
  return {
    waved: row => waves.touched(servers.byId(row.server), row),
    believed: row => voices.believed(servers.byId(row.server), row),
    told: row => voices.told(servers.byId(row.server), row),
  };
}

/** Waves by what visits have shown, and by what the ledger has of them. */
export function wavesOf(days: WaveDays, foresight: Foresight, voices: Voices): Waves {
  return new Waves({
    earlier: (server, time) => foresight.lately(server, time),
    rate: (server, time) => days.rate(server, time),
    saved: days.running,
    vouches: server => voices.vouches(server),
  });
}

/** By what the ledger has of them, for those who read it beside a running home. */
export function savedDoubts(ledger: Ledger): Doubts {
  return doubtsOf(ledger.servers, new Waves({ saved: new WaveDays(ledger).running }), new Voices(ledger));
}

/** Days of cells that are read. */
const CELL_DAYS = 60;
/** Days of visits that a wave may be seen by. */
const LATELY_DAYS = 2;
/** Days of figures by which the aim is corrected, how hard, and by how much of what may be stale at most, up and down. */
const STEERED_DAYS = 7;
const GAIN = 2;
const MOST_MORE = 0.75;
const MOST_LESS = 2;
/** Looks at a server that say what to expect of it; of a smaller one, as many as it has pages. */
const ENOUGH_LOOKS = 100;
/** Servers whose own figures correct their own aim, those with the most pages. */
export const MOST_STEERED = 100;

/** Freshness as it was shown, by day since 1970. */
type FreshnessByDay = Readonly<Record<string, number>>;
/** Inferred copies that are taken together with those that were looked at. */
const DOUBTED: Audited = { right: 9, wrong: 1 };
/** Days: who was looked at so lately is not unseen today, unless a round began since. */
const TODAY = 0.5;

export class Foresight {
  readonly #ledger: Ledger;
  readonly #estimator: Estimator;
  readonly #waveDays: WaveDays;
  #planned: Calibration | undefined;
  /** Kind of each page that was found to have changed since due times were computed. */
  readonly #found = new Map<number, number>();

  constructor(ledger: Ledger, estimator: Estimator, waveDays: WaveDays) {
    this.#waveDays = waveDays;
    this.#ledger = ledger;
    this.#estimator = estimator;
  }

  learn(time: number, server: number, { page, state, foretold, changed, audit, waved, named }: ForetoldVisit): void {
    const kind = (named ? NAMED : kindOf(state)) + (audit ? AUDITED : 0) + (waved ? IN_WAVE : 0);
    this.#ledger.schedule.forecasts.add(time, { server, kind, foretold }, changed);
    if (changed) this.#found.set(page, kind);
  }

  /** A wave began: the visits that showed it are no case of what is usual. */
  setApart(time: number, server: number): void {
    this.#ledger.schedule.forecasts.setApart(server, Math.floor(time / DAY), { below: IN_WAVE, by: BURST });
  }

  /** What it was taken for a change by turned out to be noise. */
  takeBack(time: number, server: number, page: number): void {
    const kind = this.#found.get(page);
    if (kind === undefined) return;
    this.#found.delete(page);
    const { forecasts } = this.#ledger.schedule;
    if (!forecasts.takeBack(time, server, kind)) forecasts.takeBack(time, server, kind + BURST);
  }

  /** What visits to a server have shown together in the last days, today's left out: who asks counts those. */
  lately(server: number, time: number): WaveShown | undefined {
    const first = Math.floor(time / DAY) - LATELY_DAYS;
    // What a wave found says nothing of the next.
    if (this.#waveDays.within(server, time, LATELY_DAYS)) return undefined;
    const { looks, foretold, found } = this.#ledger.schedule.forecasts.ofServer(server, first);
    return looks === 0 ? undefined : { since: first * DAY, visits: looks, changed: found, foretold };
  }

  /** Looks anew at what usually holds. */
  plan(now: number): void {
    this.#planned = this.#calibration(now);
    this.#found.clear();
  }

  /**
   * How many times as often pages like this change as is believed of them. Never less than once: that pages are quieter
   * than was thought, their beliefs learn by themselves.
   */
  factor(server: number, state: ChangeState): number {
    return Math.max(1, this.#planned?.usual(server, kindOf(state)) ?? 1);
  }

  /**
   * What beliefs have to expect so that visits find what was asked for, at a server or everywhere: bursts are in no belief,
   * and notices and lots are in none either. Where the figures of the last rounds fell short of it, more is aimed at, and
   * less where they exceeded it.
   */
  targets(freshness: number, now: number): (server?: number) => number {
    const since = Math.floor(now / DAY) - STEERED_DAYS;
    const target = (noted: FreshnessByDay): number => {
      const last = Object.entries(noted).filter(([day]) => Number(day) >= since);
      if (last.length === 0) return freshness;
      const mean = last.reduce((sum, [, shown]) => sum + shown, 0) / last.length;
      const stale = 1 - freshness;
      return freshness + Math.min(MOST_MORE * stale, Math.max(-MOST_LESS * stale, GAIN * (freshness - mean)));
    };
    const all = target(this.#ledger.settings.get<FreshnessByDay>('freshness') ?? {});
    const servers = this.#ledger.settings.get<Record<number, FreshnessByDay>>('freshness-servers') ?? {};
    return server => (server === undefined || !servers[server] ? all : target(servers[server]));
  }

  /** Remembers a figure that is shown: of all servers for good, of each for as long as it steers. */
  note(now: number, { expected, servers }: Fresh): void {
    const today = Math.floor(now / DAY);
    this.#ledger.settings.set('freshness', {
      ...this.#ledger.settings.get<FreshnessByDay>('freshness'),
      [today]: expected,
    });
    const before = this.#ledger.settings.get<Record<number, FreshnessByDay>>('freshness-servers') ?? {};
    const lately = (noted: FreshnessByDay = {}) =>
      Object.fromEntries(Object.entries(noted).filter(([day]) => today - Number(day) <= STEERED_DAYS));
    const noted = servers.map(each => [each.server, { ...lately(before[each.server]), [today]: each.expected }]);
    if (servers.length > 0) this.#ledger.settings.set('freshness-servers', Object.fromEntries(noted));
  }

  /** `most`: servers of which it is said one by one, the largest first. */
  freshness(now: number, most: number, doubts: Doubts): Fresh {
    const parts = [...this.#parts(now, doubts).values()];
    const calibration = this.#calibration(now);
    const servers = [...Map.groupBy(parts, part => part.server)]
      .map(([server, own]) => ({ server, own, pages: own.reduce((sum, { pages }) => sum + pages, 0) }))
      .sort((a, b) => b.pages - a.pages)
      .slice(0, most)
      .map(({ server, own, pages }) => ({ ...calibration.fresh(own), server, pages }));
    return { ...calibration.fresh(parts), looks: calibration.looks, servers };
  }

  /** Servers at which a wanted freshness is expected, by looks and not by a guess. */
  kept(now: number, wanted: number | undefined, doubts: Doubts): ReadonlySet<number> {
    if (wanted === undefined) return new Set();
    const calibration = this.#calibration(now);
    const servers = [...Map.groupBy(this.#parts(now, doubts).values(), part => part.server)];
    const isKept = (server: number, own: readonly CalibrationPart[]) => {
      const pages = own.reduce((sum, part) => sum + part.pages, 0);
      return calibration.looksAt(server) >= Math.min(ENOUGH_LOOKS, pages) && calibration.expected(own) >= wanted;
    };
    return new Set(servers.filter(([server, own]) => isKept(server, own)).map(([server]) => server));
  }

  #parts(now: number, { waved, believed, told }: Doubts): Map<string, CalibrationPart> {
    const parts = new Map<string, Draft<Required<CalibrationPart>>>();
    const inferred = this.#ledger.storage.inferred.pages();
    const wrong = this.#wrong();
    const round = this.#ledger.settings.get<number>('refreshed') ?? 0;
    for (const row of this.#ledger.schedule.pages.sample()) {
      const { seen_time, change, server } = row;
      const state = unpackState(change);
      const kind = row.pings > 0 ? NAMED : kindOf(state);
      const key = `${server} ${kind}`;
      const part = parts.get(key) ?? {
        server,
        kind,
        pages: 0,
        unseen: 0,
        stale: 0,
        waved: 0,
        touched: 0,
        waveLooks: 0,
      };
      parts.set(key, part);
      const days = Math.max(0, (now - seen_time) / DAY);
      part.pages++;
      part.unseen += days > TODAY || seen_time < round ? 1 : 0;
      const touched = waved(row);
      // A copy that was inferred has what a wave brought, as far as such copies turned out to be right.
      if (inferred.has(row.page)) part.stale += wrong;
      else if (touched) {
        part.waved++;
        part.touched += touched.likely;
        part.waveLooks += touched.looks;
      } else part.stale += 1 - this.#estimator.survival(state, days * (1 - told(row))) * (1 - believed(row));
    }
    return parts;
  }

  /** Share of the inferred copies that are wrong, by those whose pages were looked at since. */
  #wrong(): number {
    const { right, wrong } = this.#ledger.settings.get<Audited>('inferences') ?? { right: 0, wrong: 0 };
    return (wrong + DOUBTED.wrong) / (right + wrong + DOUBTED.right + DOUBTED.wrong);
  }

  #calibration(now: number): Calibration {
    const today = Math.floor(now / DAY);
    return new Calibration(this.#ledger.schedule.forecasts.since(today - CELL_DAYS), today);
  }
}

function kindOf(state: ChangeState): number {
  return state.changes > 0 ? 1 : 0;
}
