/**
 * Pages of a server change together: a new menu, a new version, a banner. When visits find far more changes than the
 * pages' own rates foretold, the rest of the server is likely to have changed too and is looked at next; when such
 * visits find nothing, the wave is over. Decides only which server is in a wave, never whether a page changed.
 */
import { DAY } from '../base/clock.ts';
import type { Server } from '../ledger/servers.ts';

interface Tide {
  /** Milliseconds. */
  since: number;
  visits: number;
  changed: number;
  /** Changes that the rates of the pages let expect. */
  foretold: number;
}

/** Milliseconds over which visits are counted together. */
const WINDOW = DAY / 2;
/** A wave begins with so many changes, so many times what was foretold, at such a share of the visits. */
const LEAST_CHANGED = 5;
const UNFORETOLD = 3;
const LEAST_SHARE = 0.5;
/** It ends when so many visits find changes at less than this share. */
const ENOUGH_VISITS = 12;
const OVER_SHARE = 0.15;

export class Waves {
  readonly #tides = new Map<number, Tide>();

  /** Counts a visit; true when the server's wave began or ended with it. */
  count(server: Server, time: number, seen: { readonly changed: boolean; readonly foretold: number }): boolean {
    let tide = this.#tides.get(server.id);
    if (!tide || time - tide.since > WINDOW) {
      tide = { since: time, visits: 0, changed: 0, foretold: 0 };
      this.#tides.set(server.id, tide);
    }
    tide.visits++;
    tide.changed += seen.changed ? 1 : 0;
    tide.foretold += seen.foretold;
    const { visits, changed, foretold } = tide;
    const high = changed >= LEAST_CHANGED && changed > UNFORETOLD * foretold && changed >= LEAST_SHARE * visits;
    if (server.wave === 0 && high) return this.#turn(server, tide.since, time);
    const low = visits >= ENOUGH_VISITS && changed < OVER_SHARE * visits;
    if (server.wave > 0 && low) return this.#turn(server, 0, time);
    return false;
  }

  #turn(server: Server, wave: number, time: number): boolean {
    server.wave = wave;
    this.#tides.set(server.id, { since: time, visits: 0, changed: 0, foretold: 0 });
    return true;
  }
}

/** When a page is due whose server is in a wave that it was last seen before. */
export function dueInWave(server: Server, seen: number, due: number): number {
  return server.wave > seen ? Math.min(due, server.wave - DAY) : due;
}
