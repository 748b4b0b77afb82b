/**
 * How long servers take to answer, by the place that asks. The visits themselves measure it: no request is sent only to
 * measure. Now and then a place that has not been tried gets an errand of the server, until a few places have been tried.
 */
import { originOf } from '../../base/url.ts';
import type { Visit } from '../../errand/visit.ts';

/** Weight of the newest visit in the mean. */
const NEWEST = 0.2;
/** Another place must be faster by this factor before a server moves. */
const CLEARLY = 0.75;
/** Errands between two attempts at an untried place, and places tried for one server. */
const TRY_EVERY = 4;
const TRIED = 4;
const REMEMBERED = 20_000;

interface Record {
  /** Milliseconds, smoothed, by place. */
  readonly means: Map<string, number>;
  errands: number;
}

export class LatencyByPlace {
  readonly #servers = new Map<string, Record>();

  /** A visit took so long, milliseconds; `place` is empty for this machine. */
  measured(origin: string, place: string, ms: number): void {
    const { means } = this.#of(origin);
    const before = means.get(place);
    means.set(place, before === undefined ? ms : before + NEWEST * (ms - before));
  }

  /** What visits took that were answered. */
  learn(place: string, visits: readonly Pick<Visit, 'url' | 'status' | 'cost'>[]): void {
    for (const { url, status, cost } of visits) if (status > 0) this.measured(originOf(url), place, cost.ms);
  }

  of(origin: string): ReadonlyMap<string, number> {
    return this.#servers.get(origin)?.means ?? new Map();
  }

  /** The place that the next errand should go to, when that is not simply where the server is now. */
  better(
    origin: string,
    places: readonly string[],
    current: string | undefined,
  ): { readonly place: string; readonly reason: 'measuring' | 'fastest'; readonly because: string } | undefined {
    if (places.length < 2) return undefined;
    const record = this.#of(origin);
    record.errands++;
    const { means } = record;
    const untried = places.find(place => !means.has(place));
    if (untried !== undefined && means.size > 0 && means.size < TRIED && record.errands % TRY_EVERY === 0) {
      return { place: untried, reason: 'measuring', because: 'its time to this server is measured' };
    }
    const known = places.filter(place => means.has(place));
    if (known.length < 2) return undefined;
    const best = known.reduce((a, b) => (means.get(b)! < means.get(a)! ? b : a));
    const now = current === undefined ? Number.POSITIVE_INFINITY : (means.get(current) ?? Number.POSITIVE_INFINITY);
    if (best !== current && means.get(best)! > now * CLEARLY) return undefined;
    const because = `it reaches the server fastest, in ${Math.round(means.get(best)!)} ms`;
    return { place: best, reason: 'fastest', because };
  }

  #of(origin: string): Record {
    const known = this.#servers.get(origin);
    if (known) return known;
    if (this.#servers.size >= REMEMBERED) this.#servers.clear();
    const record: Record = { means: new Map(), errands: 0 };
    this.#servers.set(origin, record);
    return record;
  }
}
