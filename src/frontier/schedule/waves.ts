/**
 * Pages of a server change together: a new menu, a new version, a banner. When visits find far more changes than the
 * pages' own rates foretold, the rest of the server is likely to have changed too and is looked at next; when such
 * visits find nothing, the wave is over. Decides only which server is in a wave, never whether a page changed.
 */
import { DAY } from '../../base/clock.ts';
import type { Draft } from '../../base/draft.ts';
import type { Server } from '../../ledger/servers.ts';

/** What visits to a server have shown together. */
export interface Shown {
  /** Milliseconds. */
  readonly since: number;
  readonly visits: number;
  readonly changed: number;
  /** Changes that the rates of the pages let expect. */
  readonly foretold: number;
}

interface Tide extends Draft<Shown> {
  /** What the days before have shown. */
  readonly earlier: Shown | undefined;
  /** Milliseconds: until then visits are counted together. */
  until: number;
  /** Of the changes, those that many pages share. */
  shared: number;
}

/** A visit as far as waves are concerned. */
interface Seen {
  readonly changed: boolean;
  readonly foretold: number;
  /** What changed is an edit that many pages share. */
  readonly shared: boolean;
}

/** Milliseconds over which visits are counted together. */
const WINDOW = DAY / 2;
/** A wave begins with so many changes, or so many shared ones, so many times what was foretold, at such a share of the visits. */
const LEAST_CHANGED = 5;
const LEAST_SHARED = 3;
const UNFORETOLD = 3;
const LEAST_SHARE = 0.5;
/** It ends when so many visits find changes at less than this share. */
const ENOUGH_VISITS = 12;
const OVER_SHARE = 0.15;

export class Waves {
  readonly #tides = new Map<number, Tide>();
  readonly #earlier: (server: number, time: number) => Shown | undefined;

  /** `earlier`: what visits of the last days have shown, before this process. A small budget finds a wave over several rounds. */
  constructor(earlier: (server: number, time: number) => Shown | undefined = () => undefined) {
    this.#earlier = earlier;
  }

  /** Counts a visit; true when the server's wave began or ended with it. */
  count(server: Server, time: number, seen: Seen): boolean {
    let tide = this.#tides.get(server.id);
    if (!tide || time > tide.until) {
      const earlier = tide || server.wave > 0 ? undefined : this.#earlier(server.id, time);
      tide = { ...still(time), earlier, shared: 0, until: time + WINDOW };
      this.#tides.set(server.id, tide);
    }
    tide.visits++;
    tide.changed += seen.changed ? 1 : 0;
    tide.shared += seen.shared ? 1 : 0;
    tide.foretold += seen.foretold;
    const { visits, changed, shared } = tide;
    const since = seen.changed ? (highSince(tide, shared) ?? highSince(together(tide), 0)) : undefined;
    if (server.wave === 0 && since !== undefined) return this.#turn(server, since, time);
    const low = visits >= ENOUGH_VISITS && changed < OVER_SHARE * visits;
    if (server.wave > 0 && low) return this.#turn(server, 0, time);
    return false;
  }

  #turn(server: Server, wave: number, time: number): boolean {
    server.wave = wave;
    this.#tides.set(server.id, { ...still(time), earlier: undefined, shared: 0, until: time + WINDOW });
    return true;
  }
}

/** Since when far more changes than foretold; undefined = not that many. */
function highSince({ since, visits, changed, foretold }: Shown, shared: number): number | undefined {
  const many = changed >= LEAST_CHANGED || shared >= LEAST_SHARED;
  return many && changed > UNFORETOLD * foretold && changed >= LEAST_SHARE * visits ? since : undefined;
}

function together({ earlier, ...now }: Tide): Shown {
  if (!earlier) return now;
  return {
    since: earlier.since,
    visits: earlier.visits + now.visits,
    changed: earlier.changed + now.changed,
    foretold: earlier.foretold + now.foretold,
  };
}

function still(since: number): Shown {
  return { since, visits: 0, changed: 0, foretold: 0 };
}

/** When a page is due whose server is in a wave that it was last seen before. */
export function dueInWave(server: Server, seen: number, due: number): number {
  return server.wave > seen ? Math.min(due, server.wave - DAY) : due;
}
