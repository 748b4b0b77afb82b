/**
 * How far forecasts can be believed. Every visit that nothing but the schedule, or the lot, brought about shows whether
 * the page had changed, where its belief had said how likely that was. What was found over what was foretold is the factor
 * by which forecasts are corrected, by server and by whether the page was ever seen to change.
 *
 * Pages of a site change together, so a forecast is off by more than chance: by as much as it was at any server on any
 * day. The interval comes from drawing such days again. What a wave of changes brought about is no case of the usual: it
 * counts once, as a day on which so much of a site had changed, and for the pages that the wave may still have touched.
 * Few looks prove little, so the factor itself is drawn from what they leave possible. And whatever the days before were
 * like, the interval reaches as far down as the looks of the last days leave open: six that found nothing may well have
 * missed a tenth of the pages.
 *
 * Pure: a list of cells in, factors and intervals out; the draws are the same each time.
 */

import { gammaFrom, poissonFrom, type Random, randomFrom, shareFrom } from './draws.ts';

/** What the visits to pages of one kind on one server showed on one day. */
export interface CalibrationCell {
  readonly server: number;
  /** 1 where the pages were seen to change before; AUDITED, IN_WAVE, BURST and NAMED are added to it. */
  readonly kind: number;
  readonly day: number;
  readonly looks: number;
  readonly foretold: number;
  readonly found: number;
}

/** Days after which a visit counts for 1/e: for what nobody has found yet, what holds now, and what usually holds. */
const MEMORY_DAYS = { lately: 1, now: 4, usual: 21 };
/** Added to the kind of a page that was chosen by lot. */
export const AUDITED = 2;
/** Of a page that a wave brought forward, and of one by which it was seen that there is one. */
export const IN_WAVE = 4;
export const BURST = 8;
/** Of a page that a notice named: the server's word foretold a change, and is corrected by itself. */
export const NAMED = 16;
/** What a visit counts for that the schedule chose, and not the lot: it is no fair sample of all pages. */
const CHOSEN = 0.25;
/** Foretold changes that what usually holds counts for, where what holds now is held against it; and a guess, against that. */
const BORROWED = 1;
const MOST_FACTOR = 10;

interface CalibrationSum {
  foretold: number;
  found: number;
}

/** Looks that those in a wave are taken together with. */
const WAVE_DOUBT = 2;

/** Pages of one server and kind, and what their beliefs say of them. */
export interface CalibrationPart {
  readonly server: number;
  readonly kind: number;
  readonly pages: number;
  /** Not looked at today. */
  readonly unseen: number;
  /** Sum of the probabilities that they have changed since they were seen, of those that no wave may have touched. */
  readonly stale: number;
  /** The others, the sum of the probabilities that it has, and for each of them the looks that say so. */
  readonly waved?: number;
  readonly touched?: number;
  readonly waveLooks?: number;
}

/** The pages of one server. */
interface ServerPart {
  readonly server: number;
  readonly pages: number;
  readonly unseen: number;
  /** Not looked at today, and touched by no wave. */
  readonly other: number;
  /** Corrected; the pages that a wave may have made stale, how many it probably has, and the looks behind that of each. */
  readonly stale: number;
  readonly waved: number;
  readonly touched: number;
  readonly waveLooks: number;
  /** Changes behind the correction: the more, the surer it is. */
  readonly shape: number;
}

/** A share with what it may be, nine times in ten. */
export interface Interval {
  readonly expected: number;
  readonly low: number;
  readonly high: number;
}

export class Calibration {
  readonly #now: Map<string, CalibrationSum>;
  readonly #usual: Map<string, CalibrationSum>;
  readonly #cellsOf: ReadonlyMap<number, readonly CalibrationCell[]>;
  readonly #misses: readonly Miss[];
  readonly #missesOf: ReadonlyMap<number, readonly Miss[]>;
  readonly #today: ReadonlyMap<number, LookSums>;
  readonly #lately: ReadonlyMap<number, LookSums>;
  /** Visits behind it. */
  readonly looks: number;

  constructor(cells: readonly CalibrationCell[], today: number) {
    this.#cellsOf = Map.groupBy(cells, ({ server }) => server);
    const usual = cells.filter(({ kind }) => !(kind & (IN_WAVE | BURST)));
    this.#now = sumsOf(usual, today, MEMORY_DAYS.now);
    this.#usual = sumsOf(usual, today, MEMORY_DAYS.usual);
    this.looks = cells.reduce((sum, { looks }) => sum + looks, 0);
    const days = cells.filter(({ kind }) => !(kind & IN_WAVE));
    this.#misses = missesIn(days, cell => this.#common(classOf(cell.kind)));
    this.#missesOf = Map.groupBy(this.#misses, ({ server }) => server);
    const factor = (cell: CalibrationCell) => this.#common(classOf(cell.kind));
    const plain = usual.filter(({ day, kind }) => day === today && !(kind & NAMED));
    this.#today = lookedIn(plain, factor, () => 1);
    const unnamed = cells.filter(({ kind }) => !(kind & NAMED));
    this.#lately = lookedIn(unnamed, factor, ({ day }) => weightAfter(today - day, MEMORY_DAYS.lately));
  }

  /** Found over foretold for such pages there, as it usually is. */
  usual(server: number, kind: number): number {
    return ratio(this.#usual.get(keyOf(server, kind)), this.#common(kind));
  }

  /** The same by the last days. */
  now(server: number, kind: number): number {
    return ratio(this.#now.get(keyOf(server, kind)), this.usual(server, kind));
  }

  /** Looks at the pages of a server that were seen before. */
  looksAt(server: number): number {
    return this.#cellsOf.get(server)?.reduce((sum, { looks }) => sum + looks, 0) ?? 0;
  }

  /** At all servers together. */
  #common(kind: number): number {
    return ratio(this.#usual.get(keyOf(ALL, kind)), 1);
  }

  /** Share of a server's pages that is expected to be as it was last seen. */
  expected(own: readonly CalibrationPart[]): number {
    const server = this.#together(own);
    return 1 - Math.min(1, this.#likely(server) / Math.max(1, server.pages));
  }

  /** Share of these pages that is as it was last seen. */
  fresh(parts: readonly CalibrationPart[]): Interval {
    const servers = [...Map.groupBy(parts, part => part.server).values()].map(own => this.#together(own));
    const pages = servers.reduce((sum, each) => sum + each.pages, 0);
    if (pages === 0) return { expected: 1, low: 0, high: 1 };
    const share = (stale: number) => 1 - Math.min(1, Math.max(0, stale / pages));
    const usual: DrawnMiss = (server, random) => this.#miss(server, random);
    const open: DrawnMiss = (server, random) => this.#unfound(server, random);
    // However quiet the days were: of pages that were not looked at today one may have changed.
    const least = servers.some(({ unseen }) => unseen > 0) ? share(1) : 1;
    const expected = share(servers.reduce((sum, each) => sum + this.#likely(each), 0));
    const worst = (miss: DrawnMiss) => share(quantile(this.#draws(servers, miss), 1 - EDGE));
    const best = Math.max(share(quantile(this.#draws(servers, usual), EDGE)), share(this.#brightest(servers)));
    const low = Math.min(expected, least, worst(usual), worst(open));
    return { expected, low, high: Math.max(expected, best) };
  }

  /** The kinds of one server, corrected. */
  #together(own: readonly CalibrationPart[]): ServerPart {
    const sum = (of: (part: CalibrationPart) => number) => own.reduce((total, part) => total + of(part), 0);
    const { server } = own[0]!;
    const stale = (part: CalibrationPart) => Math.min(part.pages, this.now(server, part.kind) * part.stale);
    return {
      server,
      pages: sum(part => part.pages),
      unseen: sum(part => part.unseen),
      other: sum(part => Math.max(0, part.unseen - (part.waved ?? 0))),
      stale: sum(stale),
      waved: sum(part => part.waved ?? 0),
      touched: sum(part => part.touched ?? 0),
      waveLooks: sum(part => part.waveLooks ?? 0),
      shape: BORROWED + sum(part => this.#usual.get(keyOf(server, part.kind))?.found ?? 0),
    };
  }

  /**
   * Stale pages of a server as they are expected: not on a day like the last ones, because now and then a whole site changes,
   * but as likely as today's looks leave it that this is such a day.
   */
  #likely({ server, pages, other, stale, touched }: ServerPart): number {
    const own = this.#missesOf.get(server) ?? [];
    const looked = this.#today.get(server) ?? NOT_LOOKED;
    let [sum, weights] = [0, 0];
    const weigh = (misses: readonly Miss[], weight: number) => {
      for (const { share } of misses) {
        const likely = (weight / misses.length) * likelihood(looked, share);
        sum += likely * share;
        weights += likely;
      }
    };
    weigh(own, own.length);
    weigh(this.#misses, FEW_DAYS);
    const missed = weights === 0 ? 0 : (sum / weights) * other;
    return Math.min(pages, Math.max(0, missed + stale + touched));
  }

  /**
   * Stale pages that it may be in all, as often as misses are drawn for the servers, with what few looks leave open and
   * chance. Of very many servers the largest stand for all.
   */
  #draws(servers: readonly ServerPart[], miss: DrawnMiss, chance = true): number[] {
    const { large, rest } = largest(servers);
    const random = randomFrom(1);
    return Array.from({ length: DRAWS }, () => {
      let possible = rest;
      for (const each of large) {
        const missed = miss(each.server, random) * each.other;
        const waved = each.waved * touchedShare(each, random);
        const stale = missed + waved + (each.stale * gammaFrom(each.shape, random)) / each.shape;
        possible += Math.min(each.pages, Math.max(0, stale));
      }
      return chance ? poissonFrom(possible, random) : possible;
    });
  }

  /** Stale pages where the forecasts of all servers were too dark at once; of one server they are drawn anyway. */
  #brightest(servers: readonly ServerPart[]): number {
    const { large, rest } = largest(servers);
    const usual: DrawnMiss = (server, random) => this.#miss(server, random);
    return large.reduce((sum, each) => sum + quantile(this.#draws([each], usual, large.length === 1), EDGE), rest);
  }

  /** Share of a server's pages by which the forecast of some day was off: one of its own days, or any. */
  #miss(server: number, random: Random): number {
    const own = this.#missesOf.get(server) ?? [];
    const list = random() < own.length / (own.length + FEW_DAYS) ? own : this.#misses;
    return list[Math.floor(random() * list.length)]!.share;
  }

  /** Share of a server's pages that may have changed without being found: what its last looks leave open (Jeffreys' prior). */
  #unfound(server: number, random: Random): number {
    const { looks, foretold, found } = this.#lately.get(server) ?? NOT_LOOKED;
    const more = Math.min(looks, Math.max(0, found - foretold));
    return shareFrom(more + JEFFREYS, looks - more + JEFFREYS, random);
  }
}

function quantile(draws: readonly number[], part: number): number {
  return draws.toSorted((a, b) => a - b)[Math.floor(part * (DRAWS - 1))]!;
}

/** The largest servers, and what is stale of the others. */
function largest(servers: readonly ServerPart[]): { large: readonly ServerPart[]; rest: number } {
  const sorted = servers.toSorted((a, b) => b.pages - a.pages);
  const rest = sorted.slice(MOST_SERVERS).reduce((sum, { stale }) => sum + stale, 0);
  return { large: sorted.slice(0, MOST_SERVERS), rest };
}

const ALL = 0;
const keyOf = (server: number, kind: number): string => `${server} ${kind}`;
/** Kinds that are corrected together: pages that were named, and of the others those that changed before or never. */
const classOf = (kind: number): number => (kind & NAMED ? NAMED : kind & 1);

const weightAfter = (days: number, memory: number): number => Math.exp(-Math.max(0, days) / memory);

function sumsOf(cells: readonly CalibrationCell[], today: number, memory: number): Map<string, CalibrationSum> {
  const sums = new Map<string, CalibrationSum>();
  for (const { server, kind, day, foretold, found } of cells) {
    const weight = (kind & AUDITED ? 1 : CHOSEN) * weightAfter(today - day, memory);
    for (const key of [keyOf(server, classOf(kind)), keyOf(ALL, classOf(kind))]) {
      const sum = sums.get(key) ?? { foretold: 0, found: 0 };
      sum.foretold += foretold * weight;
      sum.found += found * weight;
      sums.set(key, sum);
    }
  }
  return sums;
}

function ratio(sum: CalibrationSum | undefined, otherwise: number): number {
  const { found, foretold } = sum ?? { found: 0, foretold: 0 };
  return Math.min(MOST_FACTOR, (found + BORROWED * otherwise) / (foretold + BORROWED));
}

/** A share of a server's pages by which its forecast may be off. */
type DrawnMiss = (server: number, random: Random) => number;

/** Of the pages that a wave may have touched, as far as its looks leave that open. */
function touchedShare({ waved, touched, waveLooks }: ServerPart, random: Random): number {
  if (waved === 0) return 0;
  const share = touched / waved;
  const looks = WAVE_DOUBT + (CHOSEN * waveLooks) / waved;
  return shareFrom(share * looks, (1 - share) * looks, random);
}

/** By which share of its pages a server's forecast was off on a day. */
interface Miss {
  readonly server: number;
  readonly share: number;
}

/** Visits that a day's are taken together with, none of which is a miss: one visit proves little. */
const DOUBT = 4;
/** Before anything is known. */
const GUESSED = [-0.02, 0, 0, 0, 0, 0.01, 0.03, 0.1];

function missesIn(cells: readonly CalibrationCell[], factor: (cell: CalibrationCell) => number): Miss[] {
  const days = Map.groupBy(cells, ({ server, day }) => `${server} ${day}`);
  const seen = [...days.values()].map(each => {
    const off = each.reduce((sum, cell) => sum + cell.found - factor(cell) * cell.foretold, 0);
    const looks = each.reduce((sum, cell) => sum + cell.looks, 0);
    return { server: each[0]!.server, share: off / (looks + DOUBT) };
  });
  return [...seen, ...GUESSED.map(share => ({ server: ALL, share }))];
}

/** What looks at a server have shown that no notice brought about. */
interface LookSums {
  readonly looks: number;
  readonly foretold: number;
  readonly found: number;
}

const NOT_LOOKED: LookSums = { looks: 0, foretold: 0, found: 0 };

function lookedIn(
  cells: readonly CalibrationCell[],
  factor: (cell: CalibrationCell) => number,
  weight: (cell: CalibrationCell) => number,
): ReadonlyMap<number, LookSums> {
  const all = new Map<number, LookSums>();
  for (const cell of cells) {
    const { looks, foretold, found } = all.get(cell.server) ?? NOT_LOOKED;
    const each = weight(cell);
    all.set(cell.server, {
      looks: looks + each * cell.looks,
      foretold: foretold + each * factor(cell) * cell.foretold,
      found: found + each * cell.found,
    });
  }
  return all;
}

/** No look is taken for surer than this. */
const LEAST_LIKELY = 0.01;

/** How likely such looks are on a day on which so many more pages have changed than was foretold. */
function likelihood({ looks, foretold, found }: LookSums, more: number): number {
  if (looks === 0) return 1;
  const changed = Math.min(1 - LEAST_LIKELY, Math.max(LEAST_LIKELY, foretold / looks + more));
  return changed ** found * (1 - changed) ** (looks - found);
}

/** Of a share of which nothing is known: half a look that found something, and half a look that did not. */
const JEFFREYS = 0.5;
/** Days at a server that count as much as all days anywhere, for what may happen there. */
const FEW_DAYS = 5;
const DRAWS = 400;
const MOST_SERVERS = 200;
/** Left out on each side. */
const EDGE = 0.05;
