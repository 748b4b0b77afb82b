/**
 * How far forecasts can be believed. Every visit that nothing but the schedule, or the lot, brought about shows whether
 * the page had changed, where its belief had said how likely that was. What was found over what was foretold is the factor
 * by which forecasts are corrected, by server and by whether the page was ever seen to change.
 *
 * Pages of a site change together, so a forecast is off by more than chance: by as much as it was at any server on any
 * day. The interval comes from drawing such days again.
 *
 * Pure: a list of cells in, factors and intervals out; the draws are the same each time.
 */

/** What the visits to pages of one kind on one server showed on one day. */
export interface Cell {
  readonly server: number;
  /** 1 where the pages were seen to change before; AUDITED more where the lot chose them. */
  readonly kind: number;
  readonly day: number;
  readonly looks: number;
  readonly foretold: number;
  readonly found: number;
}

/** Days after which a visit counts for 1/e: for what holds now, and for what usually holds. */
const MEMORY_DAYS = { now: 4, usual: 21 };
/** Added to the kind of a page that was chosen by lot. */
export const AUDITED = 2;
/** What a visit counts for that the schedule chose, and not the lot: it is no fair sample of all pages. */
const CHOSEN = 0.25;
/** Foretold changes that what usually holds counts for, where what holds now is held against it; and a guess, against that. */
const BORROWED = 1;
const MOST_FACTOR = 10;

interface Sum {
  foretold: number;
  found: number;
}

/** Pages of one server and kind, and what their beliefs say of them. */
export interface Part {
  readonly server: number;
  readonly kind: number;
  readonly pages: number;
  /** Not looked at today. */
  readonly unseen: number;
  /** Sum of the probabilities that they have changed since they were seen. */
  readonly stale: number;
}

/** A share with what it may be, nine times in ten. */
export interface Interval {
  readonly expected: number;
  readonly low: number;
  readonly high: number;
}

export class Calibration {
  readonly #now: Map<string, Sum>;
  readonly #usual: Map<string, Sum>;
  readonly #misses: readonly Miss[];
  readonly #missesOf: ReadonlyMap<number, readonly Miss[]>;
  /** Visits behind it. */
  readonly looks: number;

  constructor(cells: readonly Cell[], today: number) {
    this.#now = sumsOf(cells, today, MEMORY_DAYS.now);
    this.#usual = sumsOf(cells, today, MEMORY_DAYS.usual);
    this.looks = cells.reduce((sum, { looks }) => sum + looks, 0);
    this.#misses = missesIn(cells, cell => this.#common(cell.kind % AUDITED));
    this.#missesOf = Map.groupBy(this.#misses, ({ server }) => server);
  }

  /** Found over foretold for such pages there, as it usually is. */
  usual(server: number, kind: number): number {
    return ratio(this.#usual.get(keyOf(server, kind)), this.#common(kind));
  }

  /** The same by the last days. */
  now(server: number, kind: number): number {
    return ratio(this.#now.get(keyOf(server, kind)), this.usual(server, kind));
  }

  /** At all servers together. */
  #common(kind: number): number {
    return ratio(this.#usual.get(keyOf(ALL, kind)), 1);
  }

  /** Share of these pages that is as it was last seen. */
  fresh(parts: readonly Part[]): Interval {
    const servers = [...Map.groupBy(parts, part => part.server).values()].map(own => this.#together(own));
    const pages = servers.reduce((sum, each) => sum + each.pages, 0);
    if (pages === 0) return { expected: 1, low: 0, high: 1 };
    const share = (stale: number) => 1 - Math.min(1, Math.max(0, stale / pages));
    const drawn = this.#draws(servers);
    const sorted = drawn.map(({ stale, chance }) => stale + chance).sort((a, b) => a - b);
    const at = (part: number) => share(sorted[Math.floor(part * (DRAWS - 1))]!);
    // The mean of the draws, not what is foretold for a day like the last ones: now and then a whole site changes.
    const expected = share(drawn.reduce((sum, { stale }) => sum + stale, 0) / DRAWS);
    return { expected, low: Math.min(expected, at(1 - EDGE)), high: Math.max(expected, at(EDGE)) };
  }

  /** The kinds of one server, corrected. */
  #together(own: readonly Part[]): Part {
    const sum = (of: (part: Part) => number) => own.reduce((total, part) => total + of(part), 0);
    return {
      server: own[0]!.server,
      kind: 0,
      pages: sum(part => part.pages),
      unseen: sum(part => part.unseen),
      stale: sum(part => Math.min(part.pages, this.now(part.server, part.kind) * part.stale)),
    };
  }

  /**
   * Stale pages in all, as often as days are drawn for the servers, and by how many more or less by chance alone. Of very
   * many servers the largest stand for all.
   */
  #draws(servers: readonly Part[]): { readonly stale: number; readonly chance: number }[] {
    const large = [...servers].sort((a, b) => b.pages - a.pages).slice(0, MOST_SERVERS);
    const rest = servers.reduce((sum, each) => sum + each.stale, 0) - large.reduce((sum, each) => sum + each.stale, 0);
    const random = randomFrom(1);
    return Array.from({ length: DRAWS }, () => {
      const drawn = large.map(({ server, pages, unseen, stale }) => {
        const list = (random() < OWN && this.#missesOf.get(server)) || this.#misses;
        const { share } = list[Math.floor(random() * list.length)]!;
        return Math.min(pages, Math.max(0, stale + share * unseen));
      });
      const stale = drawn.reduce((sum, each) => sum + each, rest);
      return { stale, chance: (random() + random() - 1) * Math.sqrt(6 * stale) };
    });
  }
}

const ALL = 0;
const keyOf = (server: number, kind: number): string => `${server} ${kind}`;

function sumsOf(cells: readonly Cell[], today: number, memory: number): Map<string, Sum> {
  const sums = new Map<string, Sum>();
  for (const { server, kind, day, foretold, found } of cells) {
    const weight = (kind >= AUDITED ? 1 : CHOSEN) * Math.exp(-Math.max(0, today - day) / memory);
    for (const key of [keyOf(server, kind % AUDITED), keyOf(ALL, kind % AUDITED)]) {
      const sum = sums.get(key) ?? { foretold: 0, found: 0 };
      sum.foretold += foretold * weight;
      sum.found += found * weight;
      sums.set(key, sum);
    }
  }
  return sums;
}

function ratio(sum: Sum | undefined, otherwise: number): number {
  const { found, foretold } = sum ?? { found: 0, foretold: 0 };
  return Math.min(MOST_FACTOR, (found + BORROWED * otherwise) / (foretold + BORROWED));
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

function missesIn(cells: readonly Cell[], factor: (cell: Cell) => number): Miss[] {
  const days = Map.groupBy(cells, ({ server, day }) => `${server} ${day}`);
  const seen = [...days.values()].map(each => {
    const off = each.reduce((sum, cell) => sum + cell.found - factor(cell) * cell.foretold, 0);
    const looks = each.reduce((sum, cell) => sum + cell.looks, 0);
    return { server: each[0]!.server, share: off / (looks + DOUBT) };
  });
  return [...seen, ...GUESSED.map(share => ({ server: ALL, share }))];
}

/** How often what may happen at a server is drawn from what has happened there, and not from what has anywhere. */
const OWN = 0.7;
const DRAWS = 400;
const MOST_SERVERS = 200;
/** Left out on each side. */
const EDGE = 0.05;

/** Numbers from 0 to 1, the same each time. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
